//! The RAM of a detector.

use fastmmd::condition::{Innovation, Raw, View};
use fastmmd::shape::{Fixed, Windows};
use fastmmd::{Detector, Fourier};

use super::table::Table;
use super::{Draw, Report, Scope};

/// Bytes of a detector of D inputs, L frequencies and W windows.
fn bytes<V, const D: usize, const L: usize, const W: usize>() -> String
where
    V: View<Inputs = Fixed<D>>,
{
    size_of::<Detector<'static, Fourier<D, L>, V, Windows<W>>>().to_string()
}

fn line<const C: usize, const D: usize>() -> [String; 8] {
    [
        C.to_string(),
        bytes::<Raw<C>, C, 64, 4>(),
        bytes::<Innovation<C>, C, 64, 4>(),
        bytes::<Raw<C, D>, D, 64, 4>(),
        bytes::<Raw<C>, C, 64, 1>(),
        bytes::<Raw<C>, C, 32, 4>(),
        bytes::<Innovation<C>, C, 16, 3>(),
        size_of::<Fourier<C, 64>>().to_string(),
    ]
}

/// The section. Sizes are those of the host; a 32-bit device needs 4 bytes less per pointer.
#[must_use]
pub fn run(_scope: Scope, _draw: Draw) -> Report {
    let mut report = Report::new(
        "RAM",
        "Bytes of a detector (`size_of`, on the host). Default: 64 frequencies, 4 windows. The map \
         is constant and may lie in flash.",
    );
    let mut table = Table::new([
        "channels",
        "raw",
        "innovation",
        "delay 4",
        "1 window",
        "32 frequencies",
        "innovation, 16 frequencies, 3 windows",
        "map",
    ]);
    table.line(line::<1, 4>());
    table.line(line::<3, 12>());
    table.line(line::<8, 32>());
    report.table("Bytes", &table);
    report
}
