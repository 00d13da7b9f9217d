//! Sensor, detector and link as tasks on the emulated board: a row each millisecond, with changes at
//! known places. Prints what `blocking`, a loop that pushes the same rows, finds.

#![no_std]
#![no_main]

mod clock;

use embassy_executor::Spawner;
use embassy_time::{Duration, Ticker};
use emulated::println;
use fastmmd::{Config, Detector, Fourier, checked};
use fastmmd_capi_twin::{CHANNELS, FLOAT, MEAN_TIME, Rows as Signal, TWO_CHANGES};
use fastmmd_tasks::{Link, Report, Reports, Rows, Sensor, detect, sense, tell};

static ROWS: Rows<f32, CHANNELS> = Rows::new();
static REPORTS: Reports = Reports::new();

/// Rows that the program makes up, at the pace of a real sensor.
struct Made {
    signal: Signal,
    pace: Ticker,
    left: u32,
}

impl Sensor<f32, CHANNELS> for Made {
    async fn row(&mut self) -> Option<[f32; CHANNELS]> {
        self.left = self.left.checked_sub(1)?;
        self.pace.next().await;
        Some(self.signal.row())
    }
}

/// The emulator's console.
struct Console;

impl Link for Console {
    async fn send(&mut self, report: &Report) {
        match report {
            Report::Learned | Report::Amended(_) => {}
            Report::Ended => emulated::succeed(),
            Report::Alarm(_)
            | Report::Lost(_)
            | Report::Refused(_)
            | Report::NotKept
            | Report::Restored(_)
            | Report::NotRestored => {
                println!("{report}");
            }
        }
    }
}

#[embassy_executor::task]
async fn sensor() {
    let pace = Ticker::every(Duration::from_millis(1));
    sense(Made { signal: Signal::default(), pace, left: TWO_CHANGES }, &ROWS).await;
}

#[embassy_executor::task]
async fn detector() {
    let mut detector: Detector<'_, Fourier<CHANNELS, 32>> =
        checked!(Detector::new(&FLOAT, Config::rows(MEAN_TIME)));
    detect(&mut detector, (), &ROWS, &REPORTS).await;
}

#[embassy_executor::task]
async fn link() {
    tell(Console, &REPORTS).await;
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let peripherals = cortex_m::Peripherals::take().expect("nobody took them before");
    clock::start(peripherals.SYST);
    spawner.spawn(sensor().expect("each task is spawned once"));
    spawner.spawn(detector().expect("each task is spawned once"));
    spawner.spawn(link().expect("each task is spawned once"));
}
