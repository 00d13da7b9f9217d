use fastmmd::condition::Raw;
use fastmmd::monitor::{Bandwidth, Calibration, LoneOutliers, Policy, Reference};
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Fourier};

static MAP: Fourier<6, 16> = Fourier::gaussian(7);

const CONFIG: Config<Raw<2, 6>, Windows<2>> = Config {
    scaling_rows: 64,
    learning_rows: 300,
    bandwidth: Bandwidth::MedianDistance(0.5),
    reference: Reference::Moving(500),
    calibration: Calibration::Adaptive(600),
    lone_outliers: LoneOutliers::Count,
    policy: Policy::Relearn { hold_off: 20, settle: 100 },
    ..Config::<Raw<2>, Windows<4>>::rows(2500.5).with_windows([2, 8]).with_view()
};

type Drift = Detector<'static, Fourier<6, 16>, Raw<2, 6>, Windows<2>>;
