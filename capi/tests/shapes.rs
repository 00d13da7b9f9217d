//! Every shape that is compiled in, through what a device does with it: learn, find a change, save, and
//! go on from what was saved.

use std::ptr;

use fastmmd::monitor::Cyclic;
use fastmmd::{Config, Detector, Fourier, Verdict};
use fastmmd_capi::api::*;
use fastmmd_capi::codes::*;
use fastmmd_capi::shapes::*;
use fastmmd_capi::values::{Alarm, Settings};

const LEARNED: u32 = 768;
const CHANGED: u32 = LEARNED + 200;
const ROWS: u32 = CHANGED + 200;
const PERIOD: u16 = 24;
/// So rarely that there is no false alarm in these rows.
const PROMISE: f32 = 1e8;

/// Counts of a converter: noise about 512 wide on a cycle, higher by 16,000 from `CHANGED` on in the last
/// channel.
fn counts(row: u32, channels: usize) -> Vec<i16> {
    let noise = |seed: u32| {
        let mut state = (row + 1).wrapping_mul(2_654_435_761) ^ seed << 16;
        for (left, right) in [(13, 17), (5, 13), (17, 5)] {
            state ^= state << left;
            state ^= state >> right;
        }
        let part = |shift: u32| (state >> shift & 0x3ff) as i16;
        part(0) + part(10) + part(20) - 1534
    };
    let cycle = 400 * i16::try_from(row % u32::from(PERIOD)).expect("below the period");
    let step = |channel: usize| i16::from(row >= CHANGED && channel + 1 == channels) * 16_000;
    (0..channels).zip(1..).map(|(channel, seed)| noise(seed) + cycle + step(channel)).collect()
}

fn floats(row: u32, channels: usize) -> Vec<f32> {
    counts(row, channels).into_iter().map(|count| f32::from(count) / 512.0).collect()
}

fn settings(period: Option<u16>) -> Settings {
    let mut settings = std::mem::MaybeUninit::uninit();
    // SAFETY: it is written, which the answer says.
    let mut settings = unsafe {
        assert_eq!(fastmmd_defaults(settings.as_mut_ptr(), PROMISE), FASTMMD_OK);
        settings.assume_init()
    };
    settings.learning_rows = LEARNED;
    settings.period = f32::from(period.unwrap_or(0));
    settings
}

/// A detector in memory of its own.
struct Made {
    name: &'static str,
    _memory: Vec<u64>,
    detector: *mut fastmmd_capi::Handle,
    channels: usize,
    saved_bytes: usize,
    floats: bool,
}

impl Made {
    fn new(
        (name, shape): (&'static str, &'static fastmmd_capi::Shape),
        settings: &Settings,
    ) -> Self {
        let mut memory = vec![0_u64; shape.bytes.div_ceil(8)];
        let mut detector = ptr::null_mut();
        let (at, bytes) = (memory.as_mut_ptr().cast(), shape.bytes);
        // SAFETY: all pointers are of variables here, of their types and lengths.
        let made = unsafe { fastmmd_create(at, bytes, shape, settings, &raw mut detector) };
        assert_eq!(made, FASTMMD_OK, "{name}");
        let floats = shape.numbers() == "float";
        let (channels, saved_bytes) = (shape.channels, shape.saved_bytes);
        Self { name, _memory: memory, detector, channels, saved_bytes, floats }
    }

    /// Takes a row; the verdict, and the alarm of one.
    fn push(&mut self, row: u32) -> (i32, Option<Alarm>) {
        let mut alarm = std::mem::MaybeUninit::uninit();
        // SAFETY: the detector is in memory of this structure, and a row has its channels.
        unsafe {
            let verdict = if self.floats {
                let row = floats(row, self.channels);
                fastmmd_push_f32(self.detector, row.as_ptr(), alarm.as_mut_ptr())
            } else {
                let row = counts(row, self.channels);
                fastmmd_push_i16(self.detector, row.as_ptr(), alarm.as_mut_ptr())
            };
            assert!(verdict >= 0, "{} row {row}: {verdict}", self.name);
            let told = matches!(verdict, FASTMMD_ALARM | FASTMMD_AMENDED);
            (verdict, told.then(|| alarm.assume_init()))
        }
    }

    fn save(&self) -> Vec<u8> {
        let (mut bytes, mut written) = (vec![0; self.saved_bytes], 0);
        let out = bytes.as_mut_ptr().cast();
        // SAFETY: as above.
        let saved = unsafe { fastmmd_save(self.detector, out, bytes.len(), &raw mut written) };
        assert_eq!((saved, written), (FASTMMD_OK, bytes.len()), "{}", self.name);
        bytes
    }

    fn restore(&mut self, bytes: &[u8]) {
        // SAFETY: as above.
        let taken = unsafe { fastmmd_restore(self.detector, bytes.as_ptr().cast(), bytes.len()) };
        assert_eq!(taken, FASTMMD_OK, "{}", self.name);
    }

    fn skip(&mut self, rows: u32) {
        // SAFETY: as above.
        assert_eq!(unsafe { fastmmd_skip(self.detector, rows) }, FASTMMD_OK);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow; calls.rs makes the same calls")]
fn every_shape_learns_finds_a_step_and_goes_on_from_what_was_saved() {
    assert_eq!(SHAPES.len(), 14);
    for shape in SHAPES {
        let name = shape.0;
        let settings = settings(name.ends_with("_cycle").then_some(PERIOD));
        let mut made = Made::new(*shape, &settings);
        for row in 0..LEARNED {
            assert_eq!(made.push(row).0, FASTMMD_LEARNING, "{name} row {row}");
        }
        for row in LEARNED..CHANGED {
            assert_eq!(made.push(row).0, FASTMMD_HEALTHY, "{name} row {row}");
        }
        let saved = made.save();
        let mut again = Made::new(*shape, &self::settings(None));
        again.restore(&saved);
        let mut first = None;
        for row in CHANGED..ROWS {
            let told = made.push(row);
            assert_eq!(again.push(row), told, "{name} row {row}");
            first = first.or(told.1);
        }
        let alarm = first.unwrap_or_else(|| panic!("{name}: no alarm"));
        let soon = u64::from(CHANGED)..u64::from(CHANGED) + 20;
        assert!(soon.contains(&alarm.row), "{name}: {alarm:?}");
        assert_eq!(alarm.channel as usize + 1, made.channels, "{name}: {alarm:?}");
        assert_eq!(made.save(), again.save(), "{name}");
        assert_ne!(made.save(), saved, "{name}");
    }
}

/// Rows that a device did not see: with `fastmmd_skip` the cycle goes on, as in Rust.
#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn skipped_rows_keep_the_cycle() {
    static MAP: Fourier<1, 32> = Fourier::additive(1);
    const LOST: u32 = 11;
    let settings = settings(Some(PERIOD));
    let shape = ("fastmmd_f32_1_cycle", &fastmmd_f32_1_cycle);
    let config = Config { learning_rows: LEARNED, ..Config::rows(PROMISE) };
    let config: Config<Cyclic<32>> = config.with_period(f32::from(PERIOD));
    let mut rust = Detector::new(&MAP, config).expect("valid settings");
    let (mut skipping, mut forgetting) = (Made::new(shape, &settings), Made::new(shape, &settings));
    let mut alarms = [0; 2];
    // No step here: rows end before it.
    for row in (0..LEARNED).chain(LEARNED + LOST..CHANGED) {
        if row == LEARNED + LOST {
            skipping.skip(LOST);
            rust.skip(LOST);
        }
        let verdict = rust.push(&[floats(row, 1)[0]]).expect("a row");
        let told = skipping.push(row);
        assert_eq!(matches!(verdict, Verdict::Alarm(_)), told.0 == FASTMMD_ALARM, "row {row}");
        for (count, told) in alarms.iter_mut().zip([told, forgetting.push(row)]) {
            *count += u32::from(told.0 == FASTMMD_ALARM);
        }
    }
    assert_eq!(alarms[0], 0);
    // The control: without it, the cycle is out of step.
    assert!(alarms[1] > 0);
    let mut bytes = vec![0; rust.saved_bytes()];
    rust.save(&mut bytes).expect("room");
    assert_eq!(skipping.save(), bytes);
    assert_ne!(forgetting.save(), bytes);
}
