//! Proof that the app cannot panic, over the lines of a bus and a serial line whose results the compiler cannot
//! know.
//!
//! The panic handler calls an undefined function, so this program links only if the compiler
//! removed every panic. It is linked, not run: `cargo xtask firmware`.

#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

use drift_app::app::{App, Board, Config, Parts, Request};
use drift_app::clock::{Clock, Ticker};
use drift_app::counts::Counts;
use drift_app::guard::Guard;
use drift_app::inbox::Inbox;
use drift_app::link::ByteLink;
use drift_app::message::Cause;
use drift_app::profile::{
    BOARD, BoardDetector, FOUR_CHANNELS, FOUR_COUNTS, IntegerDetector, board,
};
use drift_app::retained::memory_bytes;
use drift_app::sensor::{MagnetometerThermometer, Sensor};
use drift_app::starts;
use drift_app::store::Store;
use drift_app::wire::{Lines, Wire};
use fastmmd::monitor::Monitor;

const CHANNELS: usize = 4;
type Detector = BoardDetector<CHANNELS>;
const STATE_BYTES: usize = memory_bytes(Detector::SAVED_BYTES, 48, CHANNELS);

#[cfg(feature = "secure")]
static KEY: drift_app::seal::Key = drift_app::seal::Key::new([7; 32]);

/// Lines of a bus, a serial line and a clock that return values unknown to the compiler.
struct Unknown;

impl Lines for Unknown {
    #[inline(never)]
    fn set_clock(&mut self, high: bool) {
        black_box(high);
    }

    #[inline(never)]
    fn set_data(&mut self, high: bool) {
        black_box(high);
    }

    #[inline(never)]
    fn clock(&mut self) -> bool {
        black_box(true)
    }

    #[inline(never)]
    fn data(&mut self) -> bool {
        black_box(true)
    }

    #[inline(never)]
    fn wait(&mut self) {
        black_box(());
    }
}

/// What the line has received, as on the boards.
static INBOX: Inbox = Inbox::new();

impl ByteLink for Unknown {
    type Error = u8;

    #[inline(never)]
    fn read(&mut self) -> Result<Option<u8>, u8> {
        INBOX.put(black_box(0));
        black_box(Ok(INBOX.take()))
    }

    #[inline(never)]
    fn write(&mut self, byte: u8) -> Result<(), u8> {
        black_box(byte);
        black_box(Ok(()))
    }
}

impl Clock for Unknown {
    #[inline(never)]
    fn periods(&mut self) -> u32 {
        black_box(1)
    }
}

/// The entry point under the linker's default name: no start-up code is needed to link.
// SAFETY: no other symbol of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let mut memory = black_box([0; STATE_BYTES]);
    if black_box(true) {
        if let Ok(mut detector) = Detector::new(&FOUR_CHANNELS, black_box(board())) {
            run(&mut detector, &mut memory);
        }
    } else {
        // As on the Pico.
        let detector = IntegerDetector::new(&FOUR_COUNTS, black_box(board()));
        let counts = |detector| Counts::new(detector, MagnetometerThermometer::STEPS);
        if let Ok(mut detector) = detector.and_then(counts) {
            run(&mut detector, &mut memory);
        }
    }
    loop {
        core::hint::spin_loop();
    }
}

/// The app around a detector, for ever.
#[inline(never)]
fn run<M>(monitor: &mut M, memory: &mut [u8]) -> !
where
    M: Monitor<Row = [f32; CHANNELS], Partial = [Option<f32>; CHANNELS], Config = fastmmd::Config>,
{
    let (start, kept) = starts::started(black_box([0; starts::WORDS]), black_box(Cause::Pin));
    black_box(starts::ended(kept, black_box(Cause::Panic), black_box(1)));
    let parts = Parts {
        board: &Board { name: "proof", millihertz: black_box(0), start },
        bus: Wire::new(Unknown),
        line: Unknown,
        sensor: MagnetometerThermometer::default(),
        monitor,
        settings: black_box(&BOARD),
        #[cfg(feature = "secure")]
        store: black_box(Some(Store::sealed(Some(&KEY), Some(black_box)))),
        #[cfg(not(feature = "secure"))]
        store: black_box(Some(Store::new())),
        #[cfg(feature = "secure")]
        guard: Guard::new(black_box(Some(&KEY)), black_box(Some(1))),
        #[cfg(not(feature = "secure"))]
        guard: Guard::open(),
        memory,
    };
    let mut app = App::new(parts, black_box(Config::DEFAULT));
    app.start();
    let mut ticker = Ticker::new(Unknown);
    loop {
        if app.turn(&mut ticker) == Request::Restart {
            #[cfg(feature = "inject-panic")]
            black_box(black_box([1_u8, 2, 3])[black_box(1_usize)]);
        }
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        /// Defined nowhere: a panic that survives optimisation makes the link fail with this name.
        fn the_app_can_panic() -> !;
    }
    // SAFETY: never runs, since a program with this call does not link.
    unsafe { the_app_can_panic() }
}
