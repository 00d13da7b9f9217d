//! Stored frequencies in the order in which several phases are computed at once.
//!
//! L vectors of D coordinates are stored in groups of frequencies: in each group the coordinates
//! along the first input, then those along the next, and so on. The last group is shorter if L is no
//! multiple. So a value of the sample is loaded once for a group, coordinates follow each other in
//! memory, and a vector unit adds up several phases at once, whatever the caller is inlined into.
//! Each phase is the sum of its own products in order of the inputs: the same bits for groups of any
//! length, one sample or several.
//!
//! Which vector instructions are used is decided when it is compiled: for x86-64 SSE2, unless
//! `-Ctarget-cpu` says more. Deciding at run time means to call a function that is compiled for more than
//! its caller is, which is unsafe, and this crate forbids that.

/// Frequencies in a group on a host, and those whose phases are passed on at once where several
/// samples are.
pub(crate) const LANES: usize = 16;

/// Frequencies in a group on a microcontroller: their sums stay in registers.
const FEW: usize = 4;

/// Inputs up to which a microcontroller has the whole sample in registers: then there is nothing to
/// gain by groups.
const IN_REGISTERS: usize = 16;

/// Samples whose phases are passed on at once.
pub(crate) const TILE: usize = 8;

/// Samples that share a load of the coordinates.
const ABREAST: usize = 4;

/// Frequencies of a group whose sums, for so many samples, fit into the vector registers: 16 of four
/// numbers each, unless the target has longer ones or more of them.
const WIDTH: usize =
    if cfg!(all(target_arch = "x86_64", not(target_feature = "avx"))) { LANES / 2 } else { LANES };

/// Frequencies in a group of a map, by its number of inputs.
pub(crate) const fn at_once(inputs: usize) -> usize {
    if cfg!(not(any(target_arch = "arm", target_arch = "riscv32"))) {
        LANES
    } else if inputs <= IN_REGISTERS {
        1
    } else {
        FEW
    }
}

/// Where a coordinate is, of vectors in groups of `at_once`.
pub(crate) const fn place(
    row: usize,
    channel: usize,
    inputs: usize,
    count: usize,
    at_once: usize,
) -> usize {
    // In this form no division can fail.
    let Some(within) = row.checked_rem(at_once) else { return 0 };
    let first = row - within;
    let width = if count - first < at_once { count - first } else { at_once };
    first * inputs + channel * width + within
}

/// Calls `visit` for each item with its phase. The coordinates are in groups of [`at_once`].
#[inline(always)]
pub(crate) fn project<T>(
    coordinates: &[f32],
    sample: &(impl AsRef<[f32]> + ?Sized),
    items: &mut [T],
    visit: &mut impl FnMut(&mut T, f32),
) {
    let values = sample.as_ref();
    match at_once(values.len()) {
        1 => {
            // By reference: two iterators of known lengths divide to find the shorter, which could
            // fail for all that a small build knows.
            let mut vectors = coordinates.chunks_exact(values.len().max(1));
            for (item, vector) in items.iter_mut().zip(&mut vectors) {
                visit(item, dot(vector, values));
            }
        }
        FEW => by_groups::<FEW, T>(coordinates, sample, items, visit),
        _ => by_groups::<LANES, T>(coordinates, sample, items, visit),
    }
}

#[inline(always)]
fn by_groups<const N: usize, T>(
    coordinates: &[f32],
    sample: &(impl AsRef<[f32]> + ?Sized),
    items: &mut [T],
    visit: &mut impl FnMut(&mut T, f32),
) {
    let values = sample.as_ref();
    let (whole, last) = items.as_chunks_mut::<N>();
    let mut groups = coordinates.chunks_exact((N * values.len()).max(1));
    for (items, group) in whole.iter_mut().zip(&mut groups) {
        let phases = phases::<N, _>(group.as_chunks().0, sample);
        for (item, phase) in items.iter_mut().zip(phases) {
            visit(item, phase);
        }
    }
    let width = last.len();
    for (index, item) in last.iter_mut().enumerate() {
        let own = groups.remainder().iter().skip(index).step_by(width);
        visit(item, own.zip(values).map(|(w, x)| w * x).sum());
    }
}

/// The sum of the products, in their order. In steps of four by hand, because the compiler does not
/// unroll a loop at opt-level "s".
#[inline(always)]
fn dot(vector: &[f32], sample: &[f32]) -> f32 {
    let (fours, rest) = vector.as_chunks();
    let (values, rest_values) = sample.as_chunks();
    // `Iterator::sum` starts at −0, and so does this sum: it adds nothing.
    let mut sum = -0.0;
    for ([a, b, c, d], [x, y, z, u]) in fours.iter().zip(values) {
        sum = sum + a * x + b * y + c * z + d * u;
    }
    match (rest, rest_values) {
        ([a], [x]) => sum + a * x,
        ([a, b], [x, y]) => sum + a * x + b * y,
        ([a, b, c], [x, y, z]) => sum + a * x + b * y + c * z,
        _ => sum,
    }
}

/// The phases of one group. Not inlined: the sums need the registers in which the caller keeps the
/// values of its closure, and a vector unit is then used or not whoever calls.
///
/// It is generic over arrays and slices so that the length of an array is a constant here.
#[inline(never)]
fn phases<const N: usize, S: AsRef<[f32]> + ?Sized>(columns: &[[f32; N]], sample: &S) -> [f32; N] {
    let sample = sample.as_ref();
    // There is a column for each value. Said so, that number is a constant, too.
    let columns = columns.get(..sample.len()).unwrap_or(&[]);
    let mut phases = [-0.0; N];
    for (column, x) in columns.iter().zip(sample) {
        let fours = phases.as_chunks_mut().0.iter_mut().zip(column.as_chunks().0);
        for ([a, b, c, d], [p, q, r, s]) in fours {
            (*a, *b, *c, *d) = (*a + p * x, *b + q * x, *c + r * x, *d + s * x);
        }
    }
    phases
}

/// Calls `visit` for groups of items, with their phases for some of the samples at a time. Phases
/// beyond the last item mean nothing. Every sample has the same length. Returns `false`, and has done
/// nothing, where groups are shorter.
#[inline(always)]
pub(crate) fn project_many<T, S: AsRef<[f32]> + ?Sized>(
    coordinates: &[f32],
    samples: &[&S],
    items: &mut [T],
    visit: &mut impl FnMut(&mut [T], &[[f32; LANES]]),
) -> bool {
    let inputs = samples.first().map_or(0, |sample| sample.as_ref().len());
    if at_once(inputs) != LANES {
        return false;
    }
    let group = (LANES * inputs).max(1);
    let mut groups = coordinates.chunks(group);
    for items in items.chunks_mut(LANES) {
        let Some(coordinates) = groups.next() else { break };
        for samples in samples.chunks(TILE) {
            let mut tile = [[0.0; LANES]; TILE];
            if items.len() == LANES {
                abreast(coordinates.as_chunks().0, samples, &mut tile);
            } else {
                for (phases, sample) in tile.iter_mut().zip(samples) {
                    let mut columns = coordinates.chunks_exact(items.len().max(1));
                    phases.fill(-0.0);
                    for (x, column) in sample.as_ref().iter().zip(&mut columns) {
                        for (phase, w) in phases.iter_mut().zip(column) {
                            *phase += w * x;
                        }
                    }
                }
            }
            visit(items, tile.get(..samples.len()).unwrap_or(&tile));
        }
    }
    true
}

/// The phases of a whole group for several samples. Not inlined: the sums need all registers.
#[inline(never)]
fn abreast<S: AsRef<[f32]> + ?Sized>(
    columns: &[[f32; LANES]],
    samples: &[&S],
    tile: &mut [[f32; LANES]; TILE],
) {
    let (tiles, last_tile) = tile.as_chunks_mut::<ABREAST>();
    let (fours, last) = samples.as_chunks::<ABREAST>();
    for (tile, four) in tiles.iter_mut().zip(fours) {
        let [a, b, c, d] = four.map(AsRef::as_ref);
        for part in 0..LANES / WIDTH {
            let mut sums = [[-0.0_f32; WIDTH]; ABREAST];
            let values = a.iter().zip(b).zip(c).zip(d);
            for (column, (((a, b), c), d)) in columns.iter().zip(values) {
                let Some(column) = column.as_chunks::<WIDTH>().0.get(part) else { continue };
                for (sums, x) in sums.iter_mut().zip([a, b, c, d]) {
                    for (sum, w) in sums.iter_mut().zip(column) {
                        *sum += w * x;
                    }
                }
            }
            for (phases, sums) in tile.iter_mut().zip(sums) {
                let phases = phases.as_chunks_mut::<WIDTH>().0.get_mut(part);
                phases.into_iter().for_each(|phases| *phases = sums);
            }
        }
    }
    let rest = tiles.iter_mut().flatten().skip(samples.len() - last.len()).chain(last_tile);
    for (place, sample) in rest.zip(last) {
        place.iter_mut().zip(phases(columns, *sample)).for_each(|(phase, sum)| *phase = sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// The phases by the definition, from vectors that are stored one after the other.
    fn naive(vectors: &[f32], sample: &[f32]) -> Vec<u32> {
        let phase = |vector: &[f32]| -> f32 { vector.iter().zip(sample).map(|(w, x)| w * x).sum() };
        vectors.chunks_exact(sample.len()).map(|vector| phase(vector).to_bits()).collect()
    }

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919 + seed * 31) % 1009) as f32 / 97.0 - 5.0).collect()
    }

    fn grouped(vectors: &[f32], inputs: usize, count: usize, at_once: usize) -> Vec<f32> {
        let mut grouped = std::vec![f32::NAN; vectors.len()];
        for row in 0..count {
            for channel in 0..inputs {
                let place = place(row, channel, inputs, count, at_once);
                assert!(grouped[place].is_nan(), "two coordinates in one place");
                grouped[place] = vectors[row * inputs + channel];
            }
        }
        grouped
    }

    /// Groups of the lengths of all targets, whole or not, one sample or several, or a product of
    /// two vectors: the same bits.
    #[test]
    fn every_order_gives_the_same_bits() {
        for inputs in [1, 2, 3, 4, 5, 8, 17] {
            for count in [1, 3, 4, 15, 16, 17, 40] {
                let vectors = numbers(inputs * count, inputs);
                let samples: Vec<Vec<f32>> = (0..19).map(|i| numbers(inputs, i + 7)).collect();
                let expected: Vec<_> = samples.iter().map(|x| naive(&vectors, x)).collect();
                for (sample, expected) in samples.iter().zip(&expected) {
                    let mut found = std::vec![0; count];
                    let mut visit = |place: &mut u32, phase: f32| *place = phase.to_bits();
                    let few = grouped(&vectors, inputs, count, FEW);
                    by_groups::<FEW, _>(&few, sample, &mut found, &mut visit);
                    assert_eq!(&found, expected);
                    let many = grouped(&vectors, inputs, count, LANES);
                    by_groups::<LANES, _>(&many, sample, &mut found, &mut visit);
                    assert_eq!(&found, expected);
                    project(&many, sample, &mut found, &mut visit);
                    assert_eq!(&found, expected);
                    let single = vectors.chunks_exact(inputs).map(|v| dot(v, sample).to_bits());
                    assert_eq!(&single.collect::<Vec<_>>(), expected);
                }
                let many = grouped(&vectors, inputs, count, LANES);
                let mut found = std::vec![Vec::new(); count];
                let samples: Vec<&[f32]> = samples.iter().map(Vec::as_slice).collect();
                let done = project_many(&many, &samples, &mut found, &mut |items, tile| {
                    for phases in tile {
                        let each = items.iter_mut().zip(phases);
                        each.for_each(|(item, phase)| item.push(phase.to_bits()));
                    }
                });
                assert!(done);
                for (row, found) in found.iter().enumerate() {
                    let expected: Vec<u32> = expected.iter().map(|phases| phases[row]).collect();
                    assert_eq!(found, &expected, "{inputs} {count} {row}");
                }
            }
        }
    }
}
