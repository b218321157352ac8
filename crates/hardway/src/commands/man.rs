//! `hardway man`

use crate::cli::{self, ManArgs};
use crate::output::Output;
use crate::report::{EXIT_USAGE, Report, is_there};
use crate::workdir;

/// A page on standard output, or all of them into a folder.
pub(crate) fn run(args: &ManArgs, out: &Output) -> Result<u8, Report> {
    let mut program = cli::command();
    if let Some(folder) = &args.to {
        is_there(folder)?;
        clap_mangen::generate_to(program, folder).map_err(|error| workdir::at(folder, &error))?;
        return Ok(0);
    }
    // Names of commands and the flags that all have are known once it is built.
    program.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(find(&program, &args.command)?.clone())
        .render(&mut page)
        .expect("memory takes every byte");
    out.data(&String::from_utf8_lossy(&page));
    Ok(0)
}

fn find<'c>(program: &'c clap::Command, names: &[String]) -> Result<&'c clap::Command, Report> {
    let mut found = program;
    for name in names {
        found = found.find_subcommand(name).ok_or_else(|| {
            let known: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).collect();
            let fix = match known.is_empty() {
                true => format!("{} has no commands of its own", found.get_name()),
                false => format!("one of {}", known.join(", ")),
            };
            Report::new("usage", format!("there is no command {:?}", names.join(" ")))
                .exit(EXIT_USAGE)
                .fix(fix)
        })?;
    }
    Ok(found)
}
