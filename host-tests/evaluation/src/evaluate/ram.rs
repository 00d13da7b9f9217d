//! The RAM of a detector, and of each of its legs.

use fastmmd::Fourier;
use fastmmd::monitor::{All, Detector, Legs, Off, On};

use super::table::Table;
use super::{Check, Draw, Report, Scope};
use fastmmd_reference::{real, tolerance};

macro_rules! legs {
    ($($name:ident: $level:ident $jump:ident $spread:ident $values:ident $innovations:ident;)*) => {
        $(
            #[derive(Debug, Clone, Copy, PartialEq)]
            struct $name;

            impl Legs for $name {
                type Level = $level;
                type Jump = $jump;
                type Spread = $spread;
                type Values = $values;
                type Innovations = $innovations;
                type Cycle = Off;
            }
        )*
    };
}

legs! {
    NoLevel: Off On On On On;
    NoJump: On Off On On On;
    NoSpread: On On Off On On;
    NoValues: On On On Off On;
    NoInnovations: On On On On Off;
    Least: Off Off Off Off Off;
}

/// Bytes of a detector of C channels.
const fn bytes<L: Legs, const C: usize>() -> usize {
    size_of::<Detector<'static, Fourier<C, 32>, L>>()
}

fn line<const C: usize>() -> [String; 9] {
    let all = bytes::<All, C>();
    [
        C,
        all,
        all - bytes::<NoLevel, C>(),
        all - bytes::<NoJump, C>(),
        all - bytes::<NoSpread, C>(),
        all - bytes::<NoValues, C>(),
        all - bytes::<NoInnovations, C>(),
        bytes::<Least, C>(),
        size_of::<Fourier<C, 32>>(),
    ]
    .map(|count| count.to_string())
}

/// What the pointer to the map and its padding take more on a host of 64 bits.
const WIDE: usize = 8;

/// Whether a detector of so many bytes on the host is within its bound on a device of 32 bits.
fn fits(bytes: usize) -> bool {
    real(bytes - WIDE) <= tolerance::RAM.limit
}

/// The section. Sizes are those of the host.
#[must_use]
pub fn run(_scope: Scope, _draw: Draw) -> Report {
    let mut report = Report::new(
        "RAM",
        "Bytes of a detector (`size_of` on a host of 64 bits; 8 less on a device of 32) with 32 frequencies; what each leg takes, and \
         what is left without any: range, stuck, missing, and the predictor. The map is constant \
         and may lie in flash.",
    );
    let mut table = Table::new([
        "channels",
        "default",
        "level",
        "jump",
        "spread",
        "values",
        "innovations",
        "without legs",
        "map",
    ]);
    table.line(line::<1>());
    table.line(line::<3>());
    table.line(line::<8>());
    report.table("Bytes", &table);
    let three = bytes::<All, 3>();
    report.hold(Check {
        what: "bytes of the default, 3 channels".to_owned(),
        value: real(three),
        kept: fits(three),
    });
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legs_add_up_and_more_channels_do_not_fit() {
        assert!(fits(bytes::<All, 3>()) && !fits(bytes::<All, 8>()));
        let all = bytes::<All, 3>();
        let legs = [
            bytes::<NoLevel, 3>(),
            bytes::<NoJump, 3>(),
            bytes::<NoSpread, 3>(),
            bytes::<NoValues, 3>(),
            bytes::<NoInnovations, 3>(),
        ];
        let sum: usize = legs.iter().map(|without| all - without).sum();
        assert!(sum.abs_diff(all - bytes::<Least, 3>()) <= 40);
    }
}
