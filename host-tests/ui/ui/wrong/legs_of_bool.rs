//! A leg that is neither on nor off.

use fastmmd::monitor::{Legs, Off, On};

#[derive(Debug, Clone, Copy, PartialEq)]
struct Lean;

impl Legs for Lean {
    type Level = bool;
    type Jump = On;
    type Spread = Off;
    type Values = Off;
    type Innovations = Off;
    type Cycle = On;
}

fn main() {
    let _ = Lean;
}
