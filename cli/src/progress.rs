//! Who is told how much of a log is done.

#[cfg(feature = "terminal")]
use crate::bar::Bar;

pub(crate) enum Progress<'p> {
    #[cfg(feature = "terminal")]
    Bar(Bar),
    /// Called with what is done, and with all there is if known.
    Told(&'p mut dyn FnMut(u64, Option<u64>)),
}

impl Progress<'_> {
    /// On a terminal.
    #[cfg(feature = "terminal")]
    pub(crate) fn on_terminal() -> Self {
        Self::Bar(Bar::new())
    }

    /// Shows how much is done, and of how much if known.
    pub(crate) fn show(&mut self, (done, all): (u64, Option<u64>)) {
        match self {
            #[cfg(feature = "terminal")]
            Self::Bar(bar) => bar.show((done, all)),
            Self::Told(tell) => tell(done, all),
        }
    }

    /// Calls `print` with the bar hidden.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match self {
            #[cfg(feature = "terminal")]
            Self::Bar(bar) => bar.aside(print),
            Self::Told(_) => print(),
        }
    }

    pub(crate) fn finish(self) {
        match self {
            #[cfg(feature = "terminal")]
            Self::Bar(bar) => bar.finish(),
            Self::Told(_) => {}
        }
    }
}
