//! What the approver and the simulation go by: who is expected, and the settings.

use std::path::Path;

use hardway_assets::yaml;
use hardway_cluster::csr_policy::{IgnitionEvidence, Settings};
use hardway_cluster::declared::Declared;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::cli::{IgnitionArg, PolicyArgs};
use crate::clock;
use crate::input::Checked;
use crate::output::Output;
use crate::release_choice::Reach;
use crate::report::{EXIT_USAGE, Report};
use crate::workdir::Workdir;

/// Who is expected: from the file that was named, or from the two files of the folder.
pub(crate) fn declared(workdir: &Workdir, file: Option<&Path>, out: &Output) -> Result<Declared, Report> {
    let Some(file) = file else {
        let checked = Checked::load(workdir, Reach::Here(None), out)?;
        return Ok(Declared::new(&checked.config, &checked.inventory));
    };
    let documents = documents(file)?;
    let [document] = documents.as_slice() else {
        return Err(unreadable(file, format!("{} documents, where one is needed", documents.len())));
    };
    serde_json::from_value(document.clone()).map_err(|error| unreadable(file, error))
}

/// The settings, with nodes called by their host's name or their own.
pub(crate) fn settings(args: &PolicyArgs, declared: &Declared) -> Result<Settings, Report> {
    let node = |name: &String| {
        let found = declared.nodes.iter().find(|node| node.name == *name || node.host == *name);
        found.map(|node| node.name.clone()).ok_or_else(|| {
            Report::new("usage", format!("--rejoin: {name:?} is no node of this cluster")).exit(EXIT_USAGE)
        })
    };
    let given = Timestamp::from_second(clock::now()?.as_second()).unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(Settings {
        ignition: match args.ignition {
            IgnitionArg::Required => IgnitionEvidence::Required,
            IgnitionArg::IfServed => IgnitionEvidence::IfServed,
            IgnitionArg::Ignored => IgnitionEvidence::Ignored,
        },
        bootstrap_tokens: args.bootstrap_tokens,
        join_window: SignedDuration::from_mins(i64::from(args.join_window)),
        longest_lifetime: SignedDuration::from_hours(i64::from(args.longest_lifetime)),
        rejoin: args.rejoin.iter().map(|name| Ok((node(name)?, given))).collect::<Result<_, Report>>()?,
        ..Settings::default()
    })
}

/// The documents of a YAML or JSON file.
pub(crate) fn documents(file: &Path) -> Result<Vec<Value>, Report> {
    let text = fs_err::read_to_string(file)
        .map_err(|error| Report::from_error("csr-unreadable", &error).exit(EXIT_USAGE))?;
    let nodes = yaml::read_all(&text).map_err(|errors| {
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        unreadable(file, first)
    })?;
    Ok(nodes.iter().map(yaml::Node::to_json).collect())
}

/// A file that is not what it should be.
pub(crate) fn unreadable(file: &Path, why: impl std::fmt::Display) -> Report {
    Report::new("csr-unreadable", format!("{}: {why}", file.display())).exit(EXIT_USAGE)
}
