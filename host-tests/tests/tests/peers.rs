//! Compares the f64 oracle with other packages: the values of `peers/peers.json`, made by
//! `peers/make.py` with scikit-learn (and in it libsvm and liblinear), scipy and hyppo.

use std::fs;
use std::path::Path;

use fastmmd_reference::generate::Generator;
use fastmmd_reference::hsic::{ExactPairs, Pairs};
use fastmmd_reference::kernel::{exponential, gaussian, laplacian, matern32, matern52};
use fastmmd_reference::matching::match_means;
use fastmmd_reference::null::{self, Estimate, Gram, Null, Pool as _};
use fastmmd_reference::nystrom::Nystrom;
use fastmmd_reference::population::Normal;
use fastmmd_reference::svm::{KernelMachine, LinearMachine};
use fastmmd_reference::{Points, Refused, exact, mixture, real, scores, selection, tolerance};
use nalgebra::DMatrix;
use serde_json::Value;

struct Peers {
    values: Value,
    sigma: f64,
    p: Vec<Vec<f64>>,
    q: Vec<Vec<f64>>,
}

fn numbers(value: &Value) -> Vec<f64> {
    let array = value.as_array().expect("an array");
    array.iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().expect("rows").iter().map(numbers).collect()
}

fn peers() -> Peers {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/peers.json");
    let text = fs::read_to_string(path).expect("peers.json");
    let values: Value = serde_json::from_str(&text).expect("JSON");
    Peers {
        sigma: values["sigma"].as_f64().expect("a number"),
        p: rows(&values["p"]),
        q: rows(&values["q"]),
        values,
    }
}

impl Peers {
    fn pool(&self) -> Vec<Vec<f64>> {
        self.p.iter().chain(&self.q).cloned().collect()
    }

    fn number(&self, name: &str) -> f64 {
        self.values[name].as_f64().expect("a number")
    }

    fn kernel(&self) -> impl Fn(&Vec<f64>, &Vec<f64>) -> f64 + Copy {
        let kernel = gaussian(self.sigma);
        move |x: &Vec<f64>, y: &Vec<f64>| kernel(x, y)
    }
}

#[test]
fn kernels_are_those_of_scikit_learn() {
    let peers = peers();
    let check = |name: &str, kernel: &dyn Fn(&[f64], &[f64]) -> f64| {
        let theirs = rows(&peers.values["kernels"][name]);
        for (x, row) in peers.p.iter().zip(&theirs) {
            for (y, value) in peers.q.iter().zip(row) {
                tolerance::PEER.hold(name, kernel(x, y), *value);
            }
        }
        assert_eq!(theirs.len(), peers.p.len());
    };
    check("gaussian", &gaussian(peers.sigma));
    check("laplacian", &laplacian(peers.sigma));
    check("exponential", &exponential(peers.sigma));
    check("matern32", &matern32(peers.sigma));
    check("matern52", &matern52(peers.sigma));
}

/// √(HSIC(x, y)/√(HSIC(x, x)·HSIC(y, y))).
fn normalised<X, Y>(
    x: &[X],
    y: &[Y],
    first: impl Fn(&X, &X) -> f64 + Copy,
    second: impl Fn(&Y, &Y) -> f64 + Copy,
) -> Result<f64, Refused> {
    let own = [
        ExactPairs::new(x, x, first, first)?.hsic()?,
        ExactPairs::new(y, y, second, second)?.hsic()?,
    ];
    Ok((ExactPairs::new(x, y, first, second)?.hsic()? / (own[0] * own[1]).sqrt()).sqrt())
}

#[test]
fn dependence_is_that_of_hyppo() -> Result<(), Refused> {
    let peers = peers();
    let pool = peers.pool();
    let channel = |c: usize| -> Vec<f64> { pool.iter().map(|row| row[c]).collect() };
    let kernel = gaussian(peers.sigma);
    let one = |x: &f64, y: &f64| kernel(&[*x], &[*y]);
    let value = normalised(&channel(0), &channel(1), one, one)?;
    tolerance::PEER.hold("HSIC", value, peers.number("hyppo_hsic"));
    // MMD there is HSIC between the pool and the labels 0 and 1, under the same kernel, times
    // 2m²n²/(m + n)⁴.
    let labels: Vec<f64> =
        (0..pool.len()).map(|i| f64::from(u8::from(i >= peers.p.len()))).collect();
    let [m, n] = [peers.p.len(), peers.q.len()].map(real);
    let factor = 2.0 * (m * n).powi(2) / (m + n).powi(4);
    let value = factor * normalised(&pool, &labels, peers.kernel(), one)?;
    tolerance::PEER.hold("MMD", value, peers.number("hyppo_mmd"));
    Ok(())
}

#[test]
fn nystrom_is_that_of_scikit_learn() -> Result<(), Refused> {
    let peers = peers();
    let pool = peers.pool();
    let theirs = &peers.values["nystroem"];
    let landmarks = theirs["landmarks"].as_array().expect("indices").iter().map(|index| {
        let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
        pool[index.expect("an index")].clone()
    });
    let map = Nystrom::new(landmarks.collect(), peers.kernel())?;
    let value = theirs["mmd2"].as_f64().expect("a number");
    tolerance::PEER.hold("MMD²", map.mmd2(&peers.p, &peers.q)?, value);
    for (x, theirs) in peers.q.iter().zip(rows(&theirs["features"])) {
        let own = map.feature_vector(x)?;
        assert_eq!(own.len(), theirs.len());
        for (feature, value) in own.iter().zip(theirs) {
            tolerance::PEER.hold("φ̂", *feature, value);
        }
    }
    Ok(())
}

#[test]
fn moments_are_those_of_scipy() -> Result<(), Refused> {
    let peers = peers();
    let own = Gram::new(&peers.p, &peers.q, peers.kernel())?.eigenvalues();
    let theirs = numbers(&peers.values["spectrum"]);
    // One is 0, and rounding may leave it out.
    assert!(own.len() + 1 >= theirs.len() && theirs.len() == peers.pool().len());
    for (index, value) in theirs.iter().enumerate() {
        tolerance::PEER.hold("λ", own.get(index).copied().unwrap_or(0.0), *value);
    }
    let few = &peers.p[..peers.q.len()];
    let variance = exact::u_variance(few, &peers.q, peers.kernel())?;
    tolerance::PEER.hold("σ_u²", variance, peers.number("u_variance"));
    Ok(())
}

#[test]
fn thresholds_are_those_of_scipy() -> Result<(), Refused> {
    let peers = peers();
    let gram = Gram::new(&peers.p, &peers.q, peers.kernel())?;
    let theirs = &peers.values["thresholds"];
    let pearson = null::pearson(&gram, Estimate::Biased)?;
    let gamma = null::gamma(&gram, Estimate::Biased)?;
    for (index, level) in numbers(&theirs["levels"]).into_iter().enumerate() {
        let value = |name: &str| numbers(&theirs[name])[index];
        tolerance::PEER.hold("Pearson", pearson.threshold(level)?, value("pearson"));
        tolerance::PEER.hold("Gamma", gamma.threshold(level)?, value("gamma"));
        tolerance::PEER.hold("p", pearson.p_value(value("pearson")), level);
    }
    Ok(())
}

#[test]
fn mean_matching_is_that_of_a_general_solver() -> Result<(), Refused> {
    let peers = peers();
    let theirs = &peers.values["mean_matching"];
    let ridge = theirs["ridge"].as_f64().expect("a number");
    let matched = match_means(&peers.p, &peers.q, peers.kernel(), ridge)?;
    for (weight, value) in matched.weights.iter().zip(numbers(&theirs["weights"])) {
        tolerance::PEER_PROGRAM.hold("weight", *weight, value);
    }
    Ok(())
}

#[test]
fn correlations_are_those_of_scipy() -> Result<(), Refused> {
    let peers = peers();
    let pool = peers.pool();
    let labels: Vec<f64> = pool.iter().map(|row| row.iter().map(|x| x * x).sum()).collect();
    let points = Points::new(2, pool.concat())?;
    let scores = selection::pearson(&points, &labels)?;
    for (score, value) in scores.iter().zip(numbers(&peers.values["pearsonr"])) {
        tolerance::PEER.hold("correlation", *score, value);
    }
    Ok(())
}

#[test]
fn curves_are_those_of_scipy() -> Result<(), Refused> {
    let peers = peers();
    let theirs = &peers.values["four_moments"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let (mean, variance) = (number(&theirs["mean"]), number(&theirs["variance"]));
    for kind in ["six", "four"] {
        let own = &theirs[kind];
        let curve = Null::curve(mean, variance, number(&own["skewness"]), number(&own["excess"]))?;
        let levels = numbers(&theirs["levels"]).into_iter().zip(numbers(&own["quantiles"]));
        for (level, quantile) in levels {
            tolerance::PEER_CURVE.hold(kind, curve.threshold(level)?, quantile);
            tolerance::PEER_CURVE.hold("p", curve.p_value(quantile), level);
        }
    }
    Ok(())
}

#[test]
fn machines_are_those_of_libsvm_and_liblinear() -> Result<(), Refused> {
    let peers = peers();
    let pool = peers.pool();
    let labels: Vec<bool> = (0..pool.len()).map(|i| i < peers.p.len()).collect();
    let theirs = &peers.values["machines"];
    let cost = |name: &str| theirs[name]["cost"].as_f64().expect("a number");
    let machine = KernelMachine::new(&pool, &labels, peers.kernel(), cost("kernel"))?;
    for (x, value) in pool.iter().zip(numbers(&theirs["kernel"]["decisions"])) {
        let decision = machine.decision(pool.iter().map(|z| peers.kernel()(z, x)))?;
        tolerance::PEER_MACHINE.hold("decision", decision, value);
    }
    let features = DMatrix::from_columns(
        &pool.iter().map(|row| nalgebra::DVector::from_column_slice(row)).collect::<Vec<_>>(),
    );
    let cost = cost("linear");
    let machine = LinearMachine::new(&features, &labels, cost, &mut Generator::new(1))?;
    let own = machine.weights.iter().copied().chain([machine.bias]);
    let bias = theirs["linear"]["bias"].as_f64().expect("a number");
    for (weight, value) in own.zip(numbers(&theirs["linear"]["weights"]).into_iter().chain([bias]))
    {
        tolerance::PEER_MACHINE.hold("weight", weight, value);
    }
    Ok(())
}

#[test]
fn scores_are_those_of_scipy() -> Result<(), Refused> {
    let peers = peers();
    let theirs = &peers.values["channel_scores"];
    let points = Points::new(6, rows(&theirs["channels"]).concat())?;
    let positive: Vec<bool> = (0..points.len()).map(|i| i < peers.p.len()).collect();
    let prior = scores::prior(&points, &positive)?;
    for (name, own) in [
        ("t", scores::t_statistic(&points, &positive)?),
        ("noise", scores::signal_to_noise(&points, &positive)?),
        ("prior", vec![prior.samples, prior.variance]),
        ("moderated", scores::moderated_t(&points, &positive)?),
    ] {
        let values = numbers(&theirs[name]);
        assert_eq!(own.len(), values.len());
        for (score, value) in own.iter().zip(values) {
            tolerance::PEER.hold(name, *score, value);
        }
    }
    Ok(())
}

#[test]
fn mixtures_are_those_of_a_general_solver() -> Result<(), Refused> {
    let peers = peers();
    let theirs = &peers.values["mixture_shares"];
    let (candidates, sample) = mixture_of(&peers, theirs)?;
    let number = |name: &str| theirs[name].as_f64().expect("a number");
    let own = mixture::shares(&sample, &candidates, peers.sigma, number("ridge"))?;
    for (share, value) in own.iter().zip(numbers(&theirs["shares"])) {
        tolerance::PEER_PROGRAM.hold("share", *share, value);
    }
    let distance = mixture::distance(&sample, &own, &candidates, peers.sigma)?;
    tolerance::PEER_PROGRAM.hold("distance", distance, number("distance"));
    Ok(())
}

/// Candidates with the centres and the deviation of a mixture, and the sample that they describe.
fn mixture_of(peers: &Peers, theirs: &Value) -> Result<(Vec<Normal>, Points), Refused> {
    let deviation = theirs["deviation"].as_f64().expect("a number");
    let candidate = |centre| Normal { mean: vec![centre], deviation: vec![deviation] };
    let sample = Points::new(1, peers.pool().iter().map(|row| row[0]).collect())?;
    Ok((numbers(&theirs["centres"]).into_iter().map(candidate).collect(), sample))
}

#[test]
fn even_mixtures_are_those_of_a_general_solver() -> Result<(), Refused> {
    let peers = peers();
    let theirs = &peers.values["entropy_mixture"];
    let number = |name: &str| theirs[name].as_f64().expect("a number");
    let (candidates, sample) = mixture_of(&peers, theirs)?;
    let own = mixture::maximum_entropy(&sample, &candidates, peers.sigma, number("radius"))?;
    for (share, value) in own.iter().zip(numbers(&theirs["shares"])) {
        tolerance::MAXIMUM_ENTROPY.hold("share", *share, value);
    }
    Ok(())
}
