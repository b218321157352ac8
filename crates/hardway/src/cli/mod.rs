//! The command line.

mod advice;
#[cfg(any(debug_assertions, test))]
mod advised_commands;
mod approve_args;
mod arg_values;
mod args;
mod bmc_args;
mod certs_args;
mod check_args;
mod create_args;
mod day2_args;
mod diagnose_args;
mod environment;
mod etcd_args;
mod examples;
mod groups;
mod hosted_args;
mod hosted_workers_args;
mod infra_args;
mod install_args;
mod media_args;
mod node_args;
mod old_words;
mod page_args;
mod power_args;
mod recover_args;
mod release_args;
mod serve_args;
mod wait_for_args;

pub(crate) use advice::in_folder;
pub(crate) use approve_args::*;
pub(crate) use args::*;
pub(crate) use bmc_args::*;
pub(crate) use certs_args::*;
pub(crate) use check_args::*;
pub(crate) use create_args::*;
pub(crate) use day2_args::*;
pub(crate) use diagnose_args::*;
pub(crate) use environment::{variable, variables};
pub(crate) use etcd_args::*;
pub(crate) use examples::command;
pub(crate) use hosted_args::*;
pub(crate) use hosted_workers_args::*;
pub(crate) use infra_args::*;
pub(crate) use install_args::*;
pub(crate) use media_args::*;
pub(crate) use node_args::*;
pub(crate) use old_words::name_today;
pub(crate) use page_args::*;
pub(crate) use power_args::*;
pub(crate) use recover_args::*;
pub(crate) use release_args::*;
pub(crate) use serve_args::*;
pub(crate) use wait_for_args::*;

pub(crate) use crate::terminal::Format;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, ColorChoice, FromArgMatches as _};

use crate::report::Exit;
use crate::terminal::ErrorFormat;

/// Reads the command line.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let args = old_words::as_today(std::env::args_os().collect());
    if let Some(told) = old_words::moved(&args) {
        return Err(command().error(ErrorKind::InvalidSubcommand, told));
    }
    parse_from(args)
}

/// Prints clap's own message. Help and version are no errors; everything else is exit code 2.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { Exit::Usage } else { Exit::Done })
}

/// `hardway explain --etcd-prefix -o json` asks about a flag of another program: a flag that is none of ours is moved
/// behind `--`, where it counts as a word.
fn parse_from(mut args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let first = match read(&args) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let mut last = flag_in(&first).or_else(|| own_flag(&first, &args));
    while let Some(place) = last.and_then(|flag| place_of(&flag, &args)) {
        let flag = args.remove(place);
        if !args.iter().any(|arg| arg == "--") {
            args.push("--".into());
        }
        args.push(flag);
        last = match read(&args) {
            Ok(cli) => return Ok(cli),
            Err(error) => flag_in(&error).or_else(|| own_flag(&error, &args)),
        };
    }
    Err(first)
}

fn read(args: &[OsString]) -> Result<Cli, clap::Error> {
    let mut program = command().color(color(args));
    let matches = program.try_get_matches_from_mut(args)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut program))?;
    if cli.global.dir.as_os_str().is_empty() {
        let what = match matches.value_source("dir") {
            Some(ValueSource::EnvVariable) => "HARDWAY_DIR is empty: set it to a folder, or unset it",
            _ => "--dir is empty: name a folder, or omit the flag",
        };
        return Err(program.error(ErrorKind::InvalidValue, what));
    }
    Ok(Cli { errors: error_format(&matches), ..cli })
}

/// That of the data, whatever type the command's `-o` has.
fn error_format(matches: &ArgMatches) -> ErrorFormat {
    if let Some((_, below)) = matches.subcommand() {
        return error_format(below);
    }
    let output = matches.try_get_raw("output").ok().flatten().and_then(|mut values| values.next_back());
    if output.is_some_and(|format| format == "json") { ErrorFormat::Json } else { ErrorFormat::Text }
}

/// As the words say: help is printed before they are understood.
fn color(args: &[OsString]) -> ColorChoice {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).take_while(|arg| arg != "--").collect();
    let after = |i: usize| words.get(i + 1).map(|word| &**word);
    let given = words.iter().enumerate().find_map(|(i, word)| match word.strip_prefix("--color") {
        Some("") => after(i),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    match given {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

/// The flag that nobody knows.
fn flag_in(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => Some(flag.clone()),
        _ => None,
    }
}

/// `hardway explain --dir`: a flag of ours that nothing stands behind, and nothing else to explain.
fn own_flag(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let is_open = matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::MissingRequiredArgument);
    let last = args.last()?.to_str()?;
    (is_open && last.starts_with('-')).then(|| last.to_owned())
}

/// Where it stands behind `explain` and before `--`.
fn place_of(flag: &str, args: &[OsString]) -> Option<usize> {
    let explain = args.iter().position(|arg| arg == "explain")?;
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    (explain..end).find(|i| args[*i].to_string_lossy().split('=').next() == Some(flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(line: &str) -> Result<(String, Format), ErrorKind> {
        let cli = parse_from(line.split(' ').map(OsString::from).collect()).map_err(|error| error.kind())?;
        match cli.command {
            Command::Explain(args) => Ok((args.what.join(" "), args.output)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_of_other_programs_can_be_asked_about() {
        let asked = |what: &str, format| Ok((what.to_owned(), format));
        for (line, answer) in [
            ("hardway explain --etcd-prefix", asked("--etcd-prefix", Format::Text)),
            ("hardway explain --etcd-prefix -o json", asked("--etcd-prefix", Format::Json)),
            ("hardway explain -o yaml -- --etcd-prefix", asked("--etcd-prefix", Format::Yaml)),
            ("hardway explain kubelet --v=2 -o json", asked("kubelet --v=2", Format::Json)),
            ("hardway explain etcd-signer", asked("etcd-signer", Format::Text)),
            ("hardway explain --dir", asked("--dir", Format::Text)),
            ("hardway explain -o json --quiet", asked("--quiet", Format::Json)),
            ("hardway explain -o nothing", Err(ErrorKind::InvalidValue)),
            ("hardway status --etcd-prefix", Err(ErrorKind::UnknownArgument)),
        ] {
            assert_eq!(explained(line), answer, "{line}");
        }
    }
}
