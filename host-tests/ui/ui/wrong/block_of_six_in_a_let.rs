//! A Fastfood block that is no power of two, not in a constant: found when code is generated.

use fastmmd::Fastfood;

fn main() {
    let _ = Fastfood::<3, 6, 12>::gaussian(1);
}
