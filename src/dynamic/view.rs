//! Views of any number of channels.

use super::lengths::{Channels, Inputs};
use crate::condition::{DelayOf, InnovationOf, Kept, RawOf, Update, ViewKind};
use crate::error::Error;
use crate::shape::{Dims, Per};
use crate::state::{Reader, State, Writer};

/// One of the views, chosen at run time.
#[derive(Debug, Clone, PartialEq)]
pub struct View(Chosen);

#[derive(Debug, Clone, PartialEq)]
enum Chosen {
    Raw(RawOf<Channels, Inputs>),
    Innovation(InnovationOf<Channels, Inputs, 4>),
}

impl View {
    pub(super) fn new(kind: ViewKind, dims: &Dims) -> Self {
        Self(match kind {
            ViewKind::Raw => Chosen::Raw(State::make(dims)),
            ViewKind::Innovation => Chosen::Innovation(State::make(dims)),
        })
    }
}

impl crate::condition::View for View {
    type Channels = Channels;
    type Inputs = Inputs;
}

/// Evaluates an expression for the view that was chosen.
macro_rules! either {
    ($view:expr, $chosen:ident => $result:expr) => {
        match $view {
            Chosen::Raw($chosen) => $result,
            Chosen::Innovation($chosen) => $result,
        }
    };
}

impl Kept for View {
    type C = Channels;
    type D = Inputs;

    #[cfg(feature = "serde")]
    const KIND: Option<ViewKind> = None;

    fn kind(&self) -> ViewKind {
        either!(&self.0, view => view.kind())
    }

    fn values(&self, standardised: &Per<Channels, f32>) -> Per<Channels, f32> {
        either!(&self.0, view => view.values(standardised))
    }

    fn advance(&mut self, standardised: &Per<Channels, f32>, update: Update) {
        either!(&mut self.0, view => view.advance(standardised, update));
    }

    fn delay(&self) -> &DelayOf<Channels, Inputs> {
        either!(&self.0, view => view.delay())
    }

    fn delay_mut(&mut self) -> &mut DelayOf<Channels, Inputs> {
        either!(&mut self.0, view => view.delay_mut())
    }
}

impl State for View {
    fn make(dims: &Dims) -> Self {
        Self::new(ViewKind::Raw, dims)
    }

    fn reset(&mut self) {
        either!(&mut self.0, view => view.reset());
    }

    fn copy_from(&mut self, other: &Self) {
        self.clone_from(other);
    }

    fn bytes(&self, version: u8) -> usize {
        either!(&self.0, view => view.bytes(version))
    }

    fn put(&self, writer: &mut Writer<'_>) {
        either!(&self.0, view => view.put(writer));
    }

    fn check(&self, reader: &mut Reader<'_>) -> Result<(), Error> {
        either!(&self.0, view => view.check(reader))
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        either!(&mut self.0, view => view.read(reader))
    }
}
