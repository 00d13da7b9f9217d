//! Time for Embassy: `SysTick`, a tick each millisecond.

use core::cell::{Cell, RefCell};
use core::task::Waker;

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;
use critical_section::Mutex;
use embassy_time_driver::{Driver, time_driver_impl};
use embassy_time_queue_utils::Queue;

/// The clock of the emulated board.
const HERTZ: u32 = 25_000_000;
const TICKS_A_SECOND: u32 = 1000;

struct Clock {
    now: Mutex<Cell<u64>>,
    waiting: Mutex<RefCell<Queue>>,
}

time_driver_impl!(static CLOCK: Clock = Clock {
    now: Mutex::new(Cell::new(0)),
    waiting: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for Clock {
    fn now(&self) -> u64 {
        critical_section::with(|section| self.now.borrow(section).get())
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|section| {
            self.waiting.borrow_ref_mut(section).schedule_wake(at, waker);
        });
    }
}

/// Starts the ticks.
pub(crate) fn start(mut timer: SYST) {
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(HERTZ / TICKS_A_SECOND - 1);
    timer.clear_current();
    timer.enable_interrupt();
    timer.enable_counter();
}

#[exception]
fn SysTick() {
    critical_section::with(|section| {
        let now = CLOCK.now.borrow(section);
        now.set(now.get() + 1);
        // Wakes those whose time has come; the next tick looks again.
        CLOCK.waiting.borrow_ref_mut(section).next_expiration(now.get());
    });
}
