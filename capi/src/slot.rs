//! A detector of any shape in memory that the caller gives.

use core::cell::Cell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use fastmmd::features::ScalarOf;
use fastmmd::features::sincos::Points;
use fastmmd::monitor::{Alarm, ChannelQuality, FixedShape, Legs, Monitor, Status};
use fastmmd::shape::Fixed;
use fastmmd::{Config, Detector, Error, FeatureMap, Verdict};

use crate::codes::{
    FASTMMD_ERROR_MISALIGNED, FASTMMD_ERROR_NOT_A_DETECTOR, FASTMMD_ERROR_NULL,
    FASTMMD_ERROR_WRONG_NUMBERS, FASTMMD_ERROR_WRONG_SHAPE, MOST_CHANNELS, of_error,
};
use crate::values::Settings;

/// What stands before a detector in the caller's memory. C knows of it by address alone.
#[repr(C, align(8))]
pub struct Handle {
    /// [`CHECK`] and the address of the shape, so that neither memory that was never used nor a shape
    /// that was written over passes for a detector.
    check: usize,
    shape: *const Shape,
}

/// Arbitrary: not zero, not a pattern that memory is filled with, and odd, which no address is.
const CHECK: usize = 0x6d3d_a7c5;

impl Handle {
    fn check_of(shape: *const Shape) -> usize {
        shape.addr() ^ CHECK
    }
}

/// A detector with its handle. As a result, because that is what is made.
#[repr(C)]
struct Slot<D> {
    handle: Handle,
    detector: MaybeUninit<Result<D, Error>>,
}

/// What rows are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    Float,
    Integer,
}

/// Readings of one row or of several, one row after the other.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'r> {
    Float(&'r [f32]),
    Integer(&'r [i16]),
}

/// A number type of readings.
pub(crate) trait Number: Copy + 'static {
    const NUMBERS: Numbers;

    /// The readings, if they are of this type.
    fn of(rows: Rows<'_>) -> Option<&[Self]>;

    /// The readings of this type.
    fn rows(readings: &[Self]) -> Rows<'_>;
}

impl Number for f32 {
    const NUMBERS: Numbers = Numbers::Float;

    fn of(rows: Rows<'_>) -> Option<&[f32]> {
        if let Rows::Float(readings) = rows { Some(readings) } else { None }
    }

    fn rows(readings: &[f32]) -> Rows<'_> {
        Rows::Float(readings)
    }
}

impl Number for i16 {
    const NUMBERS: Numbers = Numbers::Integer;

    fn of(rows: Rows<'_>) -> Option<&[i16]> {
        if let Rows::Integer(readings) = rows { Some(readings) } else { None }
    }

    fn rows(readings: &[i16]) -> Rows<'_> {
        Rows::Integer(readings)
    }
}

/// A kind of detector: its numbers, channels and legs.
pub struct Shape {
    /// Bytes of memory that it needs.
    pub bytes: usize,
    /// Bytes of its saved state.
    pub saved_bytes: usize,
    /// Its channels.
    pub channels: usize,
    pub(crate) numbers: Numbers,
    /// Makes one at an address. The memory must be writable, of this shape's length and aligned.
    make: unsafe fn(*mut c_void, &'static Shape, Config) -> Result<(), i32>,
    /// The detector behind a handle, which must be one of this shape.
    watch: unsafe fn(*mut Handle) -> Option<NonNull<dyn Watch>>,
}

/// A map that is a constant, in flash: that of the main README's example.
pub(crate) trait Mapped: Sized + 'static {
    const MAP: &'static Self;
}

impl<const C: usize, const L: usize> Mapped for fastmmd::Fourier<C, L> {
    const MAP: &'static Self = &Self::additive(1);
}

impl<const C: usize, const L: usize> Mapped for fastmmd::fixed::Fourier<C, L> {
    const MAP: &'static Self = &Self::additive(1);
}

impl Shape {
    pub(crate) const fn of<M, const C: usize, L: Legs>() -> Self
    where
        M: Mapped + FixedShape<L> + FeatureMap<Inputs = Fixed<C>>,
        ScalarOf<M>: Number,
    {
        assert!(C <= MOST_CHANNELS as usize);
        assert!(align_of::<Slot<Detector<'_, M, L>>>() == align_of::<Handle>());
        Self {
            bytes: size_of::<Slot<Detector<'_, M, L>>>(),
            saved_bytes: Detector::<'static, M, L>::SAVED_BYTES,
            channels: C,
            numbers: <ScalarOf<M> as Number>::NUMBERS,
            make: make::<M, L>,
            watch: watch::<M, C, L>,
        }
    }

    /// Makes a detector of this shape.
    ///
    /// # Safety
    /// The memory must be writable, aligned as a [`Handle`], of [`bytes`](Self::bytes), and not in use
    /// otherwise.
    pub(crate) unsafe fn make(
        &'static self,
        memory: *mut c_void,
        settings: &Settings,
    ) -> Result<*mut Handle, i32> {
        let config = settings.config()?;
        // SAFETY: as this function asks.
        unsafe { (self.make)(memory, self, config) }?;
        Ok(memory.cast())
    }
}

/// See [`Shape::make`].
unsafe fn make<M, L: Legs>(
    memory: *mut c_void,
    shape: &'static Shape,
    config: Config,
) -> Result<(), i32>
where
    M: Mapped + FixedShape<L>,
{
    let config = config.with_legs::<L>();
    // Before anything is written.
    config.check().map_err(of_error)?;
    let slot: *mut Slot<Detector<'static, M, L>> = memory.cast();
    let shape: *const Shape = shape;
    // SAFETY: the memory is writable, aligned, long enough and nobody else's; what was there needs no
    // drop, and may be anything.
    unsafe {
        fill::<M, L>(&mut (*slot).detector, &config)?;
        // Last, so that memory without a detector does not pass for one.
        (&raw mut (*slot).handle).write(Handle { check: Handle::check_of(shape), shape });
    }
    Ok(())
}

/// Writes a detector, or why there is none. Apart, so that its stack, which is as large as the detector, is not that of other
/// calls.
#[inline(never)]
fn fill<M, L: Legs>(
    detector: &mut MaybeUninit<Result<Detector<'static, M, L>, Error>>,
    config: &Config<L>,
) -> Result<(), i32>
where
    M: Mapped + FixedShape<L>,
{
    match detector.write(Detector::new(M::MAP, *config)) {
        Ok(_) => Ok(()),
        Err(error) => Err(of_error(*error)),
    }
}

/// The detector behind a handle.
///
/// # Safety
/// The handle must be of a slot of this type that `make` has filled, and nobody else may use it.
unsafe fn watch<M, const C: usize, L: Legs>(handle: *mut Handle) -> Option<NonNull<dyn Watch>>
where
    M: Mapped + FixedShape<L> + FeatureMap<Inputs = Fixed<C>>,
    ScalarOf<M>: Number,
{
    let slot: *mut Slot<Detector<'static, M, L>> = handle.cast();
    // SAFETY: filled, and nobody else's.
    let detector = unsafe { (*slot).detector.assume_init_mut() };
    match detector {
        Ok(detector) => Some(NonNull::from_mut(detector)),
        Err(_) => None,
    }
}

/// The detector behind a handle, if there is one, and its shape.
///
/// # Safety
/// The handle must be null, or of memory that is readable and, if there is a detector in it, writable
/// and not used by anybody else while the answer is.
pub(crate) unsafe fn open<'d>(
    handle: *mut Handle,
) -> Result<(&'d mut dyn Watch, &'static Shape), i32> {
    if handle.is_null() {
        return Err(FASTMMD_ERROR_NULL);
    }
    if !handle.is_aligned() {
        return Err(FASTMMD_ERROR_MISALIGNED);
    }
    // SAFETY: the caller's memory, aligned. What is in it may be anything; to the library, which is not
    // compiled together with the caller, those are bytes of some value, and any are an address.
    let Handle { check, shape } = unsafe { handle.read_volatile() };
    if check != Handle::check_of(shape) || shape.is_null() {
        return Err(FASTMMD_ERROR_NOT_A_DETECTOR);
    }
    // SAFETY: only `make` writes an address together with its check, and it writes that of a static.
    let shape: &'static Shape = unsafe { &*shape };
    // SAFETY: the slot is of this shape, filled, and the caller's alone.
    let detector = unsafe { (shape.watch)(handle) };
    let mut detector = detector.ok_or(FASTMMD_ERROR_NOT_A_DETECTOR)?;
    // SAFETY: the same.
    Ok((unsafe { detector.as_mut() }, shape))
}

/// A detector without its shape in its type.
pub(crate) trait Watch {
    fn push(&mut self, row: Rows<'_>) -> Result<Verdict, i32>;
    fn push_partial(&mut self, row: Rows<'_>, present: u32) -> Result<Verdict, i32>;
    /// Takes rows up to the first that raises or amends an alarm; `taken` counts them.
    fn push_many(&mut self, rows: Rows<'_>, taken: &mut usize) -> Result<Option<Verdict>, i32>;
    fn skip(&mut self, rows: u32);
    fn status(&self) -> Status;
    fn last_alarm(&self) -> Option<Alarm>;
    fn quality(&self, channel: usize) -> Option<ChannelQuality>;
    fn settings(&self) -> Settings;
    fn relearn(&mut self);
    fn relearn_with(&mut self, config: Config) -> Result<(), i32>;
    fn dismiss(&mut self);
    fn save(&self, out: &mut [u8]) -> Result<usize, i32>;
    fn restore(&mut self, bytes: &[u8]) -> Result<(), i32>;
}

/// The readings as rows of a shape.
fn rows_of<T: Number, const C: usize>(rows: Rows<'_>) -> Result<&[[T; C]], i32> {
    let readings = T::of(rows).ok_or(FASTMMD_ERROR_WRONG_NUMBERS)?;
    match readings.as_chunks() {
        (rows, []) => Ok(rows),
        _ => Err(FASTMMD_ERROR_WRONG_SHAPE),
    }
}

/// The first of them.
fn row_of<T: Number, const C: usize>(rows: Rows<'_>) -> Result<&[T; C], i32> {
    rows_of(rows)?.first().ok_or(FASTMMD_ERROR_WRONG_SHAPE)
}

impl<M, const C: usize, L> Watch for Detector<'static, M, L>
where
    M: FeatureMap<Inputs = Fixed<C>, Backend: Points>,
    ScalarOf<M>: Number,
    L: Legs,
{
    fn push(&mut self, row: Rows<'_>) -> Result<Verdict, i32> {
        self.push(row_of::<ScalarOf<M>, C>(row)?).map_err(of_error)
    }

    fn push_partial(&mut self, row: Rows<'_>, present: u32) -> Result<Verdict, i32> {
        let row = row_of::<ScalarOf<M>, C>(row)?;
        let mut partial = row.map(Some);
        for (channel, reading) in partial.iter_mut().enumerate() {
            if present & (1 << channel) == 0 {
                *reading = None;
            }
        }
        self.push_partial(&partial).map_err(of_error)
    }

    fn push_many(&mut self, rows: Rows<'_>, taken: &mut usize) -> Result<Option<Verdict>, i32> {
        let before = self.rows();
        let told = Cell::new(false);
        let rows = rows_of::<ScalarOf<M>, C>(rows)?;
        let answer = self.push_many(rows.iter().take_while(|_| !told.get()), |_| told.set(true));
        // No more than the rows given, which an index can count.
        *taken = usize::try_from(self.rows() - before).unwrap_or(rows.len());
        answer.map_err(of_error)
    }

    fn skip(&mut self, rows: u32) {
        self.skip(rows);
    }

    fn status(&self) -> Status {
        Monitor::status(self)
    }

    fn last_alarm(&self) -> Option<Alarm> {
        self.last_alarm()
    }

    fn quality(&self, channel: usize) -> Option<ChannelQuality> {
        self.quality().nth(channel)
    }

    fn settings(&self) -> Settings {
        Settings::of(self.config())
    }

    fn relearn(&mut self) {
        self.relearn();
    }

    fn relearn_with(&mut self, config: Config) -> Result<(), i32> {
        self.relearn_with(config.with_legs()).map_err(of_error)
    }

    fn dismiss(&mut self) {
        self.dismiss();
    }

    fn save(&self, out: &mut [u8]) -> Result<usize, i32> {
        self.save(out).map_err(of_error)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), i32> {
        self.restore(bytes).map_err(of_error)
    }
}
