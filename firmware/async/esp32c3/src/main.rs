//! Sensor, detector and link as tasks on an ESP32-C3: the analogue inputs GPIO 2, 3 and 4 ten times a
//! second; reports as lines of text on GPIO 21, at 115,200 baud. In integers: there is no
//! floating-point unit. What was learned is kept in the flash.

#![no_std]
#![no_main]

use core::fmt::Write;

use embassy_embedded_hal::adapter::BlockingAsync;
use embassy_executor::Spawner;
use embassy_time::{Duration, Ticker};
use esp_hal::Async;
use esp_hal::analog::adc::{Adc, AdcConfig, AdcPin, Attenuation};
use esp_hal::peripherals::{ADC1, GPIO2, GPIO3, GPIO4};
use esp_hal::timer::timg::TimerGroup;
use esp_hal::uart::{self, UartTx};
use esp_storage::FlashStorage;
use fastmmd::{Config, Detector, checked, fixed};
use fastmmd_flash::{FlashStore, Kept};
use fastmmd_tasks::{LINE, Link, Report, Reports, Rows, Sensor, detect, sense, tell};
use heapless::String;
use panic_halt as _;

esp_bootloader_esp_idf::esp_app_desc!();

const CHANNELS: usize = 3;

static MAP: fixed::Fourier<CHANNELS, 32> = fixed::Fourier::additive(1);
static ROWS: Rows<i16, CHANNELS> = Rows::new();
static REPORTS: Reports = Reports::new();

/// Rows a second.
const RATE: u64 = 10;

/// A false alarm in 16 hours, which is as much as learning for two hours supports.
const CONFIG: Config = Config { learning_rows: 65_536, ..Config::rows(6e5) };

/// The converter, and its pins.
struct Inputs {
    converter: Adc<'static, ADC1<'static>, Async>,
    pins: (
        AdcPin<GPIO2<'static>, ADC1<'static>>,
        AdcPin<GPIO3<'static>, ADC1<'static>>,
        AdcPin<GPIO4<'static>, ADC1<'static>>,
    ),
    pace: Ticker,
}

impl Sensor<i16, CHANNELS> for Inputs {
    async fn row(&mut self) -> Option<[i16; CHANNELS]> {
        self.pace.next().await;
        let (first, second, third) = &mut self.pins;
        let counts = [
            self.converter.read_oneshot(first).await,
            self.converter.read_oneshot(second).await,
            self.converter.read_oneshot(third).await,
        ];
        // Twelve bits.
        Some(counts.map(u16::cast_signed))
    }
}

/// The serial line.
struct Serial(UartTx<'static, Async>);

impl Link for Serial {
    async fn send(&mut self, report: &Report) {
        let mut line: String<{ LINE + 2 }> = String::new();
        // A line has room for every report.
        let _ = write!(line, "{report}\r\n");
        let mut left = line.as_bytes();
        while !left.is_empty() {
            // If the serial line fails, the next report is tried.
            let Ok(written) = self.0.write_async(left).await else { return };
            left = left.get(written..).unwrap_or_default();
        }
    }
}

#[embassy_executor::task]
async fn sensor(inputs: Inputs) {
    sense(inputs, &ROWS).await;
}

type Watch = Detector<'static, fixed::Fourier<CHANNELS, 32>>;

/// The partition `nvs` of the partition table that espflash writes by default; nothing else uses it here.
const KEPT: core::ops::Range<u32> = 0x9000..0xf000;
/// Rows between two saves: an hour.
const BETWEEN: u64 = 3600 * RATE;

/// The flash, and what is kept in it.
type Flash = BlockingAsync<FlashStorage<'static>>;
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
async fn link(line: UartTx<'static, Async>) {
    tell(Serial(line), &REPORTS).await;
}

#[esp_rtos::main]
async fn main(spawner: Spawner) {
    let board = esp_hal::init(esp_hal::Config::default());
    let timers = TimerGroup::new(board.TIMG0);
    esp_rtos::start(timers.timer0, board.FROM_CPU_INTR0);

    let mut config = AdcConfig::new();
    let pins = (
        config.enable_pin(board.GPIO2, Attenuation::_11dB),
        config.enable_pin(board.GPIO3, Attenuation::_11dB),
        config.enable_pin(board.GPIO4, Attenuation::_11dB),
    );
    let converter = Adc::new(board.ADC1, config).into_async();
    let pace = Ticker::every(Duration::from_hz(RATE));
    let line = UartTx::new(board.UART0, uart::Config::default()).expect("the default is valid");
    let line = line.with_tx(board.GPIO21).into_async();
    spawner.spawn(sensor(Inputs { converter, pins, pace }).expect("each task is spawned once"));
    let flash = BlockingAsync::new(FlashStorage::new(board.FLASH));
    let store = FlashStore::new(flash, KEPT).expect("whole pages");
    spawner.spawn(detector(store).expect("each task is spawned once"));
    spawner.spawn(link(line).expect("each task is spawned once"));
}
