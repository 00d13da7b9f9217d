//! `completions` and `man`: what shells and manuals need to know, from the options themselves.

use clap::CommandFactory as _;

use crate::args::Arguments;
use crate::fault::Fault;
use crate::report;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), Fault> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fastmmd", &mut bytes);
    report::say_bytes(&bytes)
}

/// Prints the manual of a command, or of all.
pub(crate) fn man(command: Option<&str>) -> Result<(), Fault> {
    let mut all = Arguments::command();
    all.build();
    let one = match command {
        None => all,
        Some(name) => {
            let one = all.find_subcommand(name).cloned();
            one.ok_or_else(|| Fault::new(format!("no command {name:?}")))?
        }
    };
    let mut bytes = Vec::new();
    let rendered = clap_mangen::Man::new(one).render(&mut bytes);
    rendered.map_err(|error| Fault::of_io("the manual", &error))?;
    report::say_bytes(&bytes)
}
