//! The whole detector as bytes.

use core::marker::PhantomData;

use crate::error::Error;
use crate::features::FeatureMap;
use crate::features::sincos::{Backend, Points};
use crate::numeric::u32_of;
use crate::state::{
    FRAME_BYTES, Kind, Plain, Reader, State, VERSION, Writer, expect, plain, plain_states, read,
    replace, write,
};

use super::config::{Config, Saved};
use super::detector::Detector;
use super::legs::choice::{Cycle, Legs, Switch};
use super::verdict::{Alarm, Change, Leg, Stage};

plain_states!(Stage = Stage::Learning, LastAlarm = LastAlarm::NONE);

/// An alarm, or none. None is kept as one over no rows, all zeros, which there never is: so that all
/// of a new detector is zeros.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct LastAlarm(Alarm);

impl LastAlarm {
    pub(super) const NONE: Self = Self(Alarm {
        row: 0,
        since: 0,
        channel: 0,
        change: Change::Level,
        leg: Leg::Level,
        window: 0,
        score: 0.0,
        threshold: 0.0,
    });

    pub(super) const fn some(alarm: Alarm) -> Self {
        Self(alarm)
    }

    pub(super) fn get(self) -> Option<Alarm> {
        Some(self.0).filter(|alarm| alarm.window > 0)
    }
}

impl Plain for LastAlarm {
    const BYTES: usize = <Option<Alarm>>::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        self.get().write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        match <Option<Alarm> as Plain>::take(reader)? {
            Some(Alarm { window: 0, .. }) => Err(Error::Inconsistent),
            Some(alarm) => Ok(Self(alarm)),
            None => Ok(Self::NONE),
        }
    }
}

impl Alarm {
    /// Length of [`to_bytes`](Self::to_bytes).
    pub const BYTES: usize = <Self as Plain>::BYTES;

    /// The alarm as in a saved state, little-endian: for messages.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        self.write(&mut Writer::new(&mut bytes));
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Inconsistent`] for numbers or codes that no alarm has.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, Error> {
        Self::take(&mut Reader::new(bytes))
    }
}

/// Kept as four bytes, whatever the target has.
impl Plain for usize {
    const BYTES: usize = u32::BYTES;

    fn write(self, writer: &mut Writer<'_>) {
        u32_of(self).write(writer);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Error> {
        u32::take(reader).map(|number| number as usize)
    }
}

/// Declares which legs a record has, each by its switch in [`Legs`], in the order in which they are
/// written; the parts of a cycle come last. A leg that is there and not here does not compile.
macro_rules! saved_legs {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(#[$bins_meta:meta])* pub $bins:ident: u32 = Cycle,
            $($(#[$field_meta:meta])* pub $field:ident: bool = $leg:ident,)*
        }
    ) => {
        plain! {
            $(#[$meta])*
            pub struct $name {
                $($(#[$field_meta])* pub $field: bool,)*
                $(#[$bins_meta])* pub $bins: u32,
            }
        }

        impl $name {
            /// Those of a type.
            #[must_use]
            pub fn of<L: Legs>() -> Self {
                Self {
                    $($field: <L::$leg as Switch>::ON,)*
                    $bins: u32_of(<L::Cycle as Cycle>::BINS),
                }
            }
        }

        /// The same legs as L, to name them all.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[expect(dead_code, reason = "for the compiler alone")]
        struct Each<L>(PhantomData<L>);

        impl<L: Legs> Legs for Each<L> {
            $(type $leg = L::$leg;)*
            type Cycle = L::Cycle;
        }
    };
}

saved_legs! {
    /// Which detector it is, or a record is of, so that one of the right shape can be made to restore it.
    /// The number of channels is that of the inputs in its [recipe](crate::Recipe::restore).
    ///
    /// ```
    /// use fastmmd::monitor::{All, SavedLegs};
    /// use fastmmd::{Config, Detector, Fourier, Recipe};
    ///
    /// static MAP: Fourier<2, 16> = Fourier::additive(1);
    /// let detector = Detector::new(&MAP, Config::rows(1e4))?;
    /// let mut bytes = [0; Detector::<Fourier<2, 16>>::SAVED_BYTES];
    /// detector.save(&mut bytes)?;
    /// assert_eq!(SavedLegs::restore(&bytes)?, SavedLegs::of::<All>());
    /// assert_eq!(Recipe::restore(&bytes)?.inputs, 2);
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[non_exhaustive]
    pub struct SavedLegs {
        /// Parts of a cycle in the profile by phase; 0 without one.
        pub bins: u32 = Cycle,
        /// Whether the level leg is carried.
        pub level: bool = Level,
        /// Whether the jump leg is carried.
        pub jump: bool = Jump,
        /// Whether the spread leg is carried.
        pub spread: bool = Spread,
        /// Whether the joint leg of values is carried.
        pub values: bool = Values,
        /// Whether the joint leg of innovations is carried.
        pub innovations: bool = Innovations,
    }
}

impl SavedLegs {
    /// Whether this leg is carried. Range, stuck and missing readings are looked for by every
    /// detector.
    ///
    /// ```
    /// use fastmmd::monitor::{All, Leg, SavedLegs};
    ///
    /// let legs = SavedLegs::of::<All>();
    /// assert!(Leg::ALL.into_iter().all(|leg| legs.carries(leg)));
    /// ```
    #[must_use]
    pub const fn carries(&self, leg: Leg) -> bool {
        let Self { level, jump, spread, values, innovations, bins: _ } = *self;
        match leg {
            Leg::Level => level,
            Leg::Jump => jump,
            Leg::Spread => spread,
            Leg::Values => values,
            Leg::Innovations => innovations,
            Leg::Range | Leg::Stuck | Leg::Missing => true,
        }
    }

    /// Those of a saved detector.
    ///
    /// # Errors
    /// As [`Recipe::restore`](crate::Recipe::restore), and [`Error::WrongShape`] for a record of
    /// another kind.
    pub fn restore(bytes: &[u8]) -> Result<Self, Error> {
        Self::take(&mut read(bytes)?.payload(Kind::Detector)?)
    }
}

/// Length of a record, by the bytes of its state.
pub(super) const fn record_bytes(state: usize) -> usize {
    FRAME_BYTES + payload_bytes(state)
}

const fn payload_bytes(state: usize) -> usize {
    SavedLegs::BYTES + Saved::BYTES + state
}

impl<M, L> Detector<'_, M, L>
where
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    /// Length of the saved detector, in bytes.
    #[must_use]
    pub fn saved_bytes(&self) -> usize {
        record_bytes(self.state.bytes(VERSION))
    }

    /// Writes everything: settings, what was learned, and the windows as they are, with the
    /// recipe of the map; returns the number of bytes. A restored detector goes on bit for bit
    /// as this one would.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`].
    pub fn save(&self, out: &mut [u8]) -> Result<usize, Error> {
        let length = payload_bytes(self.state.bytes(VERSION));
        let recipe = self.map.recipe();
        write(out, length, Kind::Detector, <M::Backend as Backend>::CODE, recipe, |writer| {
            SavedLegs::of::<L>().write(writer);
            Saved::from(&self.config).write(writer);
            self.state.put(writer);
        })
    }

    /// Replaces the detector, settings included, by a saved one of the same legs, backend and map.
    ///
    /// # Errors
    /// As [`Embedding::restore`](crate::Embedding::restore), and [`Error::WrongShape`] for other
    /// legs; the detector is then as it was.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if SavedLegs::restore(bytes)? != SavedLegs::of::<L>() {
            return Err(Error::WrongShape);
        }
        let length = payload_bytes(self.state.bytes(VERSION));
        let mut reader = expect(bytes, Kind::Detector, self.map, length)?;
        SavedLegs::take(&mut reader)?;
        let config: Config<L> = Config::from(Saved::take(&mut reader)?);
        config.check().map_err(|_| Error::Inconsistent)?;
        replace(&mut self.state, &mut reader)?;
        self.config = config;
        Ok(())
    }
}
