//! `hardway man`

use std::path::Path;

use crate::cli::{self, ManArgs};
use crate::inputs;
use crate::report::{Code, Exit, Report, is_there};
use crate::terminal::Output;

/// A page on standard output, or all of them into a folder.
pub(crate) fn run(args: &ManArgs, out: &Output) -> Result<Exit, Report> {
    let mut program = cli::command().disable_help_subcommand(true);
    // Names of commands and the flags that all have are known once it is built.
    program.build();
    if let Some(folder) = &args.to {
        is_there(folder)?;
        write(&program, folder)?;
        return Ok(Exit::Done);
    }
    out.data(&page(find(&program, &args.command)?));
    Ok(Exit::Done)
}

/// The page of a command and those of the commands below it.
fn write(command: &clap::Command, folder: &Path) -> Result<(), Report> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    fs_err::write(&path, page(command)).map_err(|error| inputs::at(folder, &error))?;
    command.get_subcommands().try_for_each(|command| write(command, folder))
}

fn page(command: &clap::Command) -> String {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page).expect("memory takes every byte");
    // What stands below a command's help; that of the program has no examples.
    let title = if command.get_name() == "hardway" { "ENVIRONMENT" } else { "EXAMPLES" };
    String::from_utf8_lossy(&page).replace("\n.SH EXTRA\n", &format!("\n.SH \"{title} AND EXIT CODES\"\n"))
}

fn find<'c>(program: &'c clap::Command, names: &[String]) -> Result<&'c clap::Command, Report> {
    let mut found = program;
    for name in names {
        found = found.find_subcommand(name).ok_or_else(|| {
            let mut known: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).collect();
            known.sort_unstable();
            let fix = match known.is_empty() {
                true => format!("{} has no subcommands", found.get_name()),
                false => format!("one of {}", known.join(", ")),
            };
            Report::new(Code::Usage, format!("no such command: {:?}", names.join(" "))).fix(fix)
        })?;
    }
    Ok(found)
}
