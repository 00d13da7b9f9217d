use fastmmd::detector::{Config, Detector};
use fastmmd::innovation::Innovation;
use fastmmd::{Fourier, Kernel, Sampling};

static MAP: Fourier<3, 16> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
    Ok(map) => map,
    Err(_) => panic!("checked when compiled"),
};

const CONFIG: Config<3> = Config {
    scaling_rows: 100,
    learning_rows: 2900,
    ..Config::innovation(10000.0)
};

type Drift = Detector<'static, Fourier<3, 16>, Innovation<3>, 3, 3, 16, 3>;
