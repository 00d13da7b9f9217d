//! Calibrations.
use fastmmd_reference::reproduce::Effort;
use fastmmd_reference::reproduce::{ensembles, figure8, embedding};

#[test]
#[ignore]
fn a_skew() {
    for i in 0..40 {
        println!("skew {:.3?}", embedding::changed_skewness(1000, 500_000_000 + 10_000 * i).unwrap());
    }
}

#[test]
#[ignore]
fn b_explore8() {
    use figure8::*;
    for (samples, n) in [(200, 200), (300, 100)] {
        for ratio in [2.0, 3.0] {
            let size = Size { samples, shuffles: 199 };
            println!("{size:?} {ratio:?} {:.3?}", shares(50_000..50_000+n, ratio, size).unwrap());
        }
    }
    for samples in [200, 300, 500] {
        for bases in [2, 32, 256, 512] {
            let size = Size { samples, shuffles: 199 };
            println!("{size:?} {bases:?} {:.3?}", missed(50_000..50_100, bases, size).unwrap());
        }
    }
}

#[test]
#[ignore]
fn c_ensembles() {
    use ensembles::*;
    for (effort, trials) in [(Effort::Quick, 1000), (Effort::Full, 400)] {
        for change in [Change::Blobs, Change::Shape] {
            let size = Size { trials, ..size(effort) };
            println!("{size:?} {change:?} {:.3?}", powers(change, size, 7_100_000).unwrap());
        }
    }
}
