//! How often the EEPROM may still be written, so that commands cannot wear it out.

/// So many commands in a row may make the EEPROM be written.
pub(crate) const MAX_WRITES: u8 = 8;

/// And so often it is written in the midst of learning: what [`Config::DEFAULT`](super::Config::DEFAULT) wants
/// for 8192 samples.
pub(crate) const MAX_SAVES: u8 = 15;

/// After so many periods of the sample timer, one more of each.
///
/// A command makes a page be written twice at most: when it is executed, and, if it makes the board learn, when
/// that is done. Saves in the midst of learning use two slots in turn. So a page is written three times for one
/// of each at most. With ten samples per second, who can command the board makes that 231,000 times a year: an
/// EEPROM with an endurance of a million writes lasts for four.
pub(crate) const REFILL_PERIODS: u32 = 4096;

/// How often it may still be written: by commands in the lower half of a byte, while learning in the upper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowance(u8);

impl Allowance {
    /// After a power cut.
    const FULL: Self = Self(MAX_SAVES << 4 | MAX_WRITES);

    /// As it was kept across a reset.
    pub(super) fn of(kept: Option<u8>) -> Self {
        let Self(full) = Self::FULL;
        let kept = kept.unwrap_or(full);
        Self(kept & 0xF0 | (kept & 0x0F).min(MAX_WRITES))
    }

    /// As it is kept.
    pub(super) const fn byte(self) -> u8 {
        self.0
    }

    /// With one more of each.
    pub(super) const fn refilled(self) -> Self {
        let Self(left) = self;
        let writes = if left & 0x0F < MAX_WRITES { 1 } else { 0 };
        let saves = if left >> 4 < MAX_SAVES { 0x10 } else { 0 };
        Self(left + writes + saves)
    }

    /// Less one command, if there is one left.
    pub(super) const fn command(self) -> Option<Self> {
        if self.0 & 0x0F == 0 { None } else { Some(Self(self.0 - 1)) }
    }

    /// Less one save while learning.
    pub(super) const fn save(self) -> Option<Self> {
        if self.0 >> 4 == 0 { None } else { Some(Self(self.0 - 0x10)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_counted_by_itself() {
        let mut left = Allowance::of(None);
        for _ in 0..MAX_WRITES {
            left = left.command().unwrap();
        }
        assert_eq!((left.command(), Allowance::of(Some(left.byte()))), (None, left));
        for _ in 0..MAX_SAVES {
            left = left.save().unwrap();
        }
        assert_eq!((left.save(), left.command(), left.byte()), (None, None, 0));
        left = left.refilled();
        assert!(left.command().unwrap().command().is_none());
        assert!(left.save().unwrap().save().is_none());
        for _ in 0..30 {
            left = left.refilled();
        }
        assert_eq!(left, Allowance::FULL);
        // What no board has kept gives no more than is allowed.
        assert_eq!(Allowance::of(Some(u8::MAX)), Allowance::FULL);
    }
}
