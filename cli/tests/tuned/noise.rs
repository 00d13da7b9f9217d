use fastmmd::monitor::NotANumber;
use fastmmd::{Config, Detector, Fourier};

static MAP: Fourier<3, 32> = Fourier::additive(1);

const CONFIG: Config = Config {
    not_a_number: NotANumber::Missing,
    ..Config::rows(10000.0)
};

type Drift = Detector<'static, Fourier<3, 32>>;
