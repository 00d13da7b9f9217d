//! Settings as Rust source.

use std::marker::PhantomData;

use fastmmd::FeatureMap;
use fastmmd::condition::ViewKind;
use fastmmd::dynamic::{Config, Detector};

use crate::report::list;

/// A map, settings and the type of a detector, to paste into firmware.
pub(crate) fn rust(detector: &Detector<'_>) -> String {
    let (shape, recipe) = (detector.shape(), detector.map().recipe());
    let (channels, inputs, frequencies) = (shape.channels, recipe.inputs, recipe.frequencies);
    // All settings, so that a new one does not compile until it is written here too.
    let Config {
        windows,
        mean_time_between_false_alarms,
        scaling_rows,
        learning_rows,
        bandwidth,
        reference,
        calibration,
        lone_outliers,
        policy,
        view: PhantomData,
    } = detector.config();
    let preset = Config::preset(shape.view, *mean_time_between_false_alarms);
    let (name, function) = match shape.view {
        ViewKind::Raw => ("Raw", "rows"),
        ViewKind::Innovation => ("Innovation", "innovation"),
    };
    let view = match detector.lags() {
        1 => format!("{name}<{channels}>"),
        _ => format!("{name}<{channels}, {inputs}>"),
    };
    let mut base = format!(
        "Config::<{name}<{channels}>, Windows<{}>>::{function}({mean_time_between_false_alarms:?})",
        preset.windows.len()
    );
    if *windows != preset.windows {
        base.push_str(&format!(".with_windows([{}])", list(windows, ", ")));
    }
    if detector.lags() > 1 {
        base.push_str(".with_view()");
    }
    let mut given = Given { fields: String::new(), types: Vec::new() };
    given.number("scaling_rows", *scaling_rows, preset.scaling_rows);
    given.number("learning_rows", *learning_rows, preset.learning_rows);
    given.choice("bandwidth", "Bandwidth", bandwidth, &preset.bandwidth);
    given.choice("reference", "Reference", reference, &preset.reference);
    given.choice("calibration", "Calibration", calibration, &preset.calibration);
    given.choice("lone_outliers", "LoneOutliers", lone_outliers, &preset.lone_outliers);
    given.choice("policy", "Policy", policy, &preset.policy);
    given.types.sort_unstable();
    let settings = match given.types.as_slice() {
        [] => String::new(),
        [one] => format!("use fastmmd::monitor::{one};\n"),
        more => format!("use fastmmd::monitor::{{{}}};\n", more.join(", ")),
    };
    let config = match given.fields.as_str() {
        "" => base,
        fields => format!("Config {{\n{fields}    ..{base}\n}}"),
    };
    let detector_type = format!("{view}, Windows<{}>", shape.windows);
    format!(
        "use fastmmd::condition::{name};\n{settings}use fastmmd::shape::Windows;\n\
         use fastmmd::{{Config, Detector, Fourier}};\n\n\
         static MAP: Fourier<{inputs}, {frequencies}> = Fourier::gaussian({seed});\n\n\
         const CONFIG: Config<{detector_type}> = {config};\n\n\
         type Drift = Detector<'static, Fourier<{inputs}, {frequencies}>, {detector_type}>;",
        seed = recipe.seed,
    )
}

/// The settings that are not those of the preset, and the types they need.
struct Given {
    fields: String,
    types: Vec<&'static str>,
}

impl Given {
    fn number(&mut self, field: &str, value: u32, preset: u32) {
        if value != preset {
            self.fields.push_str(&format!("    {field}: {value},\n"));
        }
    }

    /// A value whose `Debug` output is Rust, without the name of its type.
    fn choice<T: PartialEq + std::fmt::Debug>(
        &mut self,
        field: &str,
        name: &'static str,
        value: &T,
        preset: &T,
    ) {
        if value != preset {
            self.fields.push_str(&format!("    {field}: {name}::{value:?},\n"));
            self.types.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{Plan, map};
    use fastmmd::monitor::{Bandwidth, Calibration, LoneOutliers, Policy, Reference};

    /// What is written, compiled unchanged.
    mod every {
        include!("../tests/tuned/every.rs");

        pub(super) fn settings() -> fastmmd::dynamic::Config {
            let detector = Drift::new(&MAP, CONFIG).expect("valid settings");
            fastmmd::dynamic::Config::of(detector.config())
        }
    }

    fn written(view: ViewKind, lags: u32, config: Config) -> String {
        let map = map(2, lags, 16, 7).expect("a small map");
        let plan = Plan { map, channels: 2, view, config };
        rust(&plan.detector().expect("valid settings"))
    }

    #[test]
    fn every_setting_is_written_and_compiles() {
        // None of these is that of the preset.
        let config = Config {
            windows: Box::from([2, 8]),
            mean_time_between_false_alarms: 2500.5,
            scaling_rows: 64,
            learning_rows: 300,
            bandwidth: Bandwidth::MedianDistance(0.5),
            reference: Reference::Moving(500),
            calibration: Calibration::Adaptive(600),
            lone_outliers: LoneOutliers::Count,
            policy: Policy::Relearn { hold_off: 20, settle: 100 },
            view: PhantomData,
        };
        assert_eq!(every::settings(), config);
        let text = written(ViewKind::Raw, 3, config);
        assert_eq!(text.trim(), include_str!("../tests/tuned/every.rs").trim());
    }

    #[test]
    fn a_preset_is_written_as_such() {
        for view in ViewKind::ALL {
            let text = written(view, 1, Config::preset(view, 1e4));
            assert!(text.contains("(10000.0);\n"), "{text}");
        }
    }
}
