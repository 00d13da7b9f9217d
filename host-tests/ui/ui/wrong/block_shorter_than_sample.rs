//! A Fastfood block of four for samples of five.

use fastmmd::Fastfood;

static MAP: Fastfood<5, 4, 64> = Fastfood::gaussian(1);

fn main() {
    let _ = &MAP;
}
