//! A Fastfood block that is no power of two.

use fastmmd::Fastfood;

static MAP: Fastfood<3, 6, 12> = Fastfood::gaussian(1);

fn main() {
    let _ = &MAP;
}
