//! Tests whether two sensors depend on each other (HSIC), and which channels predict a label
//! (BAHSIC).

use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::hsic::{ExactPairs, FeaturePairs, Pairs};
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::selection::{backward_elimination, centroid_kernel, centroids, pearson};
use fastmmd_reference::{Points, Refused};

fn main() -> Result<(), Refused> {
    let generator = &mut Generator::new(7);

    // Points on a circle: the coordinates are uncorrelated but dependent.
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        let (sin, cos) = (std::f64::consts::TAU * generator.uniform()).sin_cos();
        x.push(cos + 0.2 * generator.normal());
        y.push(sin + 0.2 * generator.normal());
    }
    let kernel = |a: &f64, b: &f64| gaussian(0.5)(&[*a], &[*b]);
    let exact = ExactPairs::new(&x, &y, kernel, kernel)?;
    let p = exact.null(499, generator)?.p_value(exact.hsic()?);
    println!("HSIC {:.5}, p = {p:.3}", exact.hsic()?);
    assert!(p < 0.01);
    let (first, second) = (
        Frequencies::gaussian(generator, 64, 1, 0.5)?,
        Frequencies::gaussian(generator, 64, 1, 0.5)?,
    );
    let (x, y) = (Points::new(1, x)?, Points::new(1, y)?);
    let features = FeaturePairs::new(&x, &y, &first, &second)?;
    let p = features.null(199, generator)?.p_value(features.hsic()?);
    println!("by 64 + 64 random features {:.5}, p = {p:.3}", features.hsic()?);

    // Eight channels of a machine. When it is worn, channel 5 has more spread and the same mean.
    let worn: Vec<bool> = (0..120).map(|_| generator.below(2) == 1).collect();
    let mut values = Vec::new();
    for &worn in &worn {
        for channel in 0..8 {
            let spread = if worn && channel == 5 { 3.0 } else { 1.0 };
            values.push(spread * generator.normal());
        }
    }
    let points = Points::new(8, values)?;
    let labels = centroid_kernel(&worn)?;
    let order = backward_elimination(&points, &labels, gaussian(2.0))?;
    println!("channels by relevance, least first: {order:?}");
    let means: Vec<String> =
        centroids(&points, &worn)?.iter().map(|difference| format!("{difference:.2}")).collect();
    println!("differences of means, which are noise in all of them: {}", means.join(" "));
    let labels: Vec<f64> = worn.iter().map(|&worn| if worn { 1.0 } else { -1.0 }).collect();
    let correlations: Vec<String> =
        pearson(&points, &labels)?.iter().map(|r| format!("{r:.2}")).collect();
    println!("correlations, which are noise too: {}", correlations.join(" "));
    assert_eq!(order.last(), Some(&5));
    Ok(())
}
