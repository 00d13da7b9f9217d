//! Legs that do not say whether there is a profile.

use fastmmd::monitor::{Legs, Off, On};

#[derive(Debug, Clone, Copy, PartialEq)]
struct Lean;

impl Legs for Lean {
    type Level = On;
    type Jump = On;
    type Spread = Off;
    type Values = Off;
    type Innovations = Off;
}

fn main() {
    let _ = Lean;
}
