use fastmmd::condition::Innovation;
use fastmmd::shape::Windows;
use fastmmd::{Config, Detector, Fourier};

static MAP: Fourier<3, 16> = Fourier::gaussian(1);

const CONFIG: Config<Innovation<3>, Windows<3>> = Config {
    learning_rows: 2900,
    ..Config::<Innovation<3>, Windows<3>>::innovation(10000.0)
};

type Drift = Detector<'static, Fourier<3, 16>, Innovation<3>, Windows<3>>;
