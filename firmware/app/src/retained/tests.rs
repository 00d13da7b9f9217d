use super::*;
use std::vec::Vec;

const SAVED: usize = 24;
const ROWS: usize = 5;

fn memory() -> [u8; memory_bytes(SAVED, ROWS, 2)] {
    [0xA5; memory_bytes(SAVED, ROWS, 2)]
}

fn write(retained: &mut Retained<'_>, bytes: &[u8]) {
    let written = retained.replace(|room| {
        room[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    });
    assert_eq!(written, Ok(()));
}

type Row = [Option<f32>; 2];

const STEPS: Option<[f32; 2]> = Some([100.0 / 1100.0, 0.5]);

fn rows(memory: &mut [u8]) -> Vec<Row> {
    let mut found = Vec::new();
    Retained::new(memory, SAVED).replay(STEPS, |kept| match kept {
        Kept::Row(row) => found.push(*row),
        Kept::Lost(rows) => panic!("{rows} lost rows"),
    });
    found
}

#[test]
fn holds_what_was_written_until_forgotten() {
    let mut memory = memory();
    let mut retained = Retained::new(&mut memory, SAVED);
    assert_eq!(retained.state(), None);
    write(&mut retained, b"abcdef");
    let after_reset = Retained::new(&mut memory, SAVED);
    assert_eq!(after_reset.state(), Some(&b"abcdef"[..]));
    let mut retained = Retained::new(&mut memory, SAVED);
    retained.forget();
    assert_eq!(retained.state(), None);
}

/// Rows in steps, with a missing reading; one that is not, in their midst; and each kind alone.
#[test]
fn rows_come_back_in_order_and_more_follow() {
    let step = |number: i16| Some(f32::from(number) * (100.0 / 1100.0));
    let stepped: Vec<Row> =
        [4, -2000, 0, i16::MAX, -i16::MAX].map(|it| [step(it), Some(-20.5)]).to_vec();
    let mut mixed = stepped[..3].to_vec();
    mixed[0][1] = None;
    mixed[1] = [Some(0.1), Some(-0.0)];
    let others = [[Some(0.1), None], [Some(f32::MAX), Some(16_384.0)], [step(1), Some(0.25)]];
    for (expected, left) in [(&stepped[..], 0), (&mixed, 8), (&others, 0)] {
        let mut memory = memory();
        let mut retained = Retained::new(&mut memory, SAVED);
        write(&mut retained, b"abcdef");
        for (number, row) in expected.iter().enumerate() {
            assert!(retained.append(row, STEPS));
            // Each time as after a reset.
            assert_eq!(rows(&mut memory), expected[..=number]);
            retained = Retained::new(&mut memory, SAVED);
            retained.replay::<2>(STEPS, |_| {});
        }
        assert_eq!(retained.rows.len() - retained.used, left, "{expected:?}");
        while retained.append(&[step(3), Some(1.0)], STEPS) {}
        write(&mut retained, b"ghijkl");
        assert_eq!(rows(&mut memory), [[None; 2]; 0], "those of the state before");
    }
}

/// A reset in the midst of any byte.
#[test]
fn a_torn_row_and_all_behind_it_are_left_out() {
    for (value, length) in [(0.1, 10), (0.0, 6)] {
        let mut whole = memory();
        let mut retained = Retained::new(&mut whole, SAVED);
        write(&mut retained, b"abcdef");
        for number in 0..3_u8 {
            assert!(retained.append(&[Some(value), Some(f32::from(number))], STEPS));
        }
        let first = HEADER_BYTES + SAVED;
        for byte in first..first + 3 * length {
            for bit in 0..8 {
                let mut torn = whole;
                torn[byte] ^= 1 << bit;
                assert_eq!(rows(&mut torn).len(), (byte - first) / length, "byte {byte}");
            }
        }
    }
}

/// Between rows, in order; a damaged number ends what is taken, as a damaged row does.
#[test]
fn lost_rows_come_back_between_the_others() {
    let (row, other) = ([Some(0.1), None], [Some(0.0), Some(2.5)]);
    let mut memory = memory();
    let mut retained = Retained::new(&mut memory, SAVED);
    write(&mut retained, b"abcdef");
    assert!(retained.append(&other, STEPS) && retained.append_lost(7));
    assert!(retained.append(&row, STEPS) && retained.append_lost(u32::MAX));
    assert!(!retained.append_lost(1), "no room");
    let expected = [Kept::Row(other), Kept::Lost(7), Kept::Row(row), Kept::Lost(u32::MAX)];
    let kept = |memory: &mut [u8]| {
        let mut kept = Vec::new();
        Retained::new(memory, SAVED).replay(STEPS, |it| kept.push(*it));
        kept
    };
    assert_eq!(kept(&mut memory), expected);
    for byte in 6..12 {
        let mut torn = memory;
        torn[HEADER_BYTES + SAVED + byte] ^= 8;
        assert_eq!(kept(&mut torn), expected[..1], "byte {byte}");
    }
}

/// What the RAM holds by chance is not taken for rows.
#[test]
fn noise_is_no_row() {
    let mut noise = crate::testing::Noise::new(1);
    let mut taken = 0;
    for _ in 0..20_000 {
        let mut memory = memory();
        memory.iter_mut().for_each(|byte| *byte = noise.byte());
        write(&mut Retained::new(&mut memory, SAVED), b"abcdef");
        Retained::new(&mut memory, SAVED).replay::<2>(STEPS, |_| taken += 1);
    }
    // Three checks of one in 65,536 each: 0.9 expected.
    assert!(taken <= 6, "{taken}");
}

#[test]
fn a_hold_and_the_allowance_survive_a_reset_and_chance_makes_neither() {
    let mut noise = crate::testing::Noise::new(2);
    for _ in 0..20_000 {
        let mut memory = memory();
        memory.iter_mut().for_each(|byte| *byte = noise.byte());
        let retained = Retained::new(&mut memory, SAVED);
        assert_eq!((retained.allowance(), retained.is_held()), (None, false));
    }
    let mut memory = memory();
    for (held, left) in [(true, 0), (false, 255), (true, 8)] {
        let mut retained = Retained::new(&mut memory, SAVED);
        write(&mut retained, b"abcdef");
        retained.set_allowance(left);
        retained.set_held(held);
        let mut retained = Retained::new(&mut memory, SAVED);
        assert_eq!((retained.allowance(), retained.is_held()), (Some(left), held));
        assert_eq!(retained.state(), Some(&b"abcdef"[..]));
        write(&mut retained, b"ghijkl");
        retained.forget();
        write(&mut retained, b"ghijkl");
        let retained = Retained::new(&mut memory, SAVED);
        assert_eq!((retained.allowance(), retained.is_held()), (Some(left), held));
    }
}

#[test]
fn refuses_lengths_beyond_its_room() {
    let mut memory = [0; 20];
    let mut retained = Retained::new(&mut memory, 8);
    let too_long = Fault::new(Device::Detector, FaultKind::TooLong);
    assert_eq!(retained.replace(|_| Ok(9)), Err(too_long));
    assert_eq!(retained.state(), None);
    memory[4..8].copy_from_slice(&MAGIC);
    memory[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(Retained::new(&mut memory, 8).state(), None);
    assert_eq!(Retained::new(&mut [0; 3], 8).state(), None);
    assert_eq!(Retained::new(&mut [0; 12], 8).state(), None);
}
