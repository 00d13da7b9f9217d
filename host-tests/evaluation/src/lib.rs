//! Measures how well fastmmd performs, as a user would, through its public functions.
//!
//! | module | what |
//! |---|---|
//! | [`evaluate`] | the detector on simulated devices and on recordings |
//! | [`published`] | checks the README's figures against measured ones |
//! | [`reproduce`], [`plot`] | the figures of the literature, as SVG |
//! | [`speed`] | the FastMMD paper's efficiency test |
//!
//! `cargo xtask evaluate`, `cargo xtask reproduce` and `cargo xtask bench --host` run the programs
//! `evaluate`, `reproduce` and `speed`. Their limits are in [`fastmmd_reference::tolerance`], and
//! recorded results in `tables`.

#![forbid(unsafe_code)]

pub mod evaluate;
pub mod plot;
pub mod published;
pub mod reproduce;
pub mod speed;
