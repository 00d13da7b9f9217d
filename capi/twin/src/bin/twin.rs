//! Prints what the example in C has to print, for float or int16_t: the argument says which.

use fastmmd::{Config, Detector, Error};
use fastmmd_capi_twin::{FLOAT, INTEGER, MEAN_TIME, report};

fn main() -> Result<(), Error> {
    let print = |line: std::fmt::Arguments<'_>| println!("{line}");
    let config = Config::rows(MEAN_TIME);
    let mut saved = vec![0; 8192];
    if std::env::args().nth(1).as_deref() == Some("i16") {
        return report(&mut Detector::new(&INTEGER, config)?, &mut saved, print);
    }
    report(&mut Detector::new(&FLOAT, config)?, &mut saved, print)
}
