//! What the programs here compute.

#![no_std]

pub mod parity;
