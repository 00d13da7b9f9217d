//! The five kernels as closures of two samples, K(0) = 1.
//!
//! `bandwidth` is σ, in units of the input. The closures expect samples of equal length; of
//! unequal ones the shorter length counts. O(d) each.

fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// exp(−‖x−y‖₂²/2σ²).
pub fn gaussian(bandwidth: f64) -> impl Fn(&[f64], &[f64]) -> f64 + Copy {
    let factor = -0.5 / (bandwidth * bandwidth);
    move |x, y| (factor * squared_distance(x, y)).exp()
}

/// exp(−‖x−y‖₁/σ).
pub fn laplacian(bandwidth: f64) -> impl Fn(&[f64], &[f64]) -> f64 + Copy {
    move |x, y| {
        let distance: f64 = x.iter().zip(y).map(|(a, b)| (a - b).abs()).sum();
        (-distance / bandwidth).exp()
    }
}

/// exp(−‖x−y‖₂/σ).
pub fn exponential(bandwidth: f64) -> impl Fn(&[f64], &[f64]) -> f64 + Copy {
    move |x, y| (-squared_distance(x, y).sqrt() / bandwidth).exp()
}

/// Matérn 3/2: (1 + r)·exp(−r) with r = √3·‖x−y‖₂/σ.
pub fn matern32(bandwidth: f64) -> impl Fn(&[f64], &[f64]) -> f64 + Copy {
    move |x, y| {
        let r = (3.0 * squared_distance(x, y)).sqrt() / bandwidth;
        (1.0 + r) * (-r).exp()
    }
}

/// Matérn 5/2: (1 + r + r²/3)·exp(−r) with r = √5·‖x−y‖₂/σ.
pub fn matern52(bandwidth: f64) -> impl Fn(&[f64], &[f64]) -> f64 + Copy {
    move |x, y| {
        let r = (5.0 * squared_distance(x, y)).sqrt() / bandwidth;
        (1.0 + r + r * r / 3.0) * (-r).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance;

    #[test]
    fn values_are_those_of_the_formulae() {
        let (x, y) = ([1.0, 2.0], [4.0, -2.0]); // ‖x−y‖₂ = 5, ‖x−y‖₁ = 7
        let r3 = 3.0_f64.sqrt() * 2.5;
        let r5 = 5.0_f64.sqrt() * 2.5;
        for (value, expected) in [
            (gaussian(2.0)(&x, &y), (-25.0_f64 / 8.0).exp()),
            (laplacian(2.0)(&x, &y), (-3.5_f64).exp()),
            (exponential(2.0)(&x, &y), (-2.5_f64).exp()),
            (matern32(2.0)(&x, &y), (1.0 + r3) * (-r3).exp()),
            (matern52(2.0)(&x, &y), (1.0 + r5 + r5 * r5 / 3.0) * (-r5).exp()),
            (matern52(2.0)(&x, &x), 1.0),
        ] {
            tolerance::REFERENCE_IDENTITY.hold("kernel", value, expected);
        }
    }
}
