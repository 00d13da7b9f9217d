//! Which legs a detector carries.

use core::fmt::Debug;
use core::marker::PhantomData;

use crate::condition::{Correction, Phase, Profile};
use crate::numeric::Number;
use crate::state::State;

/// Which legs a detector carries: each that is [`Off`] costs neither memory nor time. Rows outside
/// the learned range, stuck and missing readings are always watched.
///
/// ```
/// use fastmmd::monitor::{Config, Detector, Legs, Off, On};
/// use fastmmd::Fourier;
///
/// /// The spread of each channel, for a sensor of vibration, and nothing else.
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Noise;
///
/// impl Legs for Noise {
///     type Level = Off;
///     type Jump = Off;
///     type Spread = On;
///     type Values = Off;
///     type Innovations = Off;
///     type Cycle = Off;
/// }
///
/// static MAP: Fourier<3, 4> = Fourier::additive(1);
/// let config = Config::rows(1e4).with_legs::<Noise>();
/// let detector = Detector::new(&MAP, config)?;
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice of legs",
    label = "not a choice of legs",
    note = "choices are `All`, `Lean`, `Cyclic<N>` and your own types that implement `Legs`"
)]
pub trait Legs: Debug + Clone + Copy + PartialEq + 'static {
    /// The level of each channel against the learned one: slow drift.
    type Level: Switch;
    /// What each channel does beyond what its past predicts: jumps.
    type Jump: Switch;
    /// The spread of that, up and down: noise, dynamics.
    type Spread: Switch;
    /// The joint distribution of all channels: shape, correlation.
    type Values: Switch;
    /// The joint distribution of what they do beyond what their past predicts.
    type Innovations: Switch;
    /// A profile of level and spread by the phase of a cycle, for signals whose
    /// [period](super::super::Config::period) is known: [`Off`], or [`Bins`].
    type Cycle: Cycle;
}

/// All legs: the default. Without a profile by phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct All;

impl Legs for All {
    type Level = On;
    type Jump = On;
    type Spread = On;
    type Values = On;
    type Innovations = On;
    type Cycle = Off;
}

/// Level and jumps of each channel, and nothing jointly: for small devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lean;

impl Legs for Lean {
    type Level = On;
    type Jump = On;
    type Spread = Off;
    type Values = Off;
    type Innovations = Off;
    type Cycle = Off;
}

/// All legs, and a profile of N parts of a cycle: 12·N bytes a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cyclic<const N: usize>;

impl<const N: usize> Legs for Cyclic<N> {
    type Level = On;
    type Jump = On;
    type Spread = On;
    type Values = On;
    type Innovations = On;
    type Cycle = Bins<N>;
}

/// [`On`] or [`Off`].
#[diagnostic::on_unimplemented(
    message = "a leg is `On` or `Off`, not `{Self}`",
    label = "neither `On` nor `Off`"
)]
#[expect(private_bounds, reason = "what a leg keeps is the crate's own business")]
pub trait Switch: Storage + Debug + Clone + Copy + PartialEq + 'static {
    /// Whether the leg is carried.
    const ON: bool;
}

/// Whether there is a profile by phase: [`Off`], or [`Bins`].
#[diagnostic::on_unimplemented(
    message = "a profile by phase is `Off` or `Bins<N>`, not `{Self}`",
    label = "neither `Off` nor `Bins<N>`"
)]
#[expect(private_bounds, reason = "what a profile keeps is the crate's own business")]
pub trait Cycle: Profiles + Debug + Clone + Copy + PartialEq + 'static {
    /// Parts of a cycle; 0 without a profile.
    const BINS: usize;
}

/// A profile of N equal parts of a cycle: 12·N bytes a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bins<const N: usize>;

impl<const N: usize> Cycle for Bins<N> {
    const BINS: usize = N;
}

impl Cycle for Off {
    const BINS: usize = 0;
}

/// What is known of a channel by phase.
pub(crate) trait Profiles {
    /// The profile, or nothing.
    type Of<N: Number>: ByPhase<N> + State + Clone + PartialEq + Debug;
    /// Where in the cycle a signal is, or nothing.
    type Phase: Slot<Phase> + Clone + PartialEq + Debug;
}

impl<const N: usize> Profiles for Bins<N> {
    type Of<T: Number> = Profile<T, N>;
    type Phase = Phase;
}

impl Profiles for Off {
    type Of<T: Number> = Nothing<()>;
    type Phase = Nothing<Phase>;
}

/// A profile that may be none.
pub(crate) trait ByPhase<N> {
    /// Takes a value of a healthy channel.
    fn learn(&mut self, phase: u32, value: N);
    /// Ends learning.
    fn freeze(&mut self);
    /// Goes on as if all values had been measured as they will be.
    fn correct(&mut self, correction: Correction, frozen: bool);
    /// A value less the level of its phase, in units of the spread there.
    fn residual(&self, phase: u32, period: f32, value: N) -> N;
}

impl<N: Number, const B: usize> ByPhase<N> for Profile<N, B> {
    fn learn(&mut self, phase: u32, value: N) {
        self.learn(phase, value);
    }

    fn freeze(&mut self) {
        self.freeze();
    }

    fn correct(&mut self, correction: Correction, frozen: bool) {
        self.correct(correction, frozen);
    }

    fn residual(&self, phase: u32, period: f32, value: N) -> N {
        self.residual(phase, period, value)
    }
}

impl<N> ByPhase<N> for Nothing<()> {
    fn learn(&mut self, _phase: u32, _value: N) {}

    fn freeze(&mut self) {}

    fn correct(&mut self, _correction: Correction, _frozen: bool) {}

    #[inline(always)]
    fn residual(&self, _phase: u32, _period: f32, value: N) -> N {
        value
    }
}

/// Where a leg is kept.
pub(crate) trait Storage {
    /// The leg, or nothing.
    type Of<T: State + Clone + PartialEq + Debug>: Slot<T> + Clone + PartialEq + Debug;
}

/// The place of a leg that is carried or not.
pub(crate) type Carried<S, T> = <S as Storage>::Of<T>;

/// The leg is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct On;

/// The leg is not carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Off;

impl Switch for On {
    const ON: bool = true;
}

impl Storage for On {
    type Of<T: State + Clone + PartialEq + Debug> = T;
}

impl Switch for Off {
    const ON: bool = false;
}

impl Storage for Off {
    type Of<T: State + Clone + PartialEq + Debug> = Nothing<T>;
}

/// A place for a leg.
pub(crate) trait Slot<T>: State {
    fn carried(&self) -> Option<&T>;
    fn carried_mut(&mut self) -> Option<&mut T>;
}

impl<T: State> Slot<T> for T {
    #[inline(always)]
    fn carried(&self) -> Option<&T> {
        Some(self)
    }

    #[inline(always)]
    fn carried_mut(&mut self) -> Option<&mut T> {
        Some(self)
    }
}

/// No leg.
pub(crate) type Nothing<T> = PhantomData<T>;

impl<T: State> Slot<T> for Nothing<T> {
    #[inline(always)]
    fn carried(&self) -> Option<&T> {
        None
    }

    #[inline(always)]
    fn carried_mut(&mut self) -> Option<&mut T> {
        None
    }
}
