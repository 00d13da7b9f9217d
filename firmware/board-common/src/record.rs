//! Why the board started: kept across the reset, and reported by the app.

use cortex_m::peripheral::SCB;
use drift_app::message::{Cause, Start};
use drift_app::starts;

use crate::RetainedWords;

// SAFETY: the start-up code does not touch this section.
#[unsafe(link_section = ".uninit.RECORD")]
static RECORD: RetainedWords<{ starts::WORDS }> = RetainedWords::new();

/// Why the board has started, given what the hardware says; to be called once. Counts the starts since
/// [`settled`].
pub fn started(hardware: Cause) -> Start {
    let (start, words) = starts::started(RECORD.read(), hardware);
    RECORD.write(words);
    start
}

/// The board has run for long enough, or was told to restart: starts are counted from 0 again.
pub fn settled() {
    RECORD.write(starts::settled());
}

/// Records what has happened, and restarts the board.
pub fn restart(cause: Cause, detail: u32) -> ! {
    RECORD.write(starts::ended(RECORD.read(), cause, detail));
    SCB::sys_reset()
}

/// Declares the handlers of panics and of the processor's faults: both note the place and start the board
/// again, which loses nothing.
#[macro_export]
macro_rules! handlers {
    () => {
        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            // Where, not what: to format the message would take more than a kilobyte of flash.
            let line = info.location().map_or(0, |place| place.line());
            $crate::record::restart(drift_app::message::Cause::Panic, line)
        }

        // SAFETY: `unsafe` is what the attribute asks for; it only reads the frame, and does not return.
        #[cortex_m_rt::exception]
        unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
            $crate::record::restart(drift_app::message::Cause::Fault, frame.pc())
        }
    };
}
