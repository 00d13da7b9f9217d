//! Detectors with each leg alone, so that the table shows the share of each.

use fastmmd::monitor::{Legs, Off, On};

/// Declares choices of legs, in the order level, jump, spread, values, innovations.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident: $level:ty, $jump:ty, $spread:ty, $values:ty, $innovations:ty;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name;

        impl Legs for $name {
            type Level = $level;
            type Jump = $jump;
            type Spread = $spread;
            type Values = $values;
            type Innovations = $innovations;
            type Cycle = Off;
        }
    )*};
}

choices! {
    /// What is always watched: range, stuck and missing readings.
    Base: Off, Off, Off, Off, Off;
    /// The level of each channel.
    Level: On, Off, Off, Off, Off;
    /// The jumps of each channel.
    Jump: Off, On, Off, Off, Off;
    /// The spread of each channel.
    Spread: Off, Off, On, Off, Off;
    /// The joint distribution of all channels.
    Values: Off, Off, Off, On, Off;
    /// The joint distribution of what they do beyond what their past predicts.
    Innovations: Off, Off, Off, Off, On;
    /// Level and jumps.
    Lean: On, On, Off, Off, Off;
}
