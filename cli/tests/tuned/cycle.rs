use fastmmd::monitor::{Cyclic, NotANumber};
use fastmmd::{Config, Detector, Fourier};

static MAP: Fourier<3, 32> = Fourier::additive(1);

const CONFIG: Config<Cyclic<32>> = Config {
    learning_rows: 3000,
    not_a_number: NotANumber::Missing,
    ..Config::rows(5600.0)
}
.with_period(150.0);

type Drift = Detector<'static, Fourier<3, 32>, Cyclic<32>>;
