//! Columns that look as if somebody had annotated the rows: `look` and `replay` tell them by the same rule.

/// A label changes so often at most: a few events begin and end.
const MOST_MOVES: u64 = 6;

/// How the readings of a channel move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moves {
    /// Whether it is 0 or 1 throughout.
    binary: bool,
    last: f32,
    /// How often a reading is not the one before.
    count: u64,
}

impl Moves {
    pub(crate) const NONE: Self = Self { binary: true, last: f32::NAN, count: 0 };

    /// Takes a reading, which is not missing.
    pub(crate) fn note(&mut self, value: f32) {
        self.count += u64::from(!self.last.is_nan() && self.last.to_bits() != value.to_bits());
        self.last = value;
        self.binary &= value.to_bits() == 0 || value.to_bits() == 1_f32.to_bits();
    }

    /// Whether it is 0 or 1 throughout.
    pub(crate) fn is_binary(&self) -> bool {
        self.binary
    }

    /// Whether it is a label by how it moves, and `named` as one or not.
    pub(crate) fn is_label(&self, named: bool) -> bool {
        self.binary && (named || (1..=MOST_MOVES).contains(&self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(values: &[f32]) -> Moves {
        let mut moves = Moves::NONE;
        values.iter().for_each(|value| moves.note(*value));
        moves
    }

    #[test]
    fn few_moves_between_0_and_1_are_a_label() {
        let events = moves(&[0.0, 0.0, 1.0, 1.0, 0.0]);
        assert!(events.is_label(false) && events.is_label(true));
        let valve = moves(&[0.0, 1.0].repeat(20));
        assert!(!valve.is_label(false) && valve.is_label(true) && valve.is_binary());
        let never = moves(&[0.0; 9]);
        assert!(!never.is_label(false) && never.is_label(true));
        let measured = moves(&[0.0, 1.0, 0.5]);
        assert!(!measured.is_label(false) && !measured.is_label(true));
    }
}
