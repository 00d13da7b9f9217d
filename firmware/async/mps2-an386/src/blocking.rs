//! The same rows as of the tasks in a loop that waits for nothing: the blocking firmware that the tasks
//! are compared with, on the same board.

#![no_std]
#![no_main]

use emulated::{entry, println};
use fastmmd::{Config, Detector, Fourier, Verdict, checked};
use fastmmd_capi_twin::{CHANNELS, FLOAT, MEAN_TIME, Rows, TWO_CHANGES};
use fastmmd_tasks::Report;

#[entry]
fn main() -> ! {
    let mut detector: Detector<'_, Fourier<CHANNELS, 32>> =
        checked!(Detector::new(&FLOAT, Config::rows(MEAN_TIME)));
    let mut rows = Rows::default();
    for _ in 0..TWO_CHANGES {
        match detector.push(&rows.row()) {
            Ok(Verdict::Alarm(alarm)) => println!("{}", Report::Alarm(alarm)),
            Err(error) => println!("{}", Report::Refused(error)),
            Ok(_) => {}
        }
    }
    emulated::succeed()
}
