//! Has each floating-point routine called by way of a counter.

use std::path::PathBuf;
use std::{env, fs};

#[path = "../build.rs"]
mod board;

/// Those of the ARM run-time ABI that the compiler calls.
const ROUTINES: [&str; 25] = [
    "fadd", "fsub", "frsub", "fmul", "fdiv", "fcmpeq", "fcmplt", "fcmple", "fcmpge", "fcmpgt",
    "fcmpun", "i2f", "ui2f", "l2f", "ul2f", "f2iz", "f2uiz", "f2lz", "f2ulz", "f2d", "d2f", "dadd",
    "dsub", "dmul", "ddiv",
];

fn main() {
    board::main();
    println!("cargo::rerun-if-changed=build.rs");
    // Processors with a floating-point unit have no use for them.
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if target.ends_with("hf") {
        return write("");
    }
    let mut counters = String::new();
    for name in ROUTINES {
        println!("cargo::rustc-link-arg=--wrap=__aeabi_{name}");
        // It counts, keeps all registers, and goes on to the routine.
        counters.push_str(&format!(
            ".section .text.counted_{name}, \"ax\"\n.balign 4\n.global __wrap___aeabi_{name}\n\
             .type __wrap___aeabi_{name}, %function\n.thumb_func\n__wrap___aeabi_{name}:\n\
             push {{r0, r1, r2, r3, r4}}\nldr r0, 1f\nldr r1, [r0]\nadds r1, #1\nstr r1, [r0]\n\
             ldr r0, 2f\nstr r0, [sp, #16]\npop {{r0, r1, r2, r3, pc}}\n.balign 4\n\
             1: .word FLOAT_CALLS\n2: .word __real___aeabi_{name}\n"
        ));
    }
    write(&counters);
}

fn write(counters: &str) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("counters.s"), counters).expect("the counters can be written");
}
