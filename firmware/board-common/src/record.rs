//! Why the board started: kept across the reset, and reported by the app.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use cortex_m::peripheral::SCB;
use drift_app::message::{Cause, Start};

/// What is kept: mark, cause, detail, tries, and a check of them.
type Words = [u32; 5];

const MARK: u32 = 0x5741_5348;

#[repr(C)]
struct Record(UnsafeCell<MaybeUninit<Words>>);

// SAFETY: only read and written by volatile accesses with interrupts that do not touch it, on one core.
unsafe impl Sync for Record {}

// SAFETY: the start-up code does not touch this section; the words are checked before they are used.
#[unsafe(link_section = ".uninit.RECORD")]
static RECORD: Record = Record(UnsafeCell::new(MaybeUninit::uninit()));

const fn check([mark, cause, detail, tries, _]: Words) -> u32 {
    !(mark ^ cause.rotate_left(8) ^ detail.rotate_left(16) ^ tries.rotate_left(24))
}

fn read() -> Option<Words> {
    // SAFETY: valid and aligned; a volatile read gives whatever the RAM holds, and any bits are words.
    let words: Words = unsafe { RECORD.0.get().cast::<Words>().read_volatile() };
    let [mark, .., sum] = words;
    (mark == MARK && sum == check(words)).then_some(words)
}

fn write(cause: Cause, detail: u32, tries: u32) {
    let mut words = [MARK, u32::from(cause.code()), detail, tries, 0];
    words[4] = check(words);
    // SAFETY: valid and aligned; nothing holds a reference to it.
    unsafe { RECORD.0.get().cast::<Words>().write_volatile(words) };
}

/// Why the board has started, given what the hardware says; to be called once. Counts the starts since
/// [`settled`].
pub fn started(hardware: Cause) -> Start {
    let [_, cause, detail, tries, _] = read().unwrap_or([0; 5]);
    let told = u8::try_from(cause).ok().and_then(Cause::from_code);
    let told = told.filter(|cause| matches!(cause, Cause::Fault | Cause::Panic));
    let tries = if hardware == Cause::Power { 1 } else { tries.saturating_add(1) };
    write(Cause::Unknown, 0, tries);
    let (cause, detail) = told.map_or((hardware, 0), |cause| (cause, detail));
    Start { cause, detail, tries: u8::try_from(tries).unwrap_or(u8::MAX) }
}

/// The board has run for long enough, or was told to restart: starts are counted from 0 again.
pub fn settled() {
    write(Cause::Unknown, 0, 0);
}

/// Records what has happened, and restarts the board.
pub fn restart(cause: Cause, detail: u32) -> ! {
    let tries = read().map_or(0, |[_, _, _, tries, _]| tries);
    write(cause, detail, tries);
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
