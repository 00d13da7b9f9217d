use fastmmd::condition::Raw;
use fastmmd::monitor::Bandwidth;
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Fourier};

static MAP: Fourier<3, 64> = Fourier::gaussian(1);

const CONFIG: Config<Raw<3>, Windows<3>> = Config {
    learning_rows: 2744,
    bandwidth: Bandwidth::MedianDistance(1.0),
    ..Config::<Raw<3>, Windows<4>>::rows(10000.0).with_windows([4, 16, 64])
};

type Drift = Detector<'static, Fourier<3, 64>, Raw<3>, Windows<3>>;
