//! `hardway release extract`: all files of a release, those a cluster gets, some, or a program.

use std::path::Path;

use hardway_release::{
    CommandError, Contents, ExtractError, Extracted, check_command, extract, extract_command, extract_file,
    payload, release_info,
};
use serde_json::json;

use super::{Opened, inclusion};
use crate::cli::{ExtractArgs, Format, Global};
use crate::release::{registry_report, unusable};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

pub(super) fn run(global: &Global, args: &ExtractArgs, out: &Output) -> Result<Exit, Report> {
    match &args.command {
        Some(name) => program(global, args, name, out),
        None if !args.file.is_empty() => some(global, args, out),
        None => all(global, args, out),
    }
}

fn all(global: &Global, args: &ExtractArgs, out: &Output) -> Result<Exit, Report> {
    let to = args.to.as_deref().unwrap_or(Path::new("."));
    let opened = opened(global, args, Contents::Payload, out)?;
    // Of an image that is no release nothing is written.
    release_info(&opened.release).map_err(|error| unusable(&error))?;
    let rules = match args.included {
        true => {
            let payload = payload(&opened.release).map_err(|error| unusable(&error))?;
            Some(inclusion::rules(global, args.install_config.as_deref(), &payload, out)?)
        }
        false => None,
    };
    let extracted = extract(&opened.release, to, rules.as_ref()).map_err(|error| failed(&error))?;
    for left_out in &extracted.excluded {
        out.debug(&format!("left out: {} {}: {}", left_out.file, left_out.object, left_out.reason));
    }
    let count = extracted.written.len();
    out.info(&match args.included {
        true => format!(
            "{count} files written to {}, {} objects left out",
            to.display(),
            extracted.excluded.len()
        ),
        false => format!("{count} files written to {0}; use them with --release-dir {0}", to.display()),
    });
    if args.output != Format::Text {
        out.value(&told(to, &extracted), args.output);
    }
    Ok(Exit::Done)
}

fn told(to: &Path, extracted: &Extracted) -> serde_json::Value {
    let excluded = extracted.excluded.iter().map(|left_out| {
        json!({"file": left_out.file, "object": left_out.object, "reason": left_out.reason.to_string()})
    });
    json!({
        "to": to.display().to_string(),
        "written": extracted.written,
        "excluded": excluded.collect::<Vec<_>>(),
    })
}

/// Byte for byte: printed one after the other, or written.
fn some(global: &Global, args: &ExtractArgs, out: &Output) -> Result<Exit, Report> {
    let opened = opened(global, args, Contents::Manifests, out)?;
    let files: Vec<(&String, &[u8])> = args
        .file
        .iter()
        .map(|name| Ok((name, extract_file(&opened.release, name)?)))
        .collect::<Result<_, _>>()
        .map_err(|error| failed(&error))?;
    let Some(to) = &args.to else {
        files.iter().for_each(|(_, bytes)| out.bytes(bytes));
        return Ok(Exit::Done);
    };
    let write = || {
        fs_err::create_dir_all(to)?;
        files.iter().try_for_each(|(name, bytes)| fs_err::write(to.join(name), bytes))
    };
    write().map_err(|error: std::io::Error| Report::from_error(Code::WorkdirUnusable, &error))?;
    out.info(&format!("{} files written to {}", files.len(), to.display()));
    Ok(Exit::Done)
}

fn program(global: &Global, args: &ExtractArgs, name: &str, out: &Output) -> Result<Exit, Report> {
    check_command(name).map_err(|error| no_program(&error))?;
    let opened = opened(global, args, Contents::Manifests, out)?;
    let info = release_info(&opened.release).map_err(|error| unusable(&error))?;
    let to = args.to.as_deref().unwrap_or(Path::new("."));
    let path = runtime::block_on(extract_command(&info, name, to, &opened.options, &opened.progress))?
        .map_err(|error| no_program(&error))?;
    out.info(&format!("{} of release {} written", path.display(), info.version));
    Ok(Exit::Done)
}

fn opened(global: &Global, args: &ExtractArgs, contents: Contents, out: &Output) -> Result<Opened, Report> {
    Opened::fetch(global, &args.pull_spec, &args.access, contents, None, out)
}

fn failed(error: &ExtractError) -> Report {
    match error {
        ExtractError::File(_) => Report::from_error(Code::WorkdirUnusable, error),
        ExtractError::NotEmpty(_) | ExtractError::NoSuchFile { .. } => Report::from_error(Code::Usage, error),
        ExtractError::Malformed { .. } => unusable(error),
    }
}

fn no_program(error: &CommandError) -> Report {
    match error {
        CommandError::Unknown { .. } => Report::from_error(Code::Usage, error),
        CommandError::Registry(error) => registry_report(error),
        CommandError::Image(_)
        | CommandError::PullSpec(_)
        | CommandError::Absent { .. }
        | CommandError::Links { .. } => unusable(error),
    }
}
