//! Numbers of verdicts, errors and kinds, and what they say.

use core::ffi::c_char;

use fastmmd::monitor::{Change, Leg, Stage, Steadiness, Verdict};
use fastmmd::{Error, Parameter};

/// Done.
pub const FASTMMD_OK: i32 = 0;

/// Verdict: still learning what is healthy.
pub const FASTMMD_LEARNING: i32 = 1;
/// Verdict: nothing differs from what was learned by more than the promise allows.
pub const FASTMMD_HEALTHY: i32 = 2;
/// Verdict: something has changed. Once for each cause.
pub const FASTMMD_ALARM: i32 = 3;
/// Verdict: an alarm of 32 rows before, as it looks now.
pub const FASTMMD_AMENDED: i32 = 4;
/// Verdict: something that an alarm was raised for still differs.
pub const FASTMMD_DRIFTING: i32 = 5;

/// Stage: learning.
pub const FASTMMD_STAGE_LEARNING: i32 = 0;
/// Stage: comparing rows with what was learned.
pub const FASTMMD_STAGE_MONITORING: i32 = 1;
/// Stage: the same, while something differs.
pub const FASTMMD_STAGE_DRIFT: i32 = 2;

/// Change: the level of a channel.
pub const FASTMMD_CHANGE_LEVEL: i32 = 0;
/// Change: its spread.
pub const FASTMMD_CHANGE_SPREAD: i32 = 1;
/// Change: the shape of its distribution, or how channels go together.
pub const FASTMMD_CHANGE_SHAPE: i32 = 2;
/// Change: single readings far out, more often than was learned.
pub const FASTMMD_CHANGE_OUTLIERS: i32 = 3;
/// Change: it has stopped moving.
pub const FASTMMD_CHANGE_STUCK: i32 = 4;
/// Change: its readings do not come.
pub const FASTMMD_CHANGE_MISSING: i32 = 5;

/// Leg: the level of a channel: cumulative sum and long means.
pub const FASTMMD_LEG_LEVEL: i32 = 0;
/// Leg: short means of what its past does not predict.
pub const FASTMMD_LEG_JUMP: i32 = 1;
/// Leg: the spread of that.
pub const FASTMMD_LEG_SPREAD: i32 = 2;
/// Leg: readings farther out than those learned.
pub const FASTMMD_LEG_RANGE: i32 = 3;
/// Leg: the joint distribution of all channels.
pub const FASTMMD_LEG_VALUES: i32 = 4;
/// Leg: the joint distribution of what their past does not predict.
pub const FASTMMD_LEG_INNOVATIONS: i32 = 5;
/// Leg: a reading that does not change at all.
pub const FASTMMD_LEG_STUCK: i32 = 6;
/// Leg: readings that do not come.
pub const FASTMMD_LEG_MISSING: i32 = 7;

/// The level of a channel stayed while learning.
pub const FASTMMD_STEADY: i32 = 0;
/// It may wander: alarms of the level need more evidence.
pub const FASTMMD_DOUBTFUL: i32 = 1;
/// It wanders: the legs of the level are off.
pub const FASTMMD_WANDERING: i32 = 2;

/// Setting: a row with a reading that is not a number is refused.
pub const FASTMMD_NAN_REFUSED: i32 = 0;
/// Setting: such a reading is missing; the others of its row count.
pub const FASTMMD_NAN_MISSING: i32 = 1;

/// A pointer is null.
pub const FASTMMD_ERROR_NULL: i32 = -1;
/// A pointer is not aligned for what it points to; memory of a detector: to FASTMMD_ALIGN bytes.
pub const FASTMMD_ERROR_MISALIGNED: i32 = -2;
/// The memory is smaller than fastmmd_bytes says.
pub const FASTMMD_ERROR_MEMORY_TOO_SMALL: i32 = -3;
/// There is no detector at this address: not created, or written over.
pub const FASTMMD_ERROR_NOT_A_DETECTOR: i32 = -4;
/// Rows of float for a detector of int16_t, or the other way round.
pub const FASTMMD_ERROR_WRONG_NUMBERS: i32 = -5;
/// The settings were not set by fastmmd_defaults, or by that of another version.
pub const FASTMMD_ERROR_SETTINGS: i32 = -6;
/// There is no such channel.
pub const FASTMMD_ERROR_NO_SUCH_CHANNEL: i32 = -7;
/// The rows would not fit into memory.
pub const FASTMMD_ERROR_TOO_MANY_ROWS: i32 = -8;

/// The setting mean_time_between_false_alarms is out of range.
pub const FASTMMD_ERROR_MEAN_TIME: i32 = -20;
/// The setting learning_rows is out of range.
pub const FASTMMD_ERROR_LEARNING_ROWS: i32 = -21;
/// The setting period is out of range, or the shape has no cycle.
pub const FASTMMD_ERROR_PERIOD: i32 = -22;
/// The setting relearn_after is out of range.
pub const FASTMMD_ERROR_RELEARN_AFTER: i32 = -23;
/// The setting not_a_number is none of FASTMMD_NAN_....
pub const FASTMMD_ERROR_NOT_A_NUMBER: i32 = -24;

/// The buffer is smaller than fastmmd_saved_bytes says.
pub const FASTMMD_ERROR_BUFFER_TOO_SMALL: i32 = -40;
/// The bytes are not a saved state.
pub const FASTMMD_ERROR_NOT_A_STATE: i32 = -41;
/// The saved state has a newer format.
pub const FASTMMD_ERROR_NEWER_VERSION: i32 = -42;
/// The saved state is cut short, or has bytes left over.
pub const FASTMMD_ERROR_WRONG_LENGTH: i32 = -43;
/// The saved state is incomplete or altered.
pub const FASTMMD_ERROR_CHECKSUM: i32 = -44;
/// The saved state is of another shape.
pub const FASTMMD_ERROR_WRONG_SHAPE: i32 = -45;
/// The saved state is of another map.
pub const FASTMMD_ERROR_MAP_MISMATCH: i32 = -46;
/// The saved values contradict each other.
pub const FASTMMD_ERROR_INCONSISTENT: i32 = -47;

/// Refused for a reason that this version has no number for.
pub const FASTMMD_ERROR_OTHER: i32 = -99;

/// Less the number of the channel: its reading is not a finite number. fastmmd_error_channel gives
/// the channel of an error.
pub const FASTMMD_ERROR_NOT_FINITE: i32 = -1000;
/// Less the number of the channel: its reading is too large.
pub const FASTMMD_ERROR_TOO_LARGE: i32 = -2000;

/// Most channels of a shape: a bit of a mask for each.
pub(crate) const MOST_CHANNELS: u32 = u32::BITS;

/// The number of an error of the core.
pub(crate) fn of_error(error: Error) -> i32 {
    match error {
        Error::NonFinite(Parameter::Channel(channel)) => {
            FASTMMD_ERROR_NOT_FINITE.saturating_sub_unsigned(channel_number(channel))
        }
        Error::OutOfRange(Parameter::Channel(channel)) => {
            FASTMMD_ERROR_TOO_LARGE.saturating_sub_unsigned(channel_number(channel))
        }
        Error::NonFinite(parameter) | Error::OutOfRange(parameter) => match parameter {
            Parameter::MeanTime => FASTMMD_ERROR_MEAN_TIME,
            Parameter::LearningRows => FASTMMD_ERROR_LEARNING_ROWS,
            Parameter::Period => FASTMMD_ERROR_PERIOD,
            Parameter::RelearnRows => FASTMMD_ERROR_RELEARN_AFTER,
            // No function for C takes these.
            Parameter::Channel(_)
            | Parameter::Weight
            | Parameter::Bandwidth
            | Parameter::Amplitude
            | Parameter::Keep
            | Parameter::Level
            | Parameter::Block
            | Parameter::Frequency
            | Parameter::Window
            | Parameter::ScalingRows
            | Parameter::DecimatedRows => FASTMMD_ERROR_OTHER,
            // The core may name more, which a test below does not allow.
            _ => FASTMMD_ERROR_OTHER,
        },
        Error::BufferTooSmall { .. } => FASTMMD_ERROR_BUFFER_TOO_SMALL,
        Error::NotAState => FASTMMD_ERROR_NOT_A_STATE,
        Error::NewerVersion(_) => FASTMMD_ERROR_NEWER_VERSION,
        Error::WrongLength => FASTMMD_ERROR_WRONG_LENGTH,
        Error::ChecksumMismatch => FASTMMD_ERROR_CHECKSUM,
        Error::WrongShape => FASTMMD_ERROR_WRONG_SHAPE,
        Error::MapMismatch => FASTMMD_ERROR_MAP_MISMATCH,
        Error::Inconsistent => FASTMMD_ERROR_INCONSISTENT,
        // Of calls that C does not have.
        Error::PhaseTooLarge
        | Error::NotSpherical
        | Error::NotGaussian
        | Error::Empty
        | Error::TooFewSamples
        | Error::NothingToRemove
        | Error::Full
        | Error::NotLearned
        | Error::NotComparable => FASTMMD_ERROR_OTHER,
        _ => FASTMMD_ERROR_OTHER,
    }
}

/// As a number of C. No shape has so many channels that it would be another one.
pub(crate) fn channel_number(channel: usize) -> u32 {
    u32::try_from(channel).unwrap_or(u32::MAX)
}

/// The channel that an error is about.
pub(crate) fn channel_of(error: i32) -> Option<u32> {
    [FASTMMD_ERROR_TOO_LARGE, FASTMMD_ERROR_NOT_FINITE].iter().find_map(|first| {
        let channel = first.checked_sub(error)?;
        u32::try_from(channel).ok().filter(|channel| *channel < MOST_CHANNELS)
    })
}

/// The number of a verdict: 0 is [`FASTMMD_OK`].
pub(crate) const fn of_verdict<A>(verdict: &Verdict<A>) -> i32 {
    verdict.code() as i32 + 1
}

/// A verdict for each of their numbers, without its alarm.
const LEARNING: Verdict<()> = Verdict::Learning { progress: 0.0 };
const HEALTHY: Verdict<()> = Verdict::Healthy;
const ALARM: Verdict<()> = Verdict::Alarm(());
const AMENDED: Verdict<()> = Verdict::Amended(());
const DRIFTING: Verdict<()> = Verdict::Drifting;

/// Numbers in C are those of the core, which saved states and messages hold.
const _: () = {
    assert!(Verdict::<()>::NAMES.len() == 5);
    assert!(of_verdict(&LEARNING) == FASTMMD_LEARNING);
    assert!(of_verdict(&HEALTHY) == FASTMMD_HEALTHY);
    assert!(of_verdict(&ALARM) == FASTMMD_ALARM);
    assert!(of_verdict(&AMENDED) == FASTMMD_AMENDED);
    assert!(of_verdict(&DRIFTING) == FASTMMD_DRIFTING);
    assert!(Stage::ALL.len() == 3);
    assert!(Stage::Learning.code() as i32 == FASTMMD_STAGE_LEARNING);
    assert!(Stage::Monitoring.code() as i32 == FASTMMD_STAGE_MONITORING);
    assert!(Stage::Drift.code() as i32 == FASTMMD_STAGE_DRIFT);
    assert!(Change::ALL.len() == 6);
    assert!(Change::Level.code() as i32 == FASTMMD_CHANGE_LEVEL);
    assert!(Change::Spread.code() as i32 == FASTMMD_CHANGE_SPREAD);
    assert!(Change::Shape.code() as i32 == FASTMMD_CHANGE_SHAPE);
    assert!(Change::Outliers.code() as i32 == FASTMMD_CHANGE_OUTLIERS);
    assert!(Change::Stuck.code() as i32 == FASTMMD_CHANGE_STUCK);
    assert!(Change::Missing.code() as i32 == FASTMMD_CHANGE_MISSING);
    assert!(Leg::ALL.len() == 8);
    assert!(Leg::Level.code() as i32 == FASTMMD_LEG_LEVEL);
    assert!(Leg::Jump.code() as i32 == FASTMMD_LEG_JUMP);
    assert!(Leg::Spread.code() as i32 == FASTMMD_LEG_SPREAD);
    assert!(Leg::Range.code() as i32 == FASTMMD_LEG_RANGE);
    assert!(Leg::Values.code() as i32 == FASTMMD_LEG_VALUES);
    assert!(Leg::Innovations.code() as i32 == FASTMMD_LEG_INNOVATIONS);
    assert!(Leg::Stuck.code() as i32 == FASTMMD_LEG_STUCK);
    assert!(Leg::Missing.code() as i32 == FASTMMD_LEG_MISSING);
    assert!(Steadiness::ALL.len() == 3);
    assert!(Steadiness::Steady.code() as i32 == FASTMMD_STEADY);
    assert!(Steadiness::Doubtful.code() as i32 == FASTMMD_DOUBTFUL);
    assert!(Steadiness::Wandering.code() as i32 == FASTMMD_WANDERING);
};

/// A text with a zero at its end, made of parts when compiled.
macro_rules! text {
    ($($part:expr),+ $(,)?) => {{
        const PARTS: &[&str] = &[$($part),+];
        static TEXT: [u8; length(PARTS)] = terminated(PARTS);
        TEXT.as_ptr().cast::<c_char>()
    }};
}

/// Length of a text with its zero.
const fn length(parts: &[&str]) -> usize {
    let (mut length, mut part) = (1, 0);
    while part < parts.len() {
        length += parts[part].len();
        part += 1;
    }
    length
}

const fn terminated<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut text = [0; N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let bytes = parts[part].as_bytes();
        let mut byte = 0;
        while byte < bytes.len() {
            text[at] = bytes[byte];
            byte += 1;
            at += 1;
        }
        part += 1;
    }
    text
}

const RANGE: &str = Error::OutOfRange(Parameter::MeanTime).message();

/// What a result says, in the words of the core where the error is its own.
pub(crate) fn text_of(code: i32) -> *const c_char {
    match code {
        FASTMMD_OK => text!("done"),
        FASTMMD_LEARNING => text!(LEARNING.name()),
        FASTMMD_HEALTHY => text!(HEALTHY.name()),
        FASTMMD_ALARM => text!(ALARM.name()),
        FASTMMD_AMENDED => text!(AMENDED.name()),
        FASTMMD_DRIFTING => text!(DRIFTING.name()),
        FASTMMD_ERROR_NULL => text!("a pointer is null"),
        FASTMMD_ERROR_MISALIGNED => text!("a pointer is not aligned for what it points to"),
        FASTMMD_ERROR_MEMORY_TOO_SMALL => text!("the memory is too small for this shape"),
        FASTMMD_ERROR_NOT_A_DETECTOR => text!("there is no detector at this address"),
        FASTMMD_ERROR_WRONG_NUMBERS => text!("the rows of this detector have other numbers"),
        FASTMMD_ERROR_SETTINGS => text!("the settings were not set by fastmmd_defaults"),
        FASTMMD_ERROR_NO_SUCH_CHANNEL => text!("there is no such channel"),
        FASTMMD_ERROR_TOO_MANY_ROWS => text!("the rows would not fit into memory"),
        FASTMMD_ERROR_MEAN_TIME => text!(Parameter::MeanTime.name(), " ", RANGE),
        FASTMMD_ERROR_LEARNING_ROWS => text!(Parameter::LearningRows.name(), " ", RANGE),
        FASTMMD_ERROR_PERIOD => {
            text!(Parameter::Period.name(), " ", RANGE, ", or the shape has no cycle")
        }
        FASTMMD_ERROR_RELEARN_AFTER => text!(Parameter::RelearnRows.name(), " ", RANGE),
        FASTMMD_ERROR_NOT_A_NUMBER => text!("what a reading that is not a number means ", RANGE),
        FASTMMD_ERROR_BUFFER_TOO_SMALL => text!(Error::BufferTooSmall { needed: 0 }.message()),
        FASTMMD_ERROR_NOT_A_STATE => text!(Error::NotAState.message()),
        FASTMMD_ERROR_NEWER_VERSION => text!(Error::NewerVersion(0).message()),
        FASTMMD_ERROR_WRONG_LENGTH => text!(Error::WrongLength.message()),
        FASTMMD_ERROR_CHECKSUM => text!(Error::ChecksumMismatch.message()),
        FASTMMD_ERROR_WRONG_SHAPE => text!(Error::WrongShape.message()),
        FASTMMD_ERROR_MAP_MISMATCH => text!(Error::MapMismatch.message()),
        FASTMMD_ERROR_INCONSISTENT => text!(Error::Inconsistent.message()),
        _ if channel_of(code).is_some() && code > FASTMMD_ERROR_TOO_LARGE => {
            text!("a reading ", Error::NonFinite(Parameter::MeanTime).message())
        }
        _ if channel_of(code).is_some() => text!("a reading ", RANGE),
        _ => text!("refused"),
    }
}

/// The name of a change.
pub(crate) fn change_name(code: i32) -> *const c_char {
    match code {
        FASTMMD_CHANGE_LEVEL => text!(Change::Level.name()),
        FASTMMD_CHANGE_SPREAD => text!(Change::Spread.name()),
        FASTMMD_CHANGE_SHAPE => text!(Change::Shape.name()),
        FASTMMD_CHANGE_OUTLIERS => text!(Change::Outliers.name()),
        FASTMMD_CHANGE_STUCK => text!(Change::Stuck.name()),
        FASTMMD_CHANGE_MISSING => text!(Change::Missing.name()),
        _ => text!("unknown"),
    }
}

/// The name of a leg.
pub(crate) fn leg_name(code: i32) -> *const c_char {
    match code {
        FASTMMD_LEG_LEVEL => text!(Leg::Level.name()),
        FASTMMD_LEG_JUMP => text!(Leg::Jump.name()),
        FASTMMD_LEG_SPREAD => text!(Leg::Spread.name()),
        FASTMMD_LEG_RANGE => text!(Leg::Range.name()),
        FASTMMD_LEG_VALUES => text!(Leg::Values.name()),
        FASTMMD_LEG_INNOVATIONS => text!(Leg::Innovations.name()),
        FASTMMD_LEG_STUCK => text!(Leg::Stuck.name()),
        FASTMMD_LEG_MISSING => text!(Leg::Missing.name()),
        _ => text!("unknown"),
    }
}

/// The library's version as a text.
pub(crate) fn version() -> *const c_char {
    text!(crate::FASTMMD_VERSION)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;
    use std::vec::Vec;

    /// The names of the variants of an enum, in its source.
    fn variants<'s>(source: &'s str, name: &str) -> Vec<&'s str> {
        let (_, from) = source.split_once(&format!("pub enum {name} {{\n")).expect("the enum");
        let (body, _) = from.split_once("\n}").expect("its end");
        // Fields and comments stand further in, or do not begin with a letter.
        body.lines()
            .filter_map(|line| line.strip_prefix("    "))
            .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
            .filter_map(|line| line.split([',', '(', ' ']).next())
            .collect()
    }

    /// The compiler does not demand it: both enums are `non_exhaustive` outside the core.
    #[test]
    fn every_error_of_the_core_is_named_here() {
        let (core, own) = (include_str!("../../src/error.rs"), include_str!("codes.rs"));
        let (_, function) = own.split_once("fn of_error").expect("the function");
        let (function, _) = function.split_once("\n}").expect("its end");
        for (name, least) in [("Error", 15), ("Parameter", 10)] {
            let variants = variants(core, name);
            assert!(variants.len() >= least, "{variants:?}");
            let words: Vec<&str> =
                function.split(|c: char| !c.is_ascii_alphanumeric() && c != ':').collect();
            for variant in variants {
                let named = format!("{name}::{variant}");
                assert!(words.contains(&named.as_str()), "{named} has no number");
            }
        }
    }
}
