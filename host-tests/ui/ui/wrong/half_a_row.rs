//! Vectors of three values, of rows of two.

use fastmmd::condition::Delay;

fn main() {
    let _ = Delay::<2, 3>::new();
}
