//! `hardway certs`

use std::fmt::Write as _;

use hardway_base::files;
use hardway_cluster::certificates::{KnownCertificate, LiveCertificates};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::cli::{CertsArgs, CertsWhat, Format, Global};
use crate::clock;
use crate::cluster::{calendar, certificates};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Every certificate that is known from here. Changes nothing.
pub(crate) fn run(global: &Global, args: &CertsArgs, out: &Output) -> Result<Exit, Report> {
    if let Some(CertsWhat::Recover(args)) = &args.what {
        return super::recover::run(global, args, out);
    }
    let workdir = Workdir::open(&global.dir)?;
    let now = clock::now();
    let access = (&args.cluster).into();
    let mut found = runtime::run("looking at certificates", certificates(&workdir, &access, now, out))?;
    let name = found.cluster.clone();
    if let Some(within) = args.within {
        found.live.known.retain(|one| one.not_after.duration_since(now) <= within);
    }
    let LiveCertificates { known, unknown } = &found.live;
    match args.output {
        Format::Text => out.data(&text(known, now)),
        format => out.value(&json!({"certificates": known, "unknown": unknown}), format),
    }
    for sentence in unknown {
        out.warn(sentence);
    }
    if let Some(file) = &args.calendar {
        files::replace(file, 0o644, calendar(known, &name, now).as_bytes()).map_err(|error| {
            Report::new(Code::Usage, format!("{}: {error}", file.display()))
                .fix("name a file in a folder that is there and can be written")
        })?;
        out.info(&format!("wrote {} entries to {}", known.len(), file.display()));
    }
    let is_due = |one: &KnownCertificate| args.within.is_some() || one.not_after <= now;
    match args.exit_code && (!unknown.is_empty() || known.iter().any(is_due)) {
        true => Ok(Exit::Error),
        false => Ok(Exit::Done),
    }
}

fn text(known: &[KnownCertificate], now: Timestamp) -> String {
    let widest = known.iter().map(|one| one.name.chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:20}  {:>9}  {:7}  {:widest$}  {:44}  RENEWED BY\n",
        "EXPIRES", "LEFT", "WHERE", "NAME", "SIGNED BY"
    );
    for one in known {
        let _ = writeln!(
            text,
            "{:20}  {:>9}  {:7}  {:widest$}  {:44}  {}",
            one.not_after.to_string(),
            left(one.not_after.duration_since(now)),
            one.place.name(),
            one.name,
            one.signer.as_deref().unwrap_or("-"),
            one.renewer.as_deref().unwrap_or("nobody by itself"),
        );
    }
    text
}

fn left(left: SignedDuration) -> String {
    match left.as_hours() {
        _ if left.is_negative() || left.is_zero() => "ENDED".to_owned(),
        hours if hours < 48 => format!("{hours} h"),
        hours => format!("{} d", hours / 24),
    }
}
