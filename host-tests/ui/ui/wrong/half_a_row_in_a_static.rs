//! The same in a `static`, where `cargo check` finds it too.

use fastmmd::condition::Delay;

static LAST: Delay<2, 3> = Delay::new();

fn main() {
    let _ = &LAST;
}
