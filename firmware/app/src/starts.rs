//! Why a board started, and how often in a row: what it keeps of that in RAM across a reset.
//!
//! A board that starts again and again, none of its starts lasting for long, stops at a safe state in
//! which it only talks ([`App::start`](crate::App::start)). This is the part that decides; the board
//! reads and writes the words.

use crate::message::{Cause, Start};

/// What is kept: mark, cause, detail, tries, and a check of them.
pub type Words = [u32; WORDS];

/// Number of words that are kept.
pub const WORDS: usize = 5;

const MARK: u32 = 0x5741_5348;

const fn check([mark, cause, detail, tries, _]: Words) -> u32 {
    !(mark ^ cause.rotate_left(8) ^ detail.rotate_left(16) ^ tries.rotate_left(24))
}

const fn words(cause: Cause, detail: u32, tries: u32) -> Words {
    let mut words = [MARK, cause.code() as u32, detail, tries, 0];
    words[4] = check(words);
    words
}

/// The words, if they were kept and not what the RAM holds by chance.
fn checked(kept: Words) -> Option<Words> {
    let [mark, .., sum] = kept;
    (mark == MARK && sum == check(kept)).then_some(kept)
}

/// Why the board has started, given what was kept and what the hardware says; and what to keep now.
/// Counts the starts since the last that [`settled`].
#[must_use]
pub fn started(kept: Words, hardware: Cause) -> (Start, Words) {
    let [_, cause, detail, tries, _] = checked(kept).unwrap_or([0; WORDS]);
    let told = u8::try_from(cause).ok().and_then(Cause::from_code);
    let told = told.filter(|cause| matches!(cause, Cause::Fault | Cause::Panic));
    // On some chips the note that the power came on stays until the next power cut (RP2040). But then the RAM
    // would not hold a record.
    let is_first = hardware == Cause::Power && told.is_none();
    let tries = if is_first { 1 } else { tries.saturating_add(1) };
    let (cause, detail) = told.map_or((hardware, 0), |cause| (cause, detail));
    let start = Start { cause, detail, tries: u8::try_from(tries).unwrap_or(u8::MAX) };
    (start, words(Cause::Unknown, 0, tries))
}

/// What to keep when the board has run for long enough, or was told to restart: starts are counted
/// from 0 again.
#[must_use]
pub const fn settled() -> Words {
    words(Cause::Unknown, 0, 0)
}

/// What to keep when this has happened, and the board restarts.
#[must_use]
pub fn ended(kept: Words, cause: Cause, detail: u32) -> Words {
    let tries = checked(kept).map_or(0, |[_, _, _, tries, _]| tries);
    words(cause, detail, tries)
}

/// Says once when a start has succeeded.
#[derive(Debug, Default)]
pub struct Settling {
    done: bool,
}

impl Settling {
    /// Periods of the sample timer after which a start has succeeded.
    pub const PERIODS: u32 = 300;

    /// Whether that is so for the first time. `periods` may skip any number: the board may have been
    /// busy for longer than one.
    pub const fn is_now(&mut self, periods: u32) -> bool {
        let now = !self.done && periods >= Self::PERIODS;
        self.done |= now;
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// What the RAM holds after the power came on.
    const NOTHING: Words = [0xDEAD_BEEF; WORDS];

    #[test]
    fn starts_are_counted_until_one_settles() {
        let (start, mut kept) = started(NOTHING, Cause::Power);
        assert_eq!(start, Start { cause: Cause::Power, detail: 0, tries: 1 });
        for tries in 2..=300_u32 {
            let (start, next) = started(kept, Cause::Watchdog);
            let tries = u8::try_from(tries).unwrap_or(u8::MAX);
            assert_eq!(start, Start { cause: Cause::Watchdog, detail: 0, tries });
            kept = next;
        }
        assert_eq!(started(settled(), Cause::Pin).0.tries, 1);
        assert_eq!(started(kept, Cause::Power).0.tries, 1);
    }

    #[test]
    fn a_panic_or_fault_is_told_once_and_counts_on() {
        for cause in [Cause::Panic, Cause::Fault] {
            let (_, kept) = started(started(NOTHING, Cause::Pin).1, Cause::Pin);
            let (start, kept) = started(ended(kept, cause, 77), Cause::Software);
            assert_eq!(start, Start { cause, detail: 77, tries: 3 });
            let (start, _) = started(kept, Cause::Software);
            assert_eq!(start, Start { cause: Cause::Software, detail: 0, tries: 4 });
        }
        // A cause that only the hardware tells is not taken from the RAM.
        let (start, _) = started(ended(settled(), Cause::Power, 5), Cause::Watchdog);
        assert_eq!(start, Start { cause: Cause::Watchdog, detail: 0, tries: 1 });
        // A panic before the first word was written.
        assert_eq!(started(ended(NOTHING, Cause::Panic, 5), Cause::Software).0.tries, 1);
    }

    /// A chip that always says that the power came on.
    #[test]
    fn panics_are_counted_also_if_the_hardware_speaks_of_power() {
        let (mut start, mut kept) = started(NOTHING, Cause::Power);
        for tries in 2..=9 {
            (start, kept) = started(ended(kept, Cause::Panic, 7), Cause::Power);
            assert_eq!(start, Start { cause: Cause::Panic, detail: 7, tries });
        }
        assert_eq!(start.tries, 9);
        assert_eq!(started(settled(), Cause::Power).0.tries, 1, "told to restart");
    }

    #[test]
    fn a_damaged_record_is_none() {
        let whole = ended(started(settled(), Cause::Pin).1, Cause::Panic, 1234);
        assert_eq!(started(whole, Cause::Pin).0.tries, 2);
        for word in 0..whole.len() {
            for bit in 0..32 {
                let mut damaged = whole;
                damaged[word] ^= 1 << bit;
                let (start, _) = started(damaged, Cause::Pin);
                assert_eq!(start, Start { cause: Cause::Pin, detail: 0, tries: 1 }, "{word} {bit}");
            }
        }
    }

    /// A save may keep the board busy while the period passes in which it settles.
    #[test]
    fn a_start_settles_once_also_if_the_moment_was_missed() {
        let seen = [0, 299, 302, 302, 900, u32::MAX, 0, 300];
        let mut settling = Settling::default();
        let said: Vec<bool> = seen.iter().map(|periods| settling.is_now(*periods)).collect();
        assert_eq!(said, [false, false, true, false, false, false, false, false]);
        assert!(Settling::default().is_now(Settling::PERIODS));
    }
}
