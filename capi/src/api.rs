//! The functions that C calls.
//!
//! What all of them ask of their pointers: each is null, or points to memory of the stated type and
//! length that nobody else writes during the call; that of a detector is used by one call at a time.

use core::ffi::{c_char, c_void};
use core::slice;

use fastmmd::Verdict;

use crate::codes::{
    self, FASTMMD_ERROR_MEMORY_TOO_SMALL, FASTMMD_ERROR_MISALIGNED, FASTMMD_ERROR_NO_SUCH_CHANNEL,
    FASTMMD_ERROR_NULL, FASTMMD_ERROR_TOO_MANY_ROWS, FASTMMD_ERROR_WRONG_NUMBERS, FASTMMD_OK,
    of_verdict,
};
use crate::slot::{Handle, Number, Shape, open};
use crate::values::{Alarm, Quality, Settings, Status};

/// Alignment of a detector's memory, in bytes: that of uint64_t.
pub const FASTMMD_ALIGN: usize = 8;

const _: () = assert!(align_of::<Handle>() == FASTMMD_ALIGN);

/// The answer of a function as C gets it.
fn answer(result: Result<i32, i32>) -> i32 {
    match result {
        Ok(code) | Err(code) => code,
    }
}

/// Refuses a pointer that cannot be one to a value.
fn checked<T>(pointer: *const T) -> Result<(), i32> {
    if pointer.is_null() {
        return Err(FASTMMD_ERROR_NULL);
    }
    if !pointer.is_aligned() {
        return Err(FASTMMD_ERROR_MISALIGNED);
    }
    Ok(())
}

/// Refuses one that may be null, but is none.
fn checked_or_null<T>(pointer: *const T) -> Result<(), i32> {
    if pointer.is_null() { Ok(()) } else { checked(pointer) }
}

/// The values behind a pointer.
///
/// # Safety
/// It must be null, or point to so many values that nobody writes.
unsafe fn values<'v, T>(pointer: *const T, count: usize) -> Result<&'v [T], i32> {
    if count == 0 {
        return Ok(&[]);
    }
    checked(pointer)?;
    let bytes = count.checked_mul(size_of::<T>());
    if bytes.is_none_or(|bytes| bytes > isize::MAX.cast_unsigned()) {
        return Err(FASTMMD_ERROR_TOO_MANY_ROWS);
    }
    // SAFETY: not null, aligned, no longer than memory can be; the rest is asked of the caller.
    Ok(unsafe { slice::from_raw_parts(pointer, count) })
}

/// The number of a verdict; its alarm, if it has one and the caller wants it.
///
/// # Safety
/// `alarm` must be null, or aligned and writable.
unsafe fn told(verdict: &Verdict, alarm: *mut Alarm) -> i32 {
    if let Verdict::Alarm(raised) | Verdict::Amended(raised) = verdict
        && !alarm.is_null()
    {
        // SAFETY: as this function asks.
        unsafe { alarm.write(Alarm::from(raised)) };
    }
    of_verdict(verdict)
}

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn fastmmd_version() -> *const c_char {
    codes::version()
}

/// What a result says, in English. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn fastmmd_error_text(result: i32) -> *const c_char {
    codes::text_of(result)
}

/// The channel whose reading an error is about, counted from 0; -1 if it is about none.
#[unsafe(no_mangle)]
pub extern "C" fn fastmmd_error_channel(result: i32) -> i32 {
    codes::channel_of(result).map_or(-1, |channel| channel.cast_signed())
}

/// The name of a FASTMMD_CHANGE_..., in lower case. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn fastmmd_change_name(change: i32) -> *const c_char {
    codes::change_name(change)
}

/// The name of a FASTMMD_LEG_..., in lower case. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn fastmmd_leg_name(leg: i32) -> *const c_char {
    codes::leg_name(leg)
}

/// Bytes of memory that a detector of this shape needs, at most its FASTMMD_..._BYTES; 0 for null.
///
/// # Safety
/// The shape is null, or one of the shapes declared in this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_bytes(shape: *const Shape) -> usize {
    // SAFETY: null, or a static.
    unsafe { shape.as_ref() }.map_or(0, |shape| shape.bytes)
}

/// Bytes of the saved state of such a detector: always its FASTMMD_..._SAVED_BYTES; 0 for null.
///
/// # Safety
/// The shape is null, or one of the shapes declared in this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_saved_bytes(shape: *const Shape) -> usize {
    // SAFETY: null, or a static.
    unsafe { shape.as_ref() }.map_or(0, |shape| shape.saved_bytes)
}

/// Channels of such a detector; 0 for null.
///
/// # Safety
/// The shape is null, or one of the shapes declared in this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_channels(shape: *const Shape) -> usize {
    // SAFETY: null, or a static.
    unsafe { shape.as_ref() }.map_or(0, |shape| shape.channels)
}

/// The default settings: 4096 learning rows, no cycle, never learned anew.
///
/// mean_time is the promise: the mean time between false alarms, in rows. It is checked by
/// fastmmd_create.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_defaults(settings: *mut Settings, mean_time: f32) -> i32 {
    answer(checked(settings).map(|()| {
        // SAFETY: not null, aligned, and the caller's.
        unsafe { settings.write(Settings::defaults(mean_time)) };
        FASTMMD_OK
    }))
}

/// Makes a detector that has seen nothing in the caller's memory, and gives its address.
///
/// The memory is aligned to FASTMMD_ALIGN bytes and of at least fastmmd_bytes(shape), and is used as
/// long as the detector is. Nothing has to be freed. A refused call leaves memory and detector as they
/// were. While it runs it takes as much stack as the detector has bytes.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_create(
    memory: *mut c_void,
    bytes: usize,
    shape: *const Shape,
    settings: *const Settings,
    detector: *mut *mut Handle,
) -> i32 {
    let create = || {
        checked(memory.cast::<Handle>())?;
        checked(shape)?;
        checked(settings)?;
        checked(detector)?;
        // SAFETY: not null: one of the statics of this library.
        let shape: &'static Shape = unsafe { &*shape };
        if bytes < shape.bytes {
            return Err(FASTMMD_ERROR_MEMORY_TOO_SMALL);
        }
        // SAFETY: not null, aligned, and the caller's; the memory is long enough as well.
        unsafe { detector.write(shape.make(memory, &*settings)?) };
        Ok(FASTMMD_OK)
    };
    answer(create())
}

/// Takes one row.
///
/// # Safety
/// As of the functions for C that call it.
#[inline]
unsafe fn push<T: Number>(detector: *mut Handle, row: *const T, alarm: *mut Alarm) -> i32 {
    let push = || {
        // SAFETY: the detector is the caller's.
        let (detector, shape) = unsafe { open(detector) }?;
        checked_or_null(alarm)?;
        // SAFETY: the row has a reading for each channel.
        let row = unsafe { values(row, shape.channels) }?;
        let verdict = detector.push(T::rows(row))?;
        // SAFETY: aligned, or null.
        Ok(unsafe { told(&verdict, alarm) })
    };
    answer(push())
}

/// Takes one row of a detector of float: a reading for each channel, in the sensor's own units.
///
/// Returns a verdict: FASTMMD_LEARNING, FASTMMD_HEALTHY, FASTMMD_ALARM, FASTMMD_AMENDED or
/// FASTMMD_DRIFTING. With FASTMMD_ALARM and FASTMMD_AMENDED, alarm is written unless it is null. A
/// refused row is not counted: FASTMMD_ERROR_NOT_FINITE or FASTMMD_ERROR_TOO_LARGE, less the channel. With
/// a cycle call fastmmd_skip for it, so that the phase is kept.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_push_f32(
    detector: *mut Handle,
    row: *const f32,
    alarm: *mut Alarm,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { push(detector, row, alarm) }
}

/// The same for a detector of int16_t. No row is refused.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_push_i16(
    detector: *mut Handle,
    row: *const i16,
    alarm: *mut Alarm,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { push(detector, row, alarm) }
}

/// Takes one row in which readings may be missing.
///
/// # Safety
/// As of the functions for C that call it.
unsafe fn push_partial<T: Number>(
    detector: *mut Handle,
    row: *const T,
    present: u32,
    alarm: *mut Alarm,
) -> i32 {
    let push = || {
        // SAFETY: the detector is the caller's.
        let (detector, shape) = unsafe { open(detector) }?;
        checked_or_null(alarm)?;
        // SAFETY: the row has a reading for each channel.
        let row = unsafe { values(row, shape.channels) }?;
        let verdict = detector.push_partial(T::rows(row), present)?;
        // SAFETY: aligned, or null.
        Ok(unsafe { told(&verdict, alarm) })
    };
    answer(push())
}

/// As fastmmd_push_f32, for a row in which readings may be missing: bit c of present says whether
/// channel c has one.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_push_partial_f32(
    detector: *mut Handle,
    row: *const f32,
    present: u32,
    alarm: *mut Alarm,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { push_partial(detector, row, present, alarm) }
}

/// The same for a detector of int16_t.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_push_partial_i16(
    detector: *mut Handle,
    row: *const i16,
    present: u32,
    alarm: *mut Alarm,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { push_partial(detector, row, present, alarm) }
}

/// Takes several rows.
///
/// # Safety
/// As of the functions for C that call it.
unsafe fn push_many<T: Number>(
    detector: *mut Handle,
    rows: *const T,
    count: usize,
    taken: *mut usize,
    alarm: *mut Alarm,
) -> i32 {
    let push = || {
        // SAFETY: the detector is the caller's.
        let (detector, shape) = unsafe { open(detector) }?;
        checked(taken)?;
        checked_or_null(alarm)?;
        if T::NUMBERS != shape.numbers {
            return Err(FASTMMD_ERROR_WRONG_NUMBERS);
        }
        let readings = count.checked_mul(shape.channels).ok_or(FASTMMD_ERROR_TOO_MANY_ROWS)?;
        // SAFETY: each row has a reading for each channel.
        let rows = unsafe { values(rows, readings) }?;
        let mut done = 0;
        let verdict = detector.push_many(T::rows(rows), &mut done);
        // SAFETY: aligned, not null, and the caller's.
        unsafe { taken.write(done) };
        let verdict = verdict?;
        // SAFETY: aligned, or null.
        Ok(verdict.map_or(FASTMMD_OK, |verdict| unsafe { told(&verdict, alarm) }))
    };
    answer(push())
}

/// Takes rows that stand one after the other, up to the first that raises or amends an alarm: taken
/// gets their number, and the rest is for another call. Returns the verdict on the last row taken, or
/// FASTMMD_OK if count is 0. An error is that of the row after those taken; one of the arguments
/// leaves taken as it was.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_push_many_f32(
    detector: *mut Handle,
    rows: *const f32,
    count: usize,
    taken: *mut usize,
    alarm: *mut Alarm,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { push_many(detector, rows, count, taken, alarm) }
}

/// The same for a detector of int16_t.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_push_many_i16(
    detector: *mut Handle,
    rows: *const i16,
    count: usize,
    taken: *mut usize,
    alarm: *mut Alarm,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { push_many(detector, rows, count, taken, alarm) }
}

/// Calls a function with the detector, to change it.
///
/// # Safety
/// The detector must be null, or the caller's memory.
unsafe fn change(
    detector: *mut Handle,
    change: impl FnOnce(&mut dyn crate::slot::Watch) -> Result<(), i32>,
) -> i32 {
    // SAFETY: as this function asks.
    let opened = unsafe { open(detector) };
    answer(opened.and_then(|(detector, _)| change(detector)).map(|()| FASTMMD_OK))
}

/// Says that so many rows passed that were never pushed, while the device was off for example: a known
/// cycle goes on by as many. They are not counted.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_skip(detector: *mut Handle, rows: u32) -> i32 {
    // SAFETY: as this function asks.
    unsafe {
        change(detector, |detector| {
            detector.skip(rows);
            Ok(())
        })
    }
}

/// Forgets everything learned, and learns anew. Rows go on being counted.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_relearn(detector: *mut Handle) -> i32 {
    // SAFETY: as this function asks.
    unsafe {
        change(detector, |detector| {
            detector.relearn();
            Ok(())
        })
    }
}

/// The same under other settings. If they are refused, nothing is forgotten.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_relearn_with(
    detector: *mut Handle,
    settings: *const Settings,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe {
        change(detector, |detector| {
            checked(settings)?;
            detector.relearn_with((*settings).config()?)
        })
    }
}

/// Says that what differs now is nothing: it closes, and the same does not alarm again while other
/// things do.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_dismiss(detector: *mut Handle) -> i32 {
    // SAFETY: as this function asks.
    unsafe {
        change(detector, |detector| {
            detector.dismiss();
            Ok(())
        })
    }
}

/// Takes up a saved state, settings included, and goes on from it bit for bit. The detector was created
/// with the same shape. Any bytes may be tried: those that are torn, foreign or altered are refused,
/// and change nothing.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_restore(
    detector: *mut Handle,
    saved: *const c_void,
    bytes: usize,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { change(detector, |detector| detector.restore(values(saved.cast::<u8>(), bytes)?)) }
}

/// Writes the whole state, with a checksum, to a buffer of at least fastmmd_saved_bytes, and its length
/// to written unless that is null. The bytes are the same for every processor.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_save(
    detector: *const Handle,
    out: *mut c_void,
    bytes: usize,
    written: *mut usize,
) -> i32 {
    let save = || {
        // SAFETY: the detector is the caller's.
        let (detector, shape) = unsafe { open(detector.cast_mut()) }?;
        checked_or_null(written)?;
        let out = out.cast::<u8>();
        checked(out)?;
        // None of a buffer that is too short, which is then refused.
        let room = if bytes < shape.saved_bytes { 0 } else { shape.saved_bytes };
        // SAFETY: not null, the caller's, and long enough. What was never written is no byte to Rust: it
        // is written before anything refers to it.
        let out = unsafe {
            out.write_bytes(0, room);
            slice::from_raw_parts_mut(out, room)
        };
        let length = detector.save(out)?;
        if !written.is_null() {
            // SAFETY: aligned, and the caller's.
            unsafe { written.write(length) };
        }
        Ok(FASTMMD_OK)
    };
    answer(save())
}

/// Calls a function with the detector, and writes what it gives.
///
/// # Safety
/// The detector must be null, or the caller's memory; so must `out`.
unsafe fn read<T>(
    detector: *const Handle,
    out: *mut T,
    read: impl FnOnce(&dyn crate::slot::Watch) -> Result<T, i32>,
) -> i32 {
    let read = || {
        // SAFETY: as this function asks.
        let detector = unsafe { open(detector.cast_mut()) }?.0;
        checked(out)?;
        // SAFETY: not null, aligned, and the caller's.
        unsafe { out.write(read(detector)?) };
        Ok(FASTMMD_OK)
    };
    answer(read())
}

/// How the detector stands after the last row; also how far learning is.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_get_status(detector: *const Handle, status: *mut Status) -> i32 {
    // SAFETY: as this function asks.
    unsafe { read(detector, status, |detector| Ok(Status::from(&detector.status()))) }
}

/// The last alarm raised, as it was amended: 1 if there is one, 0 if there never was. It still stands
/// while the stage is FASTMMD_STAGE_DRIFT.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_get_alarm(detector: *const Handle, alarm: *mut Alarm) -> i32 {
    let read = || {
        // SAFETY: as this function asks.
        let detector = unsafe { open(detector.cast_mut()) }?.0;
        checked(alarm)?;
        let Some(last) = detector.last_alarm() else { return Ok(0) };
        // SAFETY: not null, aligned, and the caller's.
        unsafe { alarm.write(Alarm::from(&last)) };
        Ok(1)
    };
    answer(read())
}

/// What is known of a channel, and how good its learning rows were.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_get_quality(
    detector: *const Handle,
    channel: usize,
    quality: *mut Quality,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe {
        read(detector, quality, |detector| {
            let quality = detector.quality(channel).ok_or(FASTMMD_ERROR_NO_SUCH_CHANNEL)?;
            Ok(Quality::from(&quality))
        })
    }
}

/// The longest mean time between false alarms that the learning supports, in rows: that of the settings,
/// or that of the channel that supports least. Below 100, the shortest that can be stated, it supports
/// none. A promise beyond it may not be kept: state a shorter one, or learn from more rows.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_supported_mean_time(
    detector: *const Handle,
    mean_time: *mut f32,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe {
        read(detector, mean_time, |detector| {
            let of_settings = detector.settings().config()?.supported_mean_time();
            let each = (0..).map_while(|channel| detector.quality(channel));
            Ok(each.fold(of_settings, |least, it| least.min(it.supported_mean_time)))
        })
    }
}

/// The settings under which it learns or has learned.
///
/// # Safety
/// See the top of this header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastmmd_get_settings(
    detector: *const Handle,
    settings: *mut Settings,
) -> i32 {
    // SAFETY: as this function asks.
    unsafe { read(detector, settings, |detector| Ok(detector.settings())) }
}
