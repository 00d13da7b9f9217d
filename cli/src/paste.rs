//! Settings as Rust.

use fastmmd::detector::{Bandwidth, Calibration, Config};
use fastmmd_shapes::{Settings, Shape};

/// A map, settings and the type of a detector, to paste into firmware.
pub(crate) fn rust(shape: &Shape, settings: &Settings) -> String {
    let Shape { channels, lags, features, windows, seed, .. } = *shape;
    let inputs = channels * lags;
    let config = settings.config;
    let promise = config.mean_time_between_false_alarms;
    let scales: Vec<String> = settings.scales.iter().map(u32::to_string).collect();
    let (view, preset, import) = if shape.innovation {
        let import = "use fastmmd::innovation::Innovation;\n";
        (format!("Innovation<{channels}>"), format!("Config::innovation({promise:?})"), import)
    } else {
        let preset = if settings.scales == Config::rows(promise).scales {
            format!("Config::rows({promise:?})")
        } else {
            format!("Config::rows({promise:?}).with_scales([{}])", scales.join(", "))
        };
        ("Raw".to_owned(), preset, "")
    };
    let mut fields = format!(
        "    scaling_rows: {},\n    learning_rows: {},\n",
        config.scaling_rows, config.learning_rows
    );
    let mut names = vec!["Config", "Detector"];
    if let Bandwidth::MedianDistance(factor) = config.bandwidth {
        fields.push_str(&format!("    bandwidth: Bandwidth::MedianDistance({factor:?}),\n"));
        names.push("Bandwidth");
    }
    if let Calibration::Adaptive(rows) = config.calibration
        && config.calibration != Config::innovation(promise).calibration
    {
        fields.push_str(&format!("    calibration: Calibration::Adaptive({rows}),\n"));
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
         ..{preset}\n}};\n\ntype Drift = Detector<'static, Fourier<{inputs}, {features}>, \
         {view}, {channels}, {inputs}, {features}, {windows}>;",
        names = names.join(", "),
    )
}
