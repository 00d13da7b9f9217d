//! The tool `fastmmd`, and what the page in `web/` takes from it: the module [`page`].
//!
//! Without the feature `terminal` there are no commands, only what reads and watches logs.
//!
//! | module | what |
//! |---|---|
//! | `commands`, `args`, `choice` | the command line, with the choices and defaults of the core |
//! | `options` | how a log is read and watched |
//! | `source`, `bytes`, `lines`, `dialect`, `cell`, `record`, `columns`, `table`, `time`, `date`, `order`, `rows` | reading logs |
//! | `setup` | a detector from the options |
//! | `ahead`, `play` | running a log through it |
//! | `trace`, `plot`, `axis`, `bars`, `statistics` | plots, and statistics as CSV |
//! | `page`, `template` | results for the page, and as one file of HTML |
//! | `sample`, `blocks` | files for `test` and the toolbox: `independence`, `select`, `reweight`, `nystrom` |
//! | `report`, `summary`, `progress`, `fault`, `files`, `saved`, `settings` | output and files |
//! | `survey`, `steady` | what `look` finds |
//! | `healthy`, `trial`, `cost`, `paste` | what `tune` uses; what it decides is in `fastmmd-tune` |
//! | `made` | the synthetic log of `demo` |
//! | the others | one command each |

#![cfg_attr(
    not(feature = "terminal"),
    expect(dead_code, reason = "what only commands use stands beside what the page uses")
)]

mod ahead;
mod axis;
mod bytes;
mod cell;
mod columns;
mod cost;
mod date;
mod dialect;
mod fault;
mod files;
mod label;
mod lines;
mod look;
mod made;
mod options;
mod order;
pub mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod paste;
mod play;
mod progress;
mod record;
mod report;
mod rows;
mod settings;
mod setup;
mod source;
mod steady;
mod summary;
mod survey;
mod table;
#[cfg(feature = "terminal")]
mod template;
mod time;
mod trace;

#[cfg(feature = "terminal")]
mod args;
#[cfg(feature = "terminal")]
mod bar;
#[cfg(feature = "terminal")]
mod bars;
#[cfg(feature = "terminal")]
mod blocks;
#[cfg(feature = "terminal")]
mod choice;
/// The commands.
#[cfg(feature = "terminal")]
mod commands;
#[cfg(feature = "terminal")]
mod compare;
#[cfg(feature = "terminal")]
mod demo;
#[cfg(feature = "terminal")]
mod device;
#[cfg(feature = "terminal")]
mod export;
#[cfg(feature = "terminal")]
mod fleet;
#[cfg(feature = "terminal")]
mod healthy;
#[cfg(feature = "terminal")]
mod independence;
#[cfg(feature = "terminal")]
mod inspect;
#[cfg(feature = "terminal")]
mod manual;
#[cfg(feature = "terminal")]
mod nystrom;
#[cfg(feature = "terminal")]
mod plot;
#[cfg(feature = "terminal")]
mod replay;
#[cfg(feature = "terminal")]
mod reweight;
#[cfg(feature = "terminal")]
mod sample;
#[cfg(feature = "terminal")]
mod saved;
#[cfg(feature = "terminal")]
mod select;
#[cfg(feature = "terminal")]
mod statistics;
#[cfg(feature = "terminal")]
mod test;
#[cfg(feature = "terminal")]
mod trial;
#[cfg(feature = "terminal")]
mod tune;

#[cfg(feature = "terminal")]
pub use commands::run;
