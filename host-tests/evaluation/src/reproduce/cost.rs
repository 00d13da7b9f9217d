//! The cost of Nyström MMD: Θ(nsd), counted and timed.

use std::cell::Cell;

use super::{Failed, Figure, seconds, short};
use crate::evaluate::table::Table;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::nystrom::Nystrom;
use fastmmd_reference::{Points, real, tolerance};

/// Samples in each set, landmarks and channels: all eight corners of a box are measured.
const BOX: [[usize; 2]; 3] = [[1000, 8000], [4, 32], [64, 512]];

/// Number of runs for each time.
const TIMES: usize = 3;

/// The cost of MMD² of two sets.
struct Cost {
    at: [usize; 3],
    /// Coordinates that the kernel read of both its arguments, over two.
    coordinates: usize,
    seconds: f64,
}

/// Two sets of n samples of d channels, s of the first as landmarks.
fn cost([n, s, d]: [usize; 3]) -> Result<Cost, Failed> {
    let mut generator = Generator::new(6);
    let mut set = || Points::new(d, (0..n * d).map(|_| generator.normal()).collect());
    let (p, q) = (set()?, set()?);
    let (p, q): (Vec<&[f64]>, Vec<&[f64]>) = (p.rows().collect(), q.rows().collect());
    let read = Cell::new(0);
    let kernel = gaussian(real(d).sqrt());
    let counted = |x: &&[f64], y: &&[f64]| {
        read.set(read.get() + x.len().min(y.len()));
        kernel(x, y)
    };
    Nystrom::new(p[..s].to_vec(), counted)?.mmd2(&p, &q)?;
    let plain = |x: &&[f64], y: &&[f64]| kernel(x, y);
    let seconds = seconds(TIMES, || Ok(Nystrom::new(p[..s].to_vec(), plain)?.mmd2(&p, &q)?))?;
    Ok(Cost { at: [n, s, d], coordinates: read.get(), seconds })
}

/// The powers of n, s and d with which a size grows, by least squares over the corners of the box.
fn powers(costs: &[Cost], size: impl Fn(&Cost) -> f64) -> [f64; 3] {
    std::array::from_fn(|axis| {
        let [low, high] = BOX[axis];
        let side = |cost: &Cost| if cost.at[axis] == high { 1.0 } else { -1.0 };
        let rise: f64 = costs.iter().map(|cost| side(cost) * size(cost).ln()).sum();
        2.0 * rise / real(costs.len()) / (real(high) / real(low)).ln()
    })
}

fn corners() -> Result<Vec<Cost>, Failed> {
    let corner =
        |index: usize| cost([BOX[0][index >> 2 & 1], BOX[1][index >> 1 & 1], BOX[2][index & 1]]);
    (0..8).map(corner).collect()
}

/// Adds the measurement to a figure.
pub(super) fn show(figure: &mut Figure) -> Result<(), Failed> {
    let costs = corners()?;
    let least = costs.iter().map(|cost| cost.seconds).fold(f64::INFINITY, f64::min);
    figure.say(
        "Cost of Nyström MMD of two sets of n samples of d channels with s landmarks: Θ(nsd). \
         Coordinates are those that the kernel reads of each argument; times are over the least.",
    );
    let mut table = Table::new(["n", "s", "d", "coordinates", "over 2nsd", "time"]);
    let share = |cost: &Cost| {
        real(cost.coordinates) / (2.0 * cost.at.iter().map(|&side| real(side)).product::<f64>())
    };
    for cost in &costs {
        let [n, s, d] = cost.at.map(|side| side.to_string());
        let over = format!("{:.4}", share(cost));
        table.line([n, s, d, cost.coordinates.to_string(), over, short(cost.seconds / least)]);
    }
    figure.table(&table);
    for cost in &costs {
        let [n, s, d] = cost.at;
        let case = format!("n = {n}, s = {s}, d = {d}");
        figure.hold_below(tolerance::NYSTROM_COST, &case, (share(cost) - 1.0).abs());
    }
    for (name, power) in ["n", "s", "d"].iter().zip(powers(&costs, |cost| cost.seconds)) {
        let case = format!("{name}: {power:.2}");
        figure.hold_below(tolerance::NYSTROM_TIME, &case, (power - 1.0).abs());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::Refused;

    /// The control: the fit finds other powers, so that another cost is noticed.
    #[test]
    fn other_powers_are_found() -> Result<(), Refused> {
        let corner = |index: usize| Cost {
            at: [BOX[0][index >> 2 & 1], BOX[1][index >> 1 & 1], BOX[2][index & 1]],
            coordinates: 0,
            seconds: 0.0,
        };
        let costs: Vec<Cost> = (0..8).map(corner).collect();
        let law = |cost: &Cost| {
            let [n, s, d] = cost.at.map(real);
            n * n * s.sqrt() * d
        };
        for (power, truth) in powers(&costs, law).into_iter().zip([2.0, 0.5, 1.0]) {
            tolerance::REFERENCE_IDENTITY.hold("power", power, truth);
        }
        let quadratic = powers(&costs, law)[0];
        assert!((quadratic - 1.0).abs() > tolerance::NYSTROM_TIME.limit);
        Ok(())
    }
}
