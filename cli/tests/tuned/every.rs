use fastmmd::monitor::{Cyclic, NotANumber};
use fastmmd::{Config, Detector, Fourier};

static MAP: Fourier<2, 16> = Fourier::additive(7);

const CONFIG: Config<Cyclic<32>> = Config {
    learning_rows: 300,
    not_a_number: NotANumber::Missing,
    relearn_after: Some(5000),
    ..Config::rows(2500.5)
}
.with_period(24.5);

type Drift = Detector<'static, Fourier<2, 16>, Cyclic<32>>;
