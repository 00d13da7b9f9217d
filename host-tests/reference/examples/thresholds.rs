//! Every kind of threshold for one change: exact and by random features, by resampling and by
//! theory, of other circular discrepancies, of MMD-linear and the B-test; and the number of
//! frequencies that theorems 3 and 4 require.

use fastmmd_reference::bounds::Region;
use fastmmd_reference::circular::{Distance, Ensemble, Norm};
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::kernel::gaussian;
use fastmmd_reference::null::{self, Estimate, Features, Gram, Null, Pool};
use fastmmd_reference::population::Normal;
use fastmmd_reference::{Points, Refused, b_test, data, linear};

const LEVEL: f64 = 0.05;
const SAMPLES: usize = 400;
const FREQUENCIES: usize = 128;

fn tell(name: &str, statistic: f64, null: &Null) -> Result<bool, Refused> {
    let (threshold, p) = (null.threshold(LEVEL)?, null.p_value(statistic));
    println!("  {name:18} {statistic:8.5}, threshold {threshold:8.5}, p = {p:.4}");
    Ok(statistic > threshold)
}

/// All methods over one pool: all must tell the sets apart.
fn all(pool: &impl Pool, generator: &mut Generator) -> Result<(), Refused> {
    let estimate = Estimate::Unbiased;
    let statistic = pool.mmd2(estimate)?;
    for (name, null) in [
        ("permutation", null::permutation(pool, estimate, 499, generator)?),
        ("bootstrap", null::bootstrap(pool, estimate, 499, generator)?),
        ("spectrum", null::spectrum(pool, estimate, 999, generator)?),
        ("Pearson curve", null::pearson(pool, estimate)?),
        ("Gamma", null::gamma(pool, estimate)?),
    ] {
        assert!(tell(name, statistic, &null)?, "{name}");
    }
    Ok(())
}

fn main() -> Result<(), Refused> {
    let generator = &mut Generator::new(3);
    let (p, q): (Points, Points) = (
        data::normal(generator, SAMPLES, &Normal::standard(2))?,
        data::normal(generator, SAMPLES, &Normal { mean: vec![0.0; 2], deviation: vec![1.5; 2] })?,
    );
    let kernel = gaussian(1.0);

    println!(
        "{SAMPLES} samples of N(0, 1) and of N(0, 1.5²), two channels; MMD_u² over all pairs:"
    );
    let pool = Gram::of_points(&p, &q, kernel)?;
    all(&pool, generator)?;
    // Valid for kernels from 0 to 1 and every distribution: too high to find this change.
    let free = null::distribution_free(SAMPLES)?;
    assert!(!tell("distribution-free", pool.mmd2(Estimate::Unbiased)?, &free)?);
    println!("by {FREQUENCIES} random frequencies:");
    let frequencies = Frequencies::gaussian(generator, FREQUENCIES, 2, 1.0)?;
    all(&Features::new(&frequencies, &p, &q)?, generator)?;

    println!("by other ensembles of circles than MMD's:");
    let ensemble = Ensemble::new(&frequencies, &p, &q)?;
    for (name, distance, norm) in [
        ("sine, L1", Distance::Sine, Norm::L1),
        ("sine, largest", Distance::Sine, Norm::Largest),
        ("Mallows, L1", Distance::Mallows, Norm::L1),
        ("Mallows, L2", Distance::Mallows, Norm::L2),
    ] {
        let null = ensemble.null(distance, norm, 199, generator)?;
        assert!(tell(name, ensemble.discrepancy(distance, norm), &null)?, "{name}");
    }

    println!("by few pairs, whose mean is normal:");
    let (mean, null) = null::mean_of_independent(&linear::terms(&p, &q, kernel)?)?;
    tell("MMD-linear", mean, &null)?;
    let blocks = b_test::blocks(&p, &q, b_test::usual_block(SAMPLES), kernel)?;
    let (mean, null) = null::mean_of_independent(&blocks)?;
    assert!(tell("B-test", mean, &null)?);

    // Conservative: for all sets in a region at once.
    let region = Region::new(2, 12.0, 1.0)?;
    println!("within a diameter of 12, with a probability of 95 %:");
    for error in [0.5, 0.1] {
        let needed = region.frequencies_needed(error, LEVEL)?;
        println!("  an error of {error} needs {needed:.0} frequencies by theorem 3");
    }
    let promised = region.guarantee(1 << 16, LEVEL)?;
    println!("  65536 frequencies promise an error below {promised:.3} by theorem 3");
    match region.fastfood_guarantee(1 << 16, LEVEL) {
        Ok(promised) => println!("  and a block of as many rows one below {promised:.3}"),
        Err(refused) => println!("  and theorem 4 says nothing of a block: {refused}"),
    }
    Ok(())
}
