//! Choices of the core and of its tests, as options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fastmmd::features::sampling::QUASI_MAX_INPUTS;
use fastmmd::{MapKind, Profile, Sampling};
use fastmmd_tune::null::Method;

/// An enum whose variants have names.
pub(crate) trait Choice: Copy + Send + Sync + 'static {
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    fn from_name(name: &str) -> Option<Self>;

    /// Its meaning; nothing for a variant that the tool does not offer.
    fn about(self) -> Option<String>;
}

macro_rules! choices {
    ($($name:ident: $about:ident),* $(,)?) => {$(
        impl Choice for $name {
            const ALL: &'static [Self] = &$name::ALL;

            fn name(self) -> &'static str {
                $name::name(self)
            }

            fn from_name(name: &str) -> Option<Self> {
                $name::from_name(name)
            }

            fn about(self) -> Option<String> {
                $about(self)
            }
        }
    )*};
}

choices! {
    Profile: of_profile,
    MapKind: of_map,
    Sampling: of_sampling,
    Method: of_method,
}

fn of_profile(profile: Profile) -> Option<String> {
    let about = match profile {
        Profile::Gaussian => "exp(−‖x‖²/2σ²)",
        Profile::Laplacian => "exp(−‖x‖₁/σ)",
        Profile::Exponential => "exp(−‖x‖/σ)",
        Profile::Matern32 => "Matérn 3/2",
        Profile::Matern52 => "Matérn 5/2",
    };
    Some(about.to_owned())
}

fn of_map(kind: MapKind) -> Option<String> {
    let about = match kind {
        MapKind::Fourier => "Dense: the most accurate",
        MapKind::Fastfood => "By Hadamard transforms: cheaper for many channels",
        MapKind::Given => "Given frequencies",
        MapKind::FixedFourier => "Dense, in integers",
        MapKind::FixedFastfood => "By Hadamard transforms, in integers",
        MapKind::Offset => "Cosines with random offsets",
    };
    kind.is_dynamic().then(|| about.to_owned())
}

fn of_sampling(sampling: Sampling) -> Option<String> {
    Some(match sampling {
        Sampling::Auto => "By kernel and channels".to_owned(),
        Sampling::Independent => "Independent draws".to_owned(),
        Sampling::Quasi => {
            format!("A low-discrepancy sequence: for up to {QUASI_MAX_INPUTS} channels")
        }
        Sampling::Orthogonal => "Perpendicular directions: for more channels".to_owned(),
        Sampling::Additive => "Single channels, pairs and all: for Gaussian kernels".to_owned(),
    })
}

fn of_method(method: Method) -> Option<String> {
    let about = match method {
        Method::Gamma => "A gamma distribution fitted to two moments: quick",
        Method::Permutation => "Random permutations of the rows of both files: the level is exact",
        Method::Bootstrap => "Rows drawn with replacement from both files",
        Method::Pearson => "A Pearson curve fitted to three moments",
        Method::Pearson4 => "A Pearson curve fitted to four moments",
        Method::Spectrum => {
            "A sum of chi-squared variables, weighted by the eigenvalues of the kernel"
        }
        Method::Blocks => {
            "Random permutations of blocks of rows: for rows that depend on earlier ones"
        }
    };
    Some(about.to_owned())
}

/// Reads a choice by its name.
pub(crate) fn parser<T: Choice>() -> impl TypedValueParser<Value = T> {
    let offered = T::ALL.iter().filter_map(|one| {
        let about = one.about()?;
        Some(PossibleValue::new(one.name()).help(about))
    });
    let found = |name: String| T::from_name(&name).ok_or("unknown");
    PossibleValuesParser::new(offered).try_map(found)
}
