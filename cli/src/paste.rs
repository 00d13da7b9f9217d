//! Settings as Rust.

use fastmmd::detector::Config;
use fastmmd_shapes::{Settings, Shape};

/// A map, settings and the type of a detector, to paste into firmware.
pub(crate) fn rust(shape: &Shape, settings: &Settings) -> String {
    let Shape { channels, lags, features, windows, seed, .. } = *shape;
    let inputs = channels * lags;
    let config = settings.config;
    let promise = config.mean_time_between_false_alarms;
    let scales: Vec<String> = settings.scales.iter().map(u32::to_string).collect();
    let (view, written, import, preset) = if shape.innovation {
        let import = "use fastmmd::innovation::Innovation;\n";
        let preset = Config::innovation(promise);
        let written = format!("Config::innovation({promise:?})");
        (format!("Innovation<{channels}>"), written, import, preset.with_scales([0]))
    } else {
        let preset = Config::rows(promise);
        let written = if settings.scales == preset.scales {
            format!("Config::rows({promise:?})")
        } else {
            format!("Config::rows({promise:?}).with_scales([{}])", scales.join(", "))
        };
        ("Raw".to_owned(), written, "", preset.with_scales([0]))
    };
    let mut fields = format!(
        "    scaling_rows: {},\n    learning_rows: {},\n",
        config.scaling_rows, config.learning_rows
    );
    let mut names = vec!["Config", "Detector"];
    if config.bandwidth != preset.bandwidth {
        // As the core's own types write themselves.
        fields.push_str(&format!("    bandwidth: Bandwidth::{:?},\n", config.bandwidth));
        names.push("Bandwidth");
    }
    if config.calibration != preset.calibration {
        fields.push_str(&format!("    calibration: Calibration::{:?},\n", config.calibration));
        names.push("Calibration");
    }
    if !shape.innovation {
        names.push("Raw");
    }
    names.sort_unstable();
    format!(
        "use fastmmd::detector::{{{names}}};\n{import}use fastmmd::{{Fourier, Kernel, Sampling}};\n\n\
         static MAP: Fourier<{inputs}, {features}> = match Fourier::new(Kernel::GAUSSIAN, \
         Sampling::Auto, {seed}) {{\n    Ok(map) => map,\n    Err(_) => panic!(\"checked when \
         compiled\"),\n}};\n\nconst CONFIG: Config<{windows}> = Config {{\n{fields}    \
         ..{written}\n}};\n\ntype Drift = Detector<'static, Fourier<{inputs}, {features}>, \
         {view}, {channels}, {inputs}, {features}, {windows}>;",
        names = names.join(", "),
    )
}
