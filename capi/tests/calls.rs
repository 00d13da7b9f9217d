//! The functions for C, called from Rust: for Miri, which sees what a sanitiser of C does not.

use std::mem::MaybeUninit;
use std::ptr;

use fastmmd_capi::api::*;
use fastmmd_capi::codes::*;
use fastmmd_capi::shapes::*;

/// Memory as C would give it: never written.
fn memory(bytes: usize) -> Vec<MaybeUninit<u64>> {
    vec![MaybeUninit::uninit(); bytes.div_ceil(8)]
}

#[test]
fn a_detector_lives_in_foreign_memory() {
    let shape = &raw const fastmmd_f32_1;
    // SAFETY: all pointers are of variables here, of their types and lengths.
    unsafe {
        let bytes = fastmmd_bytes(shape);
        let mut memory = memory(bytes);
        let mut settings = MaybeUninit::uninit();
        assert_eq!(fastmmd_defaults(settings.as_mut_ptr(), 1e4), FASTMMD_OK);
        let mut settings = settings.assume_init();
        settings.learning_rows = 256;
        let mut detector = ptr::null_mut();
        let create = |memory: &mut [MaybeUninit<u64>], settings, detector| {
            fastmmd_create(memory.as_mut_ptr().cast(), bytes, shape, settings, detector)
        };
        assert_eq!(create(&mut memory, &raw const settings, &raw mut detector), FASTMMD_OK);
        let mut alarm = MaybeUninit::uninit();
        for row in 0..40_u8 {
            let row = f32::from(row % 7);
            let verdict = fastmmd_push_f32(detector, &raw const row, alarm.as_mut_ptr());
            assert_eq!(verdict, FASTMMD_LEARNING);
        }
        let rows = [0.5_f32, 1.5, f32::NAN];
        let mut taken = 0;
        let many = |rows: &[f32], taken| {
            let (rows, count) = (rows.as_ptr(), rows.len());
            fastmmd_push_many_f32(detector, rows, count, taken, ptr::null_mut())
        };
        assert_eq!(many(&rows, &raw mut taken), FASTMMD_ERROR_NOT_FINITE);
        assert_eq!(taken, 2);
        assert_eq!(fastmmd_push_i16(detector, &7, ptr::null_mut()), FASTMMD_ERROR_WRONG_NUMBERS);
        let mut status = MaybeUninit::uninit();
        assert_eq!(fastmmd_get_status(detector, status.as_mut_ptr()), FASTMMD_OK);
        assert_eq!(status.assume_init().rows, 42);

        let saved_bytes = fastmmd_saved_bytes(shape);
        let mut buffer = self::memory(saved_bytes);
        let saved: *mut u8 = buffer.as_mut_ptr().cast();
        let mut written = 0;
        let short = fastmmd_save(detector, saved.cast(), saved_bytes - 1, &raw mut written);
        assert_eq!((short, written), (FASTMMD_ERROR_BUFFER_TOO_SMALL, 0));
        let saving = fastmmd_save(detector, saved.cast(), saved_bytes, &raw mut written);
        assert_eq!((saving, written), (FASTMMD_OK, saved_bytes));

        // Moved, as a structure that holds it may be.
        let mut moved = memory.clone();
        let moved: *mut _ = moved.as_mut_ptr().cast();
        assert_eq!(fastmmd_restore(moved, saved.cast(), saved_bytes), FASTMMD_OK);
        let mut quality = MaybeUninit::uninit();
        assert_eq!(fastmmd_get_quality(moved, 0, quality.as_mut_ptr()), FASTMMD_OK);
        assert!(quality.assume_init().ties < 1.0);
        let mut supported = 0.0;
        assert_eq!(fastmmd_supported_mean_time(moved, &raw mut supported), FASTMMD_OK);
        assert!(supported <= quality.assume_init().supported_mean_time, "{supported}");
        assert_eq!(fastmmd_relearn(moved), FASTMMD_OK);
        assert_eq!(fastmmd_dismiss(ptr::null_mut()), FASTMMD_ERROR_NULL);
    }
}
