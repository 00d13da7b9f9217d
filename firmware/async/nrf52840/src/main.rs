//! Sensor, detector and link as tasks on an nRF52840: the analogue inputs AIN0, AIN1 and AIN2 (P0.02,
//! P0.03, P0.04) ten times a second; reports as lines of text on P0.06, at 115,200 baud. What was
//! learned is kept in the last pages of the flash.

#![no_std]
#![no_main]

use core::fmt::Write;

use embassy_embedded_hal::adapter::BlockingAsync;
use embassy_executor::Spawner;
use embassy_nrf::nvmc::Nvmc;
use embassy_nrf::saadc::{self, ChannelConfig, Saadc};
use embassy_nrf::uarte::{self, UarteTx};
use embassy_nrf::{bind_interrupts, peripherals};
use embassy_time::{Duration, Ticker};
use fastmmd::{Config, Detector, Fourier, checked};
use fastmmd_flash::{FlashStore, Kept};
use fastmmd_tasks::{LINE, Link, Report, Reports, Rows, Sensor, detect, sense, tell};
use heapless::String;
use panic_halt as _;

const CHANNELS: usize = 3;

static MAP: Fourier<CHANNELS, 32> = Fourier::additive(1);
static ROWS: Rows<f32, CHANNELS> = Rows::new();
static REPORTS: Reports = Reports::new();

/// Rows a second.
const RATE: u64 = 10;

/// A false alarm in 16 hours, which is as much as learning for two hours supports.
const CONFIG: Config = Config { learning_rows: 65_536, ..Config::rows(6e5) };

bind_interrupts!(struct Interrupts {
    SAADC => saadc::InterruptHandler;
    UARTE0 => uarte::InterruptHandler<peripherals::UARTE0>;
});

/// The converter.
struct Inputs {
    converter: Saadc<'static, CHANNELS>,
    pace: Ticker,
}

impl Sensor<f32, CHANNELS> for Inputs {
    async fn row(&mut self) -> Option<[f32; CHANNELS]> {
        self.pace.next().await;
        let mut counts = [0; CHANNELS];
        self.converter.sample(&mut counts).await;
        Some(counts.map(f32::from))
    }
}

/// The serial line.
struct Serial(UarteTx<'static>);

impl Link for Serial {
    async fn send(&mut self, report: &Report) {
        let mut line: String<{ LINE + 2 }> = String::new();
        // A line has room for every report; if the serial line fails, the next one is tried.
        let _ = write!(line, "{report}\r\n");
        let _ = self.0.write(line.as_bytes()).await;
    }
}

#[embassy_executor::task]
async fn sensor(converter: Saadc<'static, CHANNELS>) {
    let pace = Ticker::every(Duration::from_hz(RATE));
    sense(Inputs { converter, pace }, &ROWS).await;
}

type Watch = Detector<'static, Fourier<CHANNELS, 32>>;

/// The pages that `memory.x` leaves.
const KEPT: core::ops::Range<u32> = 1000 * 1024..1024 * 1024;
/// Rows between two saves: an hour. Each page is then erased four to eight times a day, of 10,000 in all.
const BETWEEN: u64 = 3600 * RATE;

/// The flash, and what is kept in it.
type Flash = BlockingAsync<Nvmc<'static>>;
type Memory = Kept<Flash, { Watch::SAVED_BYTES }>;

#[embassy_executor::task]
async fn detector(store: FlashStore<Flash>) {
    let mut detector: Watch = checked!(Detector::new(&MAP, CONFIG));
    let mut memory = Memory::new(store, BETWEEN);
    // Without a record it learns.
    if let Some(report) = memory.take_up(&mut detector).await {
        REPORTS.send(report).await;
    }
    detect(&mut detector, memory, &ROWS, &REPORTS).await;
}

#[embassy_executor::task]
async fn link(line: UarteTx<'static>) {
    tell(Serial(line), &REPORTS).await;
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let board = embassy_nrf::init(embassy_nrf::config::Config::default());
    let channels = [
        ChannelConfig::single_ended(board.P0_02),
        ChannelConfig::single_ended(board.P0_03),
        ChannelConfig::single_ended(board.P0_04),
    ];
    let converter = Saadc::new(board.SAADC, Interrupts, saadc::Config::default(), channels);
    let line = UarteTx::new(board.UARTE0, Interrupts, board.P0_06, uarte::Config::default());
    spawner.spawn(sensor(converter).expect("each task is spawned once"));
    let flash = BlockingAsync::new(Nvmc::new(board.NVMC));
    let store = FlashStore::new(flash, KEPT).expect("whole pages");
    spawner.spawn(detector(store).expect("each task is spawned once"));
    spawner.spawn(link(line).expect("each task is spawned once"));
}
