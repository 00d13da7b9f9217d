//! Tests of the fleet's functions and tool. `cargo test --workspace --test all bits::` runs one file's.

mod bad;
mod bits;
mod cluster;
mod device;
mod fleet;
mod functions;
mod rates;
mod run;
mod small;
mod speed;
