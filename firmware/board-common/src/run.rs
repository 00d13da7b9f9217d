//! The main loop of boards that keep time themselves.

use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};
use cortex_m_rt::exception;
use drift_app::starts::Settling;
use drift_app::{App, ByteLink, Clock, Request, Sensor, Ticker};
use embedded_hal::i2c::I2c;
use fastmmd::monitor::Monitor;

use crate::{record, stack};

/// Periods of the timer that have ended. Only its interrupt writes it.
static PERIODS: AtomicU32 = AtomicU32::new(0);

#[exception]
fn SysTick() {
    // ARMv6-M has no atomic addition, and needs none with one writer.
    PERIODS.store(PERIODS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

/// Counts the samples that are due, by the interrupt of the `SysTick` timer: also while the board is
/// busy.
pub struct SampleTimer(());

impl SampleTimer {
    /// Longest period: the timer has 24 bits.
    const MAX_TICKS: u32 = 0x00FF_FFFF;

    /// Due `hertz` times per second on a processor that runs at `clock_hertz`. A period that is too
    /// long for the timer becomes the longest possible one.
    #[must_use]
    pub fn new(mut timer: SYST, clock_hertz: u32, hertz: u32) -> Self {
        let ticks = clock_hertz.checked_div(hertz).unwrap_or(u32::MAX);
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(ticks.clamp(2, Self::MAX_TICKS) - 1);
        timer.clear_current();
        timer.enable_interrupt();
        timer.enable_counter();
        Self(())
    }
}

impl Clock for SampleTimer {
    fn periods(&mut self) -> u32 {
        PERIODS.load(Ordering::Relaxed)
    }
}

/// The detector, where it was made: a move would take as much stack again.
#[inline(always)]
pub fn made<M>(detector: &mut Result<M, fastmmd::Error>) -> &mut M {
    match detector {
        Ok(monitor) => monitor,
        Err(_) => defmt::panic!("the settings are refused"),
    }
}

/// Starts the app, takes a sample whenever `timer` says so, and answers the link, for ever. Calls `alive` all
/// the time: if that stops, something hangs, and a watchdog should start the board again, which
/// loses nothing. It returns whether the board's lock is open, so that commands need no seal.
pub fn run<B, L, S, M, const C: usize>(
    app: &mut App<'_, B, L, S, M, C>,
    timer: SampleTimer,
    mut alive: impl FnMut() -> bool,
) -> !
where
    B: I2c,
    L: ByteLink,
    S: Sensor<C>,
    M: Monitor<Row = [f32; C], Partial = [Option<f32>; C]>,
{
    app.start();
    let mut ticker = Ticker::new(timer);
    let mut settling = Settling::default();
    loop {
        let is_open = alive();
        #[cfg(feature = "secure")]
        app.guard().set_open(is_open);
        // Without seals there is no lock.
        let _ = is_open;
        if settling.is_now(PERIODS.load(Ordering::Relaxed)) {
            record::settled();
        }
        match app.turn(&mut ticker) {
            Request::Idle | Request::Continue => {}
            Request::Reported => {
                defmt::info!("stack {} of {} bytes used", stack::high_water(), stack::size());
            }
            Request::Restart => {
                record::settled();
                SCB::sys_reset();
            }
        }
    }
}
