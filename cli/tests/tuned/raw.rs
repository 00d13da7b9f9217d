use fastmmd::detector::{Bandwidth, Config, Detector, Raw};
use fastmmd::{Fourier, Kernel, Sampling};

static MAP: Fourier<3, 64> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
    Ok(map) => map,
    Err(_) => panic!("checked when compiled"),
};

const CONFIG: Config<3> = Config {
    scaling_rows: 256,
    learning_rows: 2744,
    bandwidth: Bandwidth::MedianDistance(1.0),
    ..Config::rows(10000.0).with_scales([4, 16, 64])
};

type Drift = Detector<'static, Fourier<3, 64>, Raw, 3, 3, 64, 3>;
