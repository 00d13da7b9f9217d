//! Choices and defaults of the core, as options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fastmmd::condition::ViewKind;
use fastmmd::dynamic::Config;
use fastmmd::features::sampling::QUASI_MAX_INPUTS;
use fastmmd::monitor::{Bandwidth, Calibration, LoneOutliers, MEAN_TIMES, Policy, Reference};
use fastmmd::{MapKind, Profile, Sampling};

/// An enum of the core whose variants have names.
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
    LoneOutliers: of_outliers,
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

fn of_outliers(choice: LoneOutliers) -> Option<String> {
    let about = match choice {
        LoneOutliers::Count => "It counts like any row",
        LoneOutliers::HoldBack => "It is ignored unless another follows soon",
    };
    Some(about.to_owned())
}

fn of_policy(policy: Policy) -> &'static str {
    match policy {
        Policy::OncePerChange(_) => "One alarm for each change",
        Policy::Latch => "No further alarm at all",
        Policy::HoldOff(_) => "Repeated alarms while the data differ",
        Policy::Relearn { .. } => "The new regime becomes the reference",
    }
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

/// Reads the name of a policy; its numbers are options of their own.
pub(crate) fn policies() -> PossibleValuesParser {
    PossibleValuesParser::new(Policy::NAMES.into_iter().map(|name| {
        let policy = Policy::from_name(name, [0; 2]);
        PossibleValue::new(name).help(policy.map_or("", of_policy))
    }))
}

/// A default that follows from the view: `256 for raw, 100 for innovation`.
pub(crate) fn by_view(of: impl Fn(ViewKind, &Config) -> String) -> String {
    let each = ViewKind::ALL.map(|view| {
        let value = of(view, &Config::preset(view, *MEAN_TIMES.start()));
        (value, view.name())
    });
    let first = &each[0].0;
    if each.iter().all(|(value, _)| value == first) {
        return first.clone();
    }
    each.map(|(value, view)| format!("{value} for {view}")).join(", ")
}

/// The rows of a policy without alarms after one, if it has such.
pub(crate) fn hold_off(policy: Policy) -> Option<u32> {
    match policy {
        Policy::OncePerChange(rows)
        | Policy::HoldOff(rows)
        | Policy::Relearn { hold_off: rows, .. } => Some(rows),
        Policy::Latch => None,
    }
}

/// The bandwidth as an option.
pub(crate) fn sigma(bandwidth: Bandwidth) -> String {
    match bandwidth {
        Bandwidth::Deviations(deviations) => deviations.to_string(),
        Bandwidth::MedianDistance(_) => "median".to_owned(),
        Bandwidth::Family => "family".to_owned(),
    }
}

/// The memory of a reference as an option: 0 for none.
pub(crate) fn reference_memory(reference: Reference) -> u32 {
    match reference {
        Reference::Learned => 0,
        Reference::Moving(rows) => rows,
    }
}

/// The memory of the thresholds as an option: 0 for none.
pub(crate) fn threshold_memory(calibration: Calibration) -> u32 {
    match calibration {
        Calibration::Learned => 0,
        Calibration::Adaptive(rows) => rows,
    }
}
