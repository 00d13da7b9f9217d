//! The emulated board: QEMU's `mps2-an386`, a Cortex-M4F.
//!
//! The sensors and the EEPROM are on its I²C controller for shields, the link is its first UART,
//! and logs go through semihosting. `cargo xtask` starts it.

#![no_std]

use board_common as _;
use defmt_semihosting as _;

pub mod drift;
mod failing;
pub mod handlers;
mod sbcon;
mod uart;

pub use sbcon::Sbcon;
pub use uart::Uart;

use core::sync::atomic::{AtomicBool, Ordering};

use board_common::{RetainedMemory, made, stack};
use cortex_m::peripheral::scb::Exception;
use drift_app::Sensor;
use drift_app::app::{App, Board as About, Config, Parts, Request};
use drift_app::guard::Guard;
use drift_app::message::Start;
use drift_app::store::Store;
use drift_app::wire::Wire;
use fastmmd::monitor::Monitor;

/// The devices of the board.
pub struct Board {
    /// The bus of sensors and EEPROM.
    pub bus: Wire<Sbcon>,
    /// The line to the host.
    pub uart: Uart,
}

impl Board {
    /// Protects the stack and sets up the devices; `None` when called a second time.
    #[must_use]
    pub fn take() -> Option<Self> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if TAKEN.swap(true, Ordering::Relaxed) {
            return None;
        }
        let mut core = cortex_m::Peripherals::take()?;
        core.SCB.enable(Exception::MemoryManagement);
        stack::protect(&mut core.MPU);
        Some(Self { bus: Wire::new(Sbcon::new()), uart: Uart::new() })
    }
}

/// What the app says about the board.
static ABOUT: About = About { name: "mps2-an386", millihertz: 0, start: Start::UNKNOWN };

/// Another number at each start.
#[cfg(feature = "secure")]
#[must_use]
pub fn nonce() -> Option<u64> {
    let mut bytes = [0; 8];
    semihosting::experimental::random::fill_bytes(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

/// Creates the detector, starts the app with it and answers the link for ever.
pub fn run<S, M, const C: usize, const N: usize>(
    state: &'static RetainedMemory<N>,
    sensor: S,
    store: Option<Store>,
    settings: &'static M::Config,
    guard: Guard,
    detector: impl FnOnce() -> Result<M, fastmmd::Error>,
) -> !
where
    S: Sensor<C>,
    M: Monitor<Row = [f32; C], Partial = [Option<f32>; C]>,
{
    let (Some(board), Some(memory)) = (Board::take(), state.take()) else {
        // Both are taken here only, once after each start.
        cortex_m::peripheral::SCB::sys_reset();
    };
    let mut detector = detector();
    let monitor = made(&mut detector);
    let (bus, line) = (board.bus, board.uart);
    let parts = Parts { board: &ABOUT, bus, line, sensor, monitor, settings, store, guard, memory };
    let mut app = App::new(parts, Config::DEFAULT);
    if let Some((address, transactions, kind)) = failing::take() {
        app.bus().fail_next(address, transactions, kind);
    }
    serve(&mut app)
}

/// Starts the app and answers the link for ever.
fn serve<S, M, const C: usize>(app: &mut App<'_, Wire<Sbcon>, Uart, S, M, C>) -> !
where
    S: Sensor<C>,
    M: Monitor<Row = [f32; C], Partial = [Option<f32>; C]>,
{
    app.start();
    loop {
        match app.poll() {
            Request::Continue => {}
            Request::Idle => app.line().wait(),
            Request::Reported => {
                defmt::info!("stack {} of {} bytes used", stack::high_water(), stack::size());
            }
            Request::Restart => {
                // So that a bus can fail while the board starts.
                failing::keep(app.bus().failing());
                app.line().flush();
                cortex_m::peripheral::SCB::sys_reset();
            }
        }
    }
}
