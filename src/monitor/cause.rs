//! One alarm for each cause, for as long as it lasts.

use crate::numeric::Number;
use crate::state::state;

use super::legs::End;
use super::legs::tail::CALM_NATS;

/// Rows without evidence after which a drift is over.
const HOLD: u8 = 100;
/// Rows after an alarm in which joint changes belong to it, and its size is measured.
pub(super) const TOGETHER: u16 = 64;
/// Rows after which an alarm is looked at again.
pub(super) const AMENDED: u64 = 32;
/// A drift alarms again once it is this many times as large as it was.
const AGAIN: f32 = 3.0;

state! {
    /// A kind of change of a channel, or of all together: whether it is going on.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Cause<N: Number> {
        /// Rows until it is over, if nothing more is seen of it; 0 while there is none.
        held: u8,
        /// Rows since it was last reported, at most 65,534; [`WAITING`] while it is still to be reported.
        age: u16,
        /// How large it was in the rows after.
        peak: N,
        /// Whether an alarm was raised for it when it last rose, and not for another of the channel.
        reported: bool,
    }
}

/// The age of a cause that is still to be reported: a row has one alarm, and it was not of this.
const WAITING: u16 = u16::MAX;

/// What becomes of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// Nothing.
    Same,
    /// It opens, or has become much larger.
    Raised,
    /// It is over.
    Closed,
}

impl<N: Number> Cause<N> {
    pub(super) fn is_open(&self) -> bool {
        self.held > 0
    }

    /// Whether no alarm of this cause is to be amended any more.
    pub(super) fn is_settled(&self) -> bool {
        self.is_open() && !self.is_waiting() && u64::from(self.age) > AMENDED
    }

    /// Whether an alarm of this cause is still to be amended: what opens now belongs to it.
    pub(super) fn is_recent(&self) -> bool {
        self.is_open() && self.reported && u64::from(self.age) < AMENDED
    }

    /// Takes the evidence of a row, in nats beyond the promise, and a size that is meaningful for
    /// it, of at least `least`.
    pub(super) fn push(&mut self, excess: N, size: N, least: N) -> Event {
        if !self.is_open() {
            if excess <= N::ZERO {
                return Event::Same;
            }
            *self = Self { held: HOLD, age: WAITING, peak: size, reported: false };
            return Event::Raised;
        }
        let waits = self.is_waiting();
        self.pass();
        self.held = if excess > N::of(-CALM_NATS) { HOLD } else { self.held.saturating_sub(1) };
        if self.held == 0 {
            return Event::Closed;
        }
        if waits || self.age < TOGETHER {
            self.peak = size.or_more(self.peak);
        } else if size > N::of(AGAIN).times(self.peak.or_more(least)) {
            (self.peak, self.age) = (size, WAITING);
            return Event::Raised;
        }
        Event::Same
    }

    /// A row passes without evidence for or against it: a reading was missing.
    pub(super) fn pass(&mut self) {
        if !self.is_waiting() {
            self.age = self.age.saturating_add(1).min(WAITING - 1);
        }
    }

    /// Whether it is still to be reported.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_open() && self.age == WAITING
    }

    /// Whether the alarm of this cause is due to be looked at again.
    pub(super) fn is_to_be_amended(&self) -> bool {
        self.is_open() && self.reported && u64::from(self.age) == AMENDED
    }

    /// An alarm was raised for it.
    pub(super) fn report(&mut self) {
        (self.age, self.reported) = (0, true);
    }

    /// It follows from something else: no alarm is raised for it, and none is to be amended, even
    /// if one was raised when it was smaller.
    pub(super) fn explain(&mut self) {
        (self.age, self.reported) = (0, false);
    }

    /// Rows since it was last reported, at most 65,534.
    pub(super) fn rows(&self) -> u32 {
        if self.is_waiting() { 0 } else { u32::from(self.age) }
    }

    /// How large it was in the rows after it was reported, at the most.
    pub(super) fn size(&self) -> f32 {
        self.peak.value()
    }

    /// Ends it, and returns how; `None` if there was nothing.
    pub(super) fn dismiss(&mut self) -> Option<End> {
        let (open, rows) = (self.is_open(), self.rows());
        self.held = 0;
        open.then_some(End::Dismissed { rows })
    }
}
