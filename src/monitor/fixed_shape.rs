//! Which detectors can be constants.

use crate::features::sincos::Points;
use crate::features::{FeatureMap, NumberOf};
use crate::shape::Per;
use crate::state::Initial;

use super::channel::Channel;
use super::detector::Memory;
use super::legs::choice::{All, Carried, Legs, Profiles};
use super::legs::joint::Joint;

/// A map whose shape is in its type, with the legs `L`: what [`Detector::new`](super::Detector::new)
/// needs. Every map has it, with any legs, but for those of `dynamic`. Sealed.
///
/// Only generic code has to name it:
///
/// ```
/// use fastmmd::monitor::{All, FixedShape, Legs};
/// use fastmmd::{Config, Detector, Error, Fourier, Verdict, checked};
///
/// /// A sensor with its detector, of any shape.
/// struct Node<'m, M: FixedShape<L>, L: Legs> {
///     name: &'static str,
///     detector: Detector<'m, M, L>,
/// }
///
/// impl<'m, M: FixedShape<L>, L: Legs> Node<'m, M, L> {
///     /// Bytes to reserve for its state.
///     const BYTES: usize = Detector::<'m, M, L>::SAVED_BYTES;
///
///     fn new(name: &'static str, map: &'m M, config: Config<L>) -> Result<Self, Error> {
///         Ok(Self { name, detector: Detector::new(map, config)? })
///     }
/// }
///
/// static MAP: Fourier<2, 16> = Fourier::additive(1);
/// static PUMP: Node<Fourier<2, 16>, All> =
///     Node { name: "pump", detector: checked!(Detector::new(&MAP, Config::rows(1e4))) };
///
/// let mut node = Node::new("fan", &MAP, Config::rows(1e4).with_period(50.0))?;
/// let verdict = node.detector.push(&[20.5, 1013.0])?;
/// assert!(matches!(verdict, Verdict::Learning { .. }), "{}", node.name);
/// assert_eq!(PUMP.detector.saved_bytes(), Node::<Fourier<2, 16>, All>::BYTES);
/// # Ok::<(), fastmmd::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`Detector::new` cannot make a detector of `{Self}`",
    label = "not a map with its shape in its type",
    note = "a `dynamic::Map` needs `dynamic::detector`",
    note = "in generic code over a map `M` and legs `L`, ask for `M: fastmmd::monitor::FixedShape<L>`"
)]
#[expect(private_bounds, reason = "what a detector keeps is the crate's own business")]
pub trait FixedShape<L: Legs = All>: FeatureMap<Backend: Points> + Fresh<L> {}

// Messages of the compiler then name this trait, not what the crate needs for it.
#[diagnostic::do_not_recommend]
impl<M: FeatureMap<Backend: Points> + Fresh<L>, L: Legs> FixedShape<L> for M {}

/// What a detector keeps, as a constant.
pub(super) trait Fresh<L: Legs>: FeatureMap {
    /// That of a detector that has seen nothing.
    const MEMORY: Memory<Self::Inputs, Self::Frequencies, L, NumberOf<Self>>;
    /// Its saved length, in bytes.
    const SAVED: usize;
}

impl<M, L> Fresh<L> for M
where
    M: FeatureMap,
    L: Legs,
    Per<M::Inputs, Channel<L, NumberOf<M>>>: Initial,
    Carried<L::Values, Joint<M::Frequencies, NumberOf<M>>>: Initial,
    Carried<L::Innovations, Joint<M::Frequencies, NumberOf<M>>>: Initial,
    <L::Cycle as Profiles>::Phase: Initial,
{
    const MEMORY: Memory<M::Inputs, M::Frequencies, L, NumberOf<M>> = Memory::initial();
    const SAVED: usize = <Memory<M::Inputs, M::Frequencies, L, NumberOf<M>>>::SAVED;
}
