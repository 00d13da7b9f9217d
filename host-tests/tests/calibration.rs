//! Calibrations.
use fastmmd_reference::reproduce::Effort;
use fastmmd_reference::reproduce::ensembles::{Change, Size, powers, size};

#[test]
#[ignore]
fn explore() {
    for (effort, trials) in [(Effort::Quick, 1000), (Effort::Full, 400)] {
        for change in [Change::Blobs, Change::Shape] {
            let size = Size { trials, ..size(effort) };
            println!("{size:?} {change:?} {:.3?}", powers(change, size, 7_100_000).unwrap());
        }
    }
}
