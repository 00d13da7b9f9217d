//! Settings as Rust source.

use fastmmd::FeatureMap;
use fastmmd::condition::ViewKind;
use fastmmd::dynamic::{Config, Detector};

use crate::report::list;

/// A map, settings and the type of a detector, to paste into firmware.
pub(crate) fn rust(detector: &Detector<'_>) -> String {
    let (config, shape, recipe) = (detector.config(), detector.shape(), detector.map().recipe());
    let (channels, inputs, frequencies) = (shape.channels, recipe.inputs, recipe.frequencies);
    let promise = config.mean_time_between_false_alarms;
    let preset = Config::preset(shape.view, promise);
    let (name, function) = match shape.view {
        ViewKind::Raw => ("Raw", "rows"),
        ViewKind::Innovation => ("Innovation", "innovation"),
    };
    let view = match detector.lags() {
        1 => format!("{name}<{channels}>"),
        _ => format!("{name}<{channels}, {inputs}>"),
    };
    let windows = match shape.view {
        ViewKind::Raw => String::new(),
        ViewKind::Innovation => ", Windows<3>".to_owned(),
    };
    let mut written = format!("Config::<{name}<{channels}>{windows}>::{function}({promise:?})");
    if config.windows != preset.windows {
        written.push_str(&format!(".with_windows([{}])", list(&config.windows, ", ")));
    }
    if detector.lags() > 1 {
        written.push_str(".with_view()");
    }
    let mut fields = format!(
        "    scaling_rows: {},\n    learning_rows: {},\n",
        config.scaling_rows, config.learning_rows
    );
    let mut names = Vec::new();
    if config.bandwidth != preset.bandwidth {
        // As the `Debug` output of the core's types.
        fields.push_str(&format!("    bandwidth: Bandwidth::{:?},\n", config.bandwidth));
        names.push("Bandwidth");
    }
    if config.calibration != preset.calibration {
        fields.push_str(&format!("    calibration: Calibration::{:?},\n", config.calibration));
        names.push("Calibration");
    }
    let settings = match names.as_slice() {
        [] => String::new(),
        [one] => format!("use fastmmd::monitor::{one};\n"),
        more => format!("use fastmmd::monitor::{{{}}};\n", more.join(", ")),
    };
    let detector_type = format!("{view}, Windows<{}>", shape.windows);
    format!(
        "use fastmmd::condition::{name};\n{settings}use fastmmd::shape::Windows;\n\
         use fastmmd::{{Config, Detector, Fourier}};\n\n\
         static MAP: Fourier<{inputs}, {frequencies}> = Fourier::gaussian({seed});\n\n\
         const CONFIG: Config<{detector_type}> = Config {{\n{fields}    ..{written}\n}};\n\n\
         type Drift = Detector<'static, Fourier<{inputs}, {frequencies}>, {detector_type}>;",
        seed = recipe.seed,
    )
}
