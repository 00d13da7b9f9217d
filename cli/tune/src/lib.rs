//! What the tool `fastmmd`, the page and the Python package decide alike, without files and options.
//! Settings for a healthy log: how long its cycle is, how many rows to learn from, what to promise, and
//! how well that finds changes; how much rows depend on earlier ones, how far apart they are, and what MMD²
//! is if two samples are alike.

pub mod dependence;
pub mod detector;
pub mod distance;
pub mod inject;
pub mod learning;
pub mod log;
pub mod memory;
pub mod null;
pub mod period;
pub mod proof;
pub mod tries;
