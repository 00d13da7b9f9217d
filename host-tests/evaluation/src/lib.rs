//! What fastmmd reaches, measured: as a user would, through its public functions alone.
//!
//! | module | what |
//! |---|---|
//! | [`evaluate`] | what the detector reaches, on simulated devices and on recordings |
//! | [`published`] | the README's figures, held to what is measured |
//! | [`reproduce`], [`plot`] | the figures of the literature, as SVG |
//! | [`speed`] | the paper's efficiency test |
//!
//! The programs `evaluate`, `reproduce` and `speed` are behind `cargo xtask evaluate`,
//! `cargo xtask reproduce` and `cargo xtask bench --host`. What they are held to is in
//! [`fastmmd_reference::tolerance`], and what they said when last kept in `tables`.

#![forbid(unsafe_code)]

pub mod evaluate;
pub mod plot;
pub mod published;
pub mod reproduce;
pub mod speed;
