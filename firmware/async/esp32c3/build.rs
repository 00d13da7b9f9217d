//! Tells the linker where the chip's memory map is.

fn main() {
    println!("cargo::rustc-link-arg=-Tlinkall.x");
}
