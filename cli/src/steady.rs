//! Whether the level or spread of a channel changed within some rows, in constant memory.
//!
//! The rows are cut into blocks of equal length. A channel changed if all blocks before some row
//! differ from all after it by more than they do among each other.

use fastmmd::Change;
use fastmmd_reference::real;

/// Largest number of blocks. When there are more, neighbours are joined.
const MOST: usize = 64;
/// Fewest blocks on each side of a change.
const LEAST: usize = 2;
/// Rows of the shortest block.
const SHORTEST: u64 = 16;
/// How much farther apart the two sides are than the blocks of either.
const FARTHER: f64 = 1.25;
/// The smallest difference of two sides beside the numbers themselves: less is rounding.
const ROUNDING: f64 = 1e-9;
/// The variance of a block that does not move, as a part of that of all rows.
const STILL: f64 = 1e-6;

/// Some rows of a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Block {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
}

impl Block {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let off = value - self.mean;
        self.mean += off / self.count;
        self.squares += off * (value - self.mean);
    }

    fn join(&mut self, other: &Self) {
        let count = self.count + other.count;
        if count > 0.0 {
            let off = other.mean - self.mean;
            self.squares += other.squares + off * off * self.count * other.count / count;
            self.mean += off * other.count / count;
            self.count = count;
        }
    }

    pub(crate) fn variance(&self) -> f64 {
        self.squares / self.count.max(1.0)
    }
}

/// The changes that blocks can tell, of those that the detector knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Level,
    Spread,
}

impl Kind {
    /// As the detector has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Level => Change::Level.name(),
            Self::Spread => Change::Spread.name(),
        }
    }
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Changed {
    pub(crate) channel: usize,
    /// About the first row that differs.
    pub(crate) row: u64,
    pub(crate) kind: Kind,
    /// By how many deviations of the rows before the level differs; by what factor the spread.
    pub(crate) size: f64,
}

/// The blocks of all channels.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    channels: usize,
    /// Rows of a block.
    length: u64,
    rows: u64,
    /// Block after block, channel after channel.
    blocks: Vec<Block>,
}

impl Blocks {
    pub(crate) fn new(channels: usize) -> Self {
        Self { channels, length: SHORTEST, rows: 0, blocks: Vec::new() }
    }

    pub(crate) fn add(&mut self, values: &[f32]) {
        if self.rows.is_multiple_of(self.length) {
            if self.blocks.len() == MOST * self.channels {
                self.halve();
            }
            // Halving may leave the last block half full.
            if self.rows.is_multiple_of(self.length) {
                self.blocks.resize(self.blocks.len() + self.channels, Block::default());
            }
        }
        self.rows += 1;
        let last = self.blocks.len() - self.channels;
        for (block, value) in self.blocks[last..].iter_mut().zip(values) {
            if value.is_finite() {
                block.add(f64::from(*value));
            }
        }
    }

    fn halve(&mut self) {
        let pairs = self.blocks.chunks(2 * self.channels).flat_map(|pair| {
            let (first, second) = pair.split_at(self.channels);
            let mut joined = first.to_vec();
            joined.iter_mut().zip(second).for_each(|(own, other)| own.join(other));
            joined
        });
        self.blocks = pairs.collect();
        self.length *= 2;
    }

    /// All rows of a channel.
    pub(crate) fn whole(&self, channel: usize) -> Block {
        let mut whole = Block::default();
        self.of(channel).for_each(|block| whole.join(block));
        whole
    }

    fn of(&self, channel: usize) -> impl Iterator<Item = &Block> {
        self.blocks.iter().skip(channel).step_by(self.channels.max(1))
    }

    /// The first change of each channel that has one, the earliest first.
    pub(crate) fn changes(&self) -> Vec<Changed> {
        let mut all: Vec<Changed> =
            (0..self.channels).filter_map(|channel| self.change(channel)).collect();
        all.sort_by_key(|change| change.row);
        all
    }

    fn change(&self, channel: usize) -> Option<Changed> {
        let still = STILL * self.whole(channel).variance();
        // The last block may be short, and says little.
        let full = usize::try_from(self.rows / self.length).unwrap_or(MOST);
        let numbered = self.of(channel).take(full).enumerate();
        let blocks: Vec<(usize, &Block)> =
            numbered.filter(|(_, block)| block.count >= 2.0).collect();
        let levels: Vec<f64> = blocks.iter().map(|(_, block)| block.mean).collect();
        let spreads: Vec<f64> =
            blocks.iter().map(|(_, block)| 0.5 * (block.variance() + still).ln()).collect();
        if still <= 0.0 {
            return None;
        }
        let row = |at: usize| self.length * u64::try_from(blocks[at].0).unwrap_or(u64::MAX);
        let jump = split(&levels);
        let level = jump.map(|(at, by)| {
            let mut before = Block::default();
            blocks[..at].iter().for_each(|(_, block)| before.join(block));
            let size = by / before.variance().max(still).sqrt();
            Changed { channel, row: row(at), kind: Kind::Level, size }
        });
        // A jump of the level widens the block that it is in: only what is before counts then.
        let upto = jump.map_or(spreads.len(), |(at, _)| at.saturating_sub(1));
        let spread = split(&spreads[..upto]).map(|(at, by)| Changed {
            channel,
            row: row(at),
            kind: Kind::Spread,
            size: by.exp(),
        });
        spread.or(level)
    }
}

/// Where numbers part into two groups that are farther from each other than the numbers of either,
/// and by how much.
fn split(numbers: &[f64]) -> Option<(usize, f64)> {
    let range = |part: &[f64]| {
        let most = part.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - part.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let mean = |part: &[f64]| part.iter().sum::<f64>() / real(part.len());
    let last = numbers.len().checked_sub(LEAST)?;
    let parts = (LEAST..=last).map(|at| {
        let (before, after) = numbers.split_at(at);
        let by = mean(after) - mean(before);
        (at, by, by.abs() - FARTHER * range(before).max(range(after)))
    });
    let best = parts.max_by(|a, b| a.2.total_cmp(&b.2))?;
    // Equal numbers have means that are not quite equal.
    let largest = numbers.iter().fold(0.0, |most, number| f64::max(most, number.abs()));
    let is_apart = best.2 > 0.0 && best.1.abs() > ROUNDING * largest;
    is_apart.then_some((best.0, best.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::generate::Generator;
    use fastmmd_reference::single;

    fn changes(rows: u32, mut signal: impl FnMut(u32, f64) -> f64) -> Vec<Changed> {
        let (mut random, mut blocks) = (Generator::new(5), Blocks::new(2));
        for row in 0..rows {
            let value = signal(row, random.normal());
            blocks.add(&[single(value), single(random.normal())]);
        }
        blocks.changes()
    }

    #[test]
    fn a_change_is_found_about_where_it_is() {
        for rows in [700, 5000, 100_000] {
            let from = rows * 3 / 5;
            let found = changes(rows, |row, noise| noise + if row >= from { 2.0 } else { 0.0 });
            let [one] = found.as_slice() else { panic!("{found:?}") };
            assert!((one.channel, one.kind) == (0, Kind::Level), "{one:?}");
            assert!(one.row.abs_diff(from.into()) <= u64::from(rows / 20), "{one:?}");
            assert!((1.5..2.5).contains(&one.size), "{one:?}");
            let found = changes(rows, |row, noise| noise * if row >= from { 4.0 } else { 1.0 });
            let [one] = found.as_slice() else { panic!("{found:?}") };
            assert!(one.kind == Kind::Spread && (3.0..5.0).contains(&one.size), "{one:?}");
        }
    }

    #[test]
    fn of_two_changes_the_first_is_found() {
        let found = changes(20_000, |row, noise| {
            let (spread, level) = (row >= 2500, row >= 16_000);
            noise * if spread { 4.0 } else { 1.0 } + if level { 60.0 } else { 0.0 }
        });
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert!(one.kind == Kind::Spread && one.row.abs_diff(2500) <= 1000, "{one:?}");
    }

    /// What stood still is equal but for rounding: no change before it moves.
    #[test]
    fn a_channel_that_begins_to_move_is_found_where_it_does() {
        for (rows, from) in [(1000, 401), (4000, 2000), (5000, 1300), (20_000, 9000)] {
            for level in [0.0, 0.1, 24.7, -3e-7, 1e6] {
                // Around its level, and away from it.
                for away in [0.0, 5.0] {
                    let size = 0.1 * if level == 0.0 { 1.0_f64 } else { level };
                    let found = changes(rows, |row, noise| match row < from {
                        true => level,
                        false => level + size * (noise + away),
                    });
                    let [one] = found.as_slice() else { panic!("{rows} {level} {away} {found:?}") };
                    let near = u64::from(rows / 32).max(SHORTEST);
                    assert!(one.row.abs_diff(from.into()) <= near, "{from} {level} {away} {one:?}");
                    assert!(one.kind == Kind::Level || one.size > 10.0, "{level} {away} {one:?}");
                }
            }
        }
    }

    /// The control: what only varies has not changed.
    #[test]
    fn noise_walks_and_cycles_are_no_change() {
        let mut found = 0;
        for seed in 0..20_u32 {
            let (mut walk, mut slow) = (0.0, 0.0);
            let rows = 2000 + 97 * seed;
            found += changes(rows, |_, noise| noise).len();
            found += changes(rows, |_, noise| {
                slow = 0.98 * slow + noise;
                slow
            })
            .len();
            found += changes(rows, |row, noise| (f64::from(row) / 60.0).sin() + 0.1 * noise).len();
            found += changes(rows, |_, noise| {
                walk += noise + f64::from(seed) * 1e-3;
                walk
            })
            .len();
        }
        assert!(found <= 2, "{found}");
        assert_eq!(changes(3000, |_, _| 7.5).len(), 0);
        assert_eq!(changes(20, |_, noise| noise).len(), 0);
    }

    #[test]
    fn blocks_hold_all_rows() {
        let mut blocks = Blocks::new(1);
        for row in 0..10_007_u16 {
            blocks.add(&[f32::from(row % 10)]);
        }
        let whole = blocks.whole(0);
        assert!((whole.count - 10_007.0).abs() < 0.5 && (whole.mean - 4.5).abs() < 0.01);
        assert!((whole.variance() - 8.25).abs() < 0.01, "{whole:?}");
        assert!(blocks.blocks.len() <= MOST && blocks.blocks.len() > MOST / 2);
    }
}
