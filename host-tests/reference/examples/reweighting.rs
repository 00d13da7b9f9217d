//! Weights by matched embeddings: covariate shift, and a density as a mixture.

use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::matching::match_means;
use fastmmd_reference::mixture;
use fastmmd_reference::population::Normal;
use fastmmd_reference::{Points, Refused};

fn main() -> Result<(), Refused> {
    let generator = &mut Generator::new(3);
    let mut normals = |count: usize, mean: f64, deviation: f64| -> Vec<f64> {
        (0..count).map(|_| mean + deviation * generator.normal()).collect()
    };

    // Calibrated in the laboratory at 0 ± 1, used in the field at 0.8 ± 0.6.
    let (laboratory, field) = (normals(300, 0.0, 1.0), normals(300, 0.8, 0.6));
    let kernel = |x: &f64, y: &f64| gaussian(0.7)(&[*x], &[*y]);
    let matched = match_means(&laboratory, &field, kernel, 1e-3)?;
    let error = |x: &f64| x * x; // the error of a sensor grows with the distance from 0
    let plain = laboratory.iter().map(error).sum::<f64>() / 300.0;
    let weighted = matched.mean(laboratory.iter().map(error));
    let truth = field.iter().map(error).sum::<f64>() / 300.0;
    println!(
        "error in the laboratory {plain:.3}, reweighted {weighted:.3}, in the field {truth:.3}"
    );
    println!("effective number of the 300 samples: {:.0}", matched.effective_samples());
    assert!((weighted - truth).abs() < (plain - truth).abs());

    // Which of nine operating points is the machine at, and how often?
    let mut readings = normals(500, -1.0, 0.4);
    readings.extend(normals(1500, 1.5, 0.4));
    let candidates: Vec<Normal> =
        (-4..=4).map(|i| Normal { mean: vec![0.5 * f64::from(i)], deviation: vec![0.4] }).collect();
    let sample = Points::new(1, readings)?;
    let shares = mixture::shares(&sample, &candidates, 0.4, 1e-6)?;
    for (share, candidate) in shares.iter().zip(&candidates) {
        println!("{:5.1}: {share:.3}", candidate.mean[0]);
    }
    let at = mixture::density(&shares, &candidates, &[1.5])?;
    println!(
        "density at 1.5: {at:.3}, and truly {:.3}",
        0.75 / (0.4 * std::f64::consts::TAU.sqrt())
    );
    Ok(())
}
