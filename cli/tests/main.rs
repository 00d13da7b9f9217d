//! All tests of the command, as one program: what they share is compiled and linked once.
//! `cargo test -p fastmmd-cli replay::` runs those of one file.

mod common;
mod device;
mod follow;
mod logs;
mod messages;
mod plumbing;
mod recipes;
mod recordings;
mod replay;
mod report;
mod states;
mod toolbox;
mod tune;
mod two_samples;
