//! Which side of the data a detector looks at.

use super::delay::{Delay, DelayOf};
use super::innovation::{Predictors, Update};
use crate::shape::{Fixed, Length, Per};
use crate::state::{Initial, State, codes, state};

/// What is done to standardised values before they are compared, and how many of the last rows
/// make one vector.
///
/// Implemented by [`Raw`] and [`Innovation`], which say the number of channels C and, where vectors
/// of several rows are compared, the number of inputs D = lags × C.
#[expect(private_bounds, reason = "sealed: a view is part of the saved format")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a view of the data",
    label = "not a view",
    note = "views are `Raw<C>`, `Raw<C, D>` and `Innovation<C>`, with C channels and D inputs"
)]
pub trait View: Kept<C = <Self as View>::Channels, D = <Self as View>::Inputs> {
    /// The number of channels C of a row.
    type Channels: Length;

    /// The number of inputs D of a map for it.
    type Inputs: Length;
}

/// What a detector needs of a view.
pub(crate) trait Kept: State + Clone + PartialEq + core::fmt::Debug {
    type C: Length;
    type D: Length;

    /// Which view it is, where the type says so.
    #[cfg(feature = "serde")]
    const KIND: Option<ViewKind>;

    /// Which view it is.
    fn kind(&self) -> ViewKind;

    /// The values to compare, from standardised ones.
    fn values(&self, standardised: &Per<Self::C, f32>) -> Per<Self::C, f32>;

    /// Takes the standardised values, once what to do with them is known, as the past.
    fn advance(&mut self, standardised: &Per<Self::C, f32>, update: Update);

    /// The last rows of values.
    fn delay(&self) -> &DelayOf<Self::C, Self::D>;

    /// The same, to be changed.
    fn delay_mut(&mut self) -> &mut DelayOf<Self::C, Self::D>;
}

/// The views there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ViewKind {
    /// [`Raw`].
    Raw,
    /// [`Innovation`].
    Innovation,
}

codes!(ViewKind {
    Raw = 0 "raw",
    Innovation = 1 "innovation",
});

state! {
    /// The standardised values as they are: for signals whose healthy values have a fixed
    /// distribution, and for changes of level, spread and shape. 4·D + 4 bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RawOf<C: Length, D: Length> {
        delay: DelayOf<C, D>,
    }
}

/// [`RawOf`] C channels, in vectors of D values: of single rows, if D is not given.
pub type Raw<const C: usize, const D: usize = C> = RawOf<Fixed<C>, Fixed<D>>;

state! {
    /// What each channel does beyond what its past predicts, in units of its own spread: for
    /// signals with strong cycles or trends, whose single values say little.
    ///
    /// A linear predictor of TERMS − 1 lags and a level for each channel, learned by recursive
    /// least squares while the detector learns and fixed afterwards, so that it cannot learn a
    /// change of dynamics away; the spread of the residuals goes on being averaged, over about
    /// 8000 rows. 4·C·(TERMS² + 2·TERMS + 2) + 4·D + 4 bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub struct InnovationOf<C: Length, D: Length; const TERMS> {
        delay: DelayOf<C, D>,
        predictors: Predictors<C, TERMS>,
    }
}

/// [`InnovationOf`] C channels, in vectors of D values: of single rows, if D is not given.
pub type Innovation<const C: usize, const D: usize = C, const TERMS: usize = 4> =
    InnovationOf<Fixed<C>, Fixed<D>, TERMS>;

/// A view that can be a constant, whose shape is checked when compiled.
pub(crate) trait Shaped: Initial {
    const SHAPE: ();
}

impl<const C: usize, const D: usize> Shaped for Raw<C, D> {
    const SHAPE: () = Delay::<C, D>::SHAPE;
}

impl<const C: usize, const D: usize, const TERMS: usize> Shaped for Innovation<C, D, TERMS> {
    const SHAPE: () = {
        let () = Delay::<C, D>::SHAPE;
        let () = Predictors::<Fixed<C>, TERMS>::SHAPE;
    };
}

impl<C: Length, D: Length> View for RawOf<C, D> {
    type Channels = C;
    type Inputs = D;
}

impl<C: Length, D: Length> Kept for RawOf<C, D> {
    type C = C;
    type D = D;

    #[cfg(feature = "serde")]
    const KIND: Option<ViewKind> = Some(ViewKind::Raw);

    fn kind(&self) -> ViewKind {
        ViewKind::Raw
    }

    fn values(&self, standardised: &Per<C, f32>) -> Per<C, f32> {
        standardised.clone()
    }

    fn advance(&mut self, _standardised: &Per<C, f32>, _update: Update) {}

    fn delay(&self) -> &DelayOf<C, D> {
        &self.delay
    }

    fn delay_mut(&mut self) -> &mut DelayOf<C, D> {
        &mut self.delay
    }
}

impl<C: Length, D: Length, const TERMS: usize> View for InnovationOf<C, D, TERMS> {
    type Channels = C;
    type Inputs = D;
}

impl<C: Length, D: Length, const TERMS: usize> Kept for InnovationOf<C, D, TERMS> {
    type C = C;
    type D = D;

    #[cfg(feature = "serde")]
    const KIND: Option<ViewKind> = Some(ViewKind::Innovation);

    fn kind(&self) -> ViewKind {
        ViewKind::Innovation
    }

    fn values(&self, standardised: &Per<C, f32>) -> Per<C, f32> {
        self.predictors.residuals(standardised)
    }

    fn advance(&mut self, standardised: &Per<C, f32>, update: Update) {
        self.predictors.advance(standardised, update);
    }

    fn delay(&self) -> &DelayOf<C, D> {
        &self.delay
    }

    fn delay_mut(&mut self) -> &mut DelayOf<C, D> {
        &mut self.delay
    }
}
