//! Proof that the app cannot panic, over a bus and a serial line whose results the compiler cannot
//! know.
//!
//! The panic handler calls an undefined function, so this program links only if the compiler
//! removed every panic. It is linked, not run: `cargo xtask firmware`.

#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

use drift_app::app::{App, Board, Config, Parts, Request};
use drift_app::guard::Guard;
use drift_app::link::ByteLink;
use drift_app::message::Start;
use drift_app::profile::{BOARD, BoardDetector, FOUR_CHANNELS, board};
use drift_app::retained::memory_bytes;
use drift_app::sensor::MagnetometerThermometer;
use drift_app::store::Store;
use embedded_hal::i2c::{ErrorKind, ErrorType, I2c, Operation};

const CHANNELS: usize = 4;
type Detector = BoardDetector<CHANNELS>;
const STATE_BYTES: usize = memory_bytes(Detector::SAVED_BYTES, 48, CHANNELS);

#[cfg(feature = "secure")]
static KEY: drift_app::seal::Key = drift_app::seal::Key::new([7; 32]);

/// A bus and serial line that return values unknown to the compiler.
struct Unknown;

impl ErrorType for Unknown {
    type Error = ErrorKind;
}

impl I2c for Unknown {
    #[inline(never)]
    fn transaction(
        &mut self,
        address: u8,
        operations: &mut [Operation<'_>],
    ) -> Result<(), ErrorKind> {
        for operation in operations {
            match operation {
                Operation::Read(bytes) => bytes.fill(black_box(address)),
                Operation::Write(bytes) => {
                    black_box(bytes);
                }
            }
        }
        black_box(Ok(()))
    }
}

impl ByteLink for Unknown {
    type Error = ErrorKind;

    #[inline(never)]
    fn read(&mut self) -> Result<Option<u8>, ErrorKind> {
        black_box(Ok(Some(0)))
    }

    #[inline(never)]
    fn write(&mut self, byte: u8) -> Result<(), ErrorKind> {
        black_box(byte);
        black_box(Ok(()))
    }
}

/// The entry point under the linker's default name: no start-up code is needed to link.
// SAFETY: no other symbol of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let mut memory = black_box([0; STATE_BYTES]);
    let Ok(mut detector) = Detector::new(&FOUR_CHANNELS, black_box(board())) else {
        loop {
            core::hint::spin_loop();
        }
    };
    let parts = Parts {
        board: &Board { name: "proof", millihertz: black_box(0), start: Start::UNKNOWN },
        bus: Unknown,
        line: Unknown,
        sensor: MagnetometerThermometer::default(),
        monitor: &mut detector,
        settings: black_box(&BOARD),
        #[cfg(feature = "secure")]
        store: black_box(Some(Store::sealed(Some(&KEY), Some(black_box)))),
        #[cfg(not(feature = "secure"))]
        store: black_box(Some(Store::new())),
        #[cfg(feature = "secure")]
        guard: Guard::new(black_box(Some(&KEY)), black_box(Some(1))),
        #[cfg(not(feature = "secure"))]
        guard: Guard::open(),
        memory: &mut memory,
    };
    let mut app = App::new(parts, black_box(Config::DEFAULT));
    app.start();
    loop {
        app.sample(black_box(1));
        if app.poll() == Request::Restart {
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
