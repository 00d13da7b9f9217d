//! The type-I error of the window test: are p-values correct?

use fastmmd::Fourier;
use fastmmd::condition::ViewKind;

use super::baselines::IndependentTest;
use super::devices::{fleet, granted, learned, map, settings, with_channels};
use super::families::{CHANNELS, Family, HEALTHY, Source, seed};
use super::table::Table;
use super::{Check, Draw, Report, Scope, note};
use fastmmd_reference::{real, tolerance};

/// Number of rows between p-values: four windows, so that they are independent.
const APART: usize = 256;
/// Number of p-values of each device.
const LOOKS: usize = 16;
/// Learning rows.
const LEARNING_ROWS: u32 = 4096;

/// How often p-values were below nominal levels on healthy data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Errors {
    looks: usize,
    at_5: usize,
    at_1: usize,
}

impl Errors {
    fn count(p_values: impl Iterator<Item = f64>) -> Self {
        p_values.fold(Self::default(), |errors, p| Self {
            looks: errors.looks + 1,
            at_5: errors.at_5 + usize::from(p < 0.05),
            at_1: errors.at_1 + usize::from(p < 0.01),
        })
    }

    fn plus(self, other: Self) -> Self {
        Self {
            looks: self.looks + other.looks,
            at_5: self.at_5 + other.at_5,
            at_1: self.at_1 + other.at_1,
        }
    }

    /// Type-I error at 0.05, over 0.05.
    #[must_use]
    pub fn ratio_at_5(&self) -> f64 {
        real(self.at_5) / real(self.looks) / 0.05
    }

    /// Type-I error at 0.01, over 0.01.
    #[must_use]
    pub fn ratio_at_1(&self) -> f64 {
        real(self.at_1) / real(self.looks) / 0.01
    }

    /// Whether both are within their limits.
    #[must_use]
    pub fn kept(&self) -> bool {
        tolerance::TYPE_I_AT_5.admits(self.ratio_at_5(), 1.0)
            && tolerance::TYPE_I_AT_1.admits(self.ratio_at_1(), 1.0)
    }

    fn line(&self) -> [String; 5] {
        let noise = |level: f64| (level * (1.0 - level) / real(self.looks)).sqrt() / level;
        [
            self.looks.to_string(),
            format!("{:.2}", self.ratio_at_5()),
            format!("{:.2}", noise(0.05)),
            format!("{:.2}", self.ratio_at_1()),
            format!("{:.2}", noise(0.01)),
        ]
    }
}

/// The type-I error of the detector's p-value over this many devices.
#[must_use]
pub fn measure(family: Family, channels: usize, devices: usize, cell: usize) -> Errors {
    with_channels!(channels, errors(family, devices, cell))
}

fn errors<const C: usize>(family: Family, devices: usize, cell: usize) -> Errors {
    let map = map(C);
    let p_values = fleet(devices, |device| {
        let mut source = Source::<C>::new(family, seed(1, cell, device));
        let mut detector = learned(&map, ViewKind::Raw, &settings(1e3, LEARNING_ROWS), &mut source);
        let looks = (0..LOOKS).map(|_| {
            for _ in 0..APART {
                granted(detector.push(&source.row()));
            }
            detector.p_value().map_or(f64::NAN, f64::from)
        });
        looks.collect::<Vec<_>>()
    });
    Errors::count(p_values.into_iter().flatten())
}

/// The same for a test that assumes independent rows: shows why calibration is needed.
#[must_use]
pub fn measure_independent(family: Family, devices: usize) -> Errors {
    let map = Fourier::gaussian(1);
    let scores = fleet(devices, |device| {
        let mut source = Source::<3>::new(family, seed(1, 999, device));
        let mut test = IndependentTest::new(&map);
        for _ in 0..LEARNING_ROWS {
            test.learn(&source.row());
        }
        let moments = test.moments();
        let looks = (0..LOOKS).map(|_| {
            for _ in 0..APART {
                test.push(&source.row());
            }
            test.score(moments)
        });
        looks.collect::<Vec<_>>()
    });
    // Only the two levels matter here.
    let p_of = |z: f64| {
        if z > 2.326_348 {
            0.009
        } else if z > 1.644_854 {
            0.049
        } else {
            0.5
        }
    };
    Errors::count(scores.into_iter().flatten().map(p_of))
}

/// The section: every family, and the test that assumes independent rows.
#[must_use]
pub fn run(scope: Scope, draw: Draw) -> Report {
    let mut report = Report::new(
        "Type-I error of the window test",
        "`Detector::p_value` while all is well, over the nominal level; default settings, 4096 \
         learning rows. ±: one standard deviation of an exact test's figure.",
    );
    let devices = if scope == Scope::Full { 800 } else { 100 };
    let mut table = Table::new(["family", "windows", "at .05", "±", "at .01", "±"]);
    let mut all = Errors::default();
    for (index, (name, family)) in HEALTHY.into_iter().enumerate() {
        for channels in CHANNELS {
            if !scope.covers(family, channels) {
                continue;
            }
            let label = format!("{name}, {channels}");
            note("type-I error", &label);
            let errors = measure(family, channels, devices, draw.cell(100 * index + channels));
            if scope == Scope::Full {
                hold(&mut report, &label, &errors);
            }
            table.line([label].into_iter().chain(errors.line()));
            all = all.plus(errors);
        }
    }
    hold(&mut report, "all families", &all);
    table.line(["all".to_owned()].into_iter().chain(all.line()));
    for (name, family) in [
        ("Gaussian", Family::Gaussian),
        ("AR(1) 0.5", Family::Autoregressive(0.5)),
        ("AR(1) 0.9", Family::Autoregressive(0.9)),
    ] {
        let label = format!("{name}, 3, rows taken for independent");
        note("type-I error", &label);
        let errors = measure_independent(family, 60);
        table.line([label].into_iter().chain(errors.line()));
    }
    report.table("Type-I error over nominal", &table);
    report
}

fn hold(report: &mut Report, label: &str, errors: &Errors) {
    report.hold(Check {
        what: format!("{label}: type-I error at .05 over nominal"),
        value: errors.ratio_at_5(),
        kept: tolerance::TYPE_I_AT_5.admits(errors.ratio_at_5(), 1.0),
    });
    report.hold(Check {
        what: format!("{label}: type-I error at .01 over nominal"),
        value: errors.ratio_at_1(),
        kept: tolerance::TYPE_I_AT_1.admits(errors.ratio_at_1(), 1.0),
    });
}
