//! A picture of named numbers: one bar each.

use std::path::Path;

use plotters::prelude::*;

use crate::fault::Fault;
use crate::plot::{self, ALARM, Area, Drawn, INK, Painted, SIGNAL};

const WIDTH: u32 = 900;
const TITLE: u32 = 44;
const BAR: u32 = 30;
/// Where names end and bars begin.
const NAMES: i32 = 260;
/// Room for the number after a bar.
const NUMBERS: i32 = 90;
/// Most bars in a picture.
const MOST: usize = 40;

struct Bars<'a> {
    title: &'a str,
    bars: &'a [(String, f64)],
}

/// Draws bars into an SVG or PNG file; numbers below 0 are red. Of more than forty, the first.
pub(crate) fn draw(path: &Path, title: &str, bars: &[(String, f64)]) -> Result<(), Fault> {
    let bars = &bars[..bars.len().min(MOST)];
    plot::save(path, &Bars { title, bars })
}

impl Painted for Bars<'_> {
    fn size(&self) -> (u32, u32) {
        let count = u32::try_from(self.bars.len()).unwrap_or(0);
        (WIDTH, TITLE + BAR * count + BAR / 2)
    }

    fn paint<B: DrawingBackend>(&self, root: &Area<'_, B>) -> Drawn<B> {
        root.fill(&WHITE)?;
        root.draw_text(self.title, &plot::text(18, &INK), (16, 12))?;
        let largest = self.bars.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
        let full = f64::from(i32::try_from(WIDTH).unwrap_or(0) - NAMES - NUMBERS);
        for (index, (name, value)) in self.bars.iter().enumerate() {
            let top = i32::try_from(TITLE).unwrap_or(0)
                + i32::try_from(BAR).unwrap_or(0) * i32::try_from(index).unwrap_or(0);
            let share = if largest > 0.0 { value.abs() / largest } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "pixels, at most the width")]
            let end = NAMES + (share * full) as i32;
            let style = plot::text(14, &INK);
            root.draw_text(name, &style, (16, top + 6))?;
            let color = if *value < 0.0 { ALARM } else { SIGNAL };
            root.draw(&Rectangle::new([(NAMES, top + 4), (end, top + 24)], color.filled()))?;
            root.draw_text(&format!("{value:.4}"), &style, (end + 8, top + 6))?;
        }
        Ok(())
    }
}
