//! Independent components: two sources, mixed by an unknown rotation, are found again as the rotation
//! whose outputs depend least on each other (HSIC by random features).

use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::hsic::{FeaturePairs, Pairs};
use fastmmd_reference::{Points, Refused};

fn turned(rows: &[[f64; 2]], angle: f64) -> Vec<[f64; 2]> {
    let (sin, cos) = angle.sin_cos();
    rows.iter().map(|[a, b]| [cos * a - sin * b, sin * a + cos * b]).collect()
}

fn main() -> Result<(), Refused> {
    let generator = &mut Generator::new(1);
    let frequencies = Frequencies::gaussian(&mut Generator::new(2), 24, 1, 1.0)?;
    // Uniform and Laplace, both of variance 1, and mixed by 0.5 radians.
    let mut source = || {
        let u = generator.uniform() - 0.5;
        let laplace = -u.signum() * (1.0 - 2.0 * u.abs()).ln() / 2_f64.sqrt();
        [12_f64.sqrt() * (generator.uniform() - 0.5), laplace]
    };
    let sources: Vec<[f64; 2]> = (0..2000).map(|_| source()).collect();
    let mixed = turned(&sources, 0.5);
    let dependence = |angle: f64| -> Result<f64, Refused> {
        let rows = turned(&mixed, -angle);
        let channel = |c: usize| Points::new(1, rows.iter().map(|row| row[c]).collect());
        FeaturePairs::new(&channel(0)?, &channel(1)?, &frequencies, &frequencies)?.hsic()
    };
    let mut best = (f64::INFINITY, 0.0);
    // Components have no order and no sign: a quarter turn is enough.
    for step in 0..60 {
        let angle = std::f64::consts::FRAC_PI_2 * f64::from(step) / 60.0;
        let value = dependence(angle)?;
        if value < best.0 {
            best = (value, angle);
        }
    }
    println!("mixed by 0.500 radians, found {:.3}", best.1);
    println!("dependence {:.5} mixed, {:.5} found", dependence(0.0)?, best.0);
    assert!((best.1 - 0.5).abs() < 0.08);
    Ok(())
}
