//! Counts the instructions of rows in QEMU, as `capi/example/cost.c` does. In integers where there is
//! no floating-point unit.

#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod board {
    use core::hint::black_box;

    use emulated::{entry, println};
    use fastmmd::{Config, Detector, checked};
    use fastmmd_capi_twin::{MEAN_TIME, Rows};

    #[cfg(target_abi = "eabihf")]
    use {fastmmd::Fourier as Map, fastmmd_capi_twin::FLOAT as MAP};
    #[cfg(not(target_abi = "eabihf"))]
    use {fastmmd::fixed::Fourier as Map, fastmmd_capi_twin::INTEGER as MAP};

    const LEARNING: u32 = 4096;
    const MONITORING: u32 = 1024;

    const CONTROL: *mut u32 = 0xe000_e010 as *mut u32;
    const RELOAD: *mut u32 = 0xe000_e014 as *mut u32;
    const CURRENT: *mut u32 = 0xe000_e018 as *mut u32;
    const LARGEST: u32 = 0x00ff_ffff;

    fn now() -> u32 {
        // SAFETY: reading the counter has no side effect.
        unsafe { CURRENT.read_volatile() }
    }

    fn count(detector: &mut Detector<'_, Map<3, 32>>, rows: &mut Rows, what: &str, number: u32) {
        let mut ticks = 0_u32;
        for _ in 0..number {
            let row = black_box(rows.row());
            let before = now();
            let verdict = black_box(detector.push(&row));
            ticks += before.wrapping_sub(now()) & LARGEST;
            assert!(verdict.is_ok());
        }
        println!("{what} {}", ticks / number);
    }

    /// The calls that the library in C has besides. They are not counted; without them the compiler
    /// would inline what it cannot inline where a program uses them, too.
    #[inline(never)]
    fn others(detector: &mut Detector<'_, Map<3, 32>>, rows: &mut Rows) {
        let partial = rows.row().map(Some);
        assert!(black_box(detector.push_partial(&partial)).is_ok());
        let many = [rows.row(), rows.row()];
        let answer = detector.push_many(&many, |verdict| {
            black_box(verdict);
        });
        assert!(black_box(answer).is_ok());
    }

    #[entry]
    fn main() -> ! {
        // SAFETY: SysTick's registers; nothing else here uses it.
        unsafe {
            RELOAD.write_volatile(LARGEST);
            CURRENT.write_volatile(0);
            CONTROL.write_volatile(0b101);
        }
        let mut detector = checked!(Detector::new(&MAP, Config::rows(MEAN_TIME)));
        let detector = black_box(&mut detector);
        let mut rows = Rows::default();
        count(detector, &mut rows, "learning", LEARNING);
        count(detector, &mut rows, "monitoring", MONITORING);
        others(detector, &mut rows);
        emulated::succeed()
    }
}

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("for the emulator alone");
}
