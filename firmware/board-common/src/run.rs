//! The main loop of boards that keep time themselves.

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};
use drift_app::{App, ByteLink, Request, Sensor};
use embedded_hal::i2c::I2c;
use fastmmd::monitor::Monitor;

use crate::stack;

/// Signals when the next sample is due, by the `SysTick` timer.
pub struct Ticker(SYST);

impl Ticker {
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
        timer.enable_counter();
        Self(timer)
    }

    /// Whether a period has ended since the last call. Several missed periods count as one.
    pub fn is_due(&mut self) -> bool {
        self.0.has_wrapped()
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

/// Takes a sample whenever `ticker` says so, and answers the link, for ever. Calls `alive` all
/// the time: if that stops, something hangs, and a watchdog should start the board again, which
/// loses nothing.
pub fn run<B, L, S, M, const C: usize>(
    mut app: App<'_, B, L, S, M, C>,
    mut ticker: Ticker,
    mut alive: impl FnMut(),
) -> !
where
    B: I2c,
    L: ByteLink,
    S: Sensor<C>,
    M: Monitor<Row = [f32; C]>,
{
    loop {
        alive();
        if ticker.is_due() {
            app.sample();
        }
        match app.poll() {
            Request::Idle | Request::Continue => {}
            Request::Reported => {
                defmt::info!("stack {} of {} bytes used", stack::high_water(), stack::size());
            }
            Request::Restart => SCB::sys_reset(),
        }
    }
}
