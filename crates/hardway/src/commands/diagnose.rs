//! `hardway diagnose`: the first broken link of the chain, from a cluster or from a bundle.

use std::fmt::Write as _;

use hardway_assets::explain::Kind;
use hardway_cluster::diagnosis::{Diagnosis, ROWS, all_broken, first_broken};
use serde_json::{Value, json};

use crate::cli::{DiagnoseArgs, Format, Global};
use crate::cluster::{Access, Intent, Live, diagnosis};
use crate::explanations;
use crate::inputs::Workdir;
use crate::report::{Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Collects what can be known, and says what is broken first. Exit code 1 when something is.
pub(crate) fn run(global: &Global, args: &DiagnoseArgs, out: &Output) -> Result<Exit, Report> {
    if args.list {
        list(args.output, out);
        return Ok(Exit::Done);
    }
    let workdir = Workdir::open(&global.dir)?;
    let access = Access::from(&args.cluster);
    let mut evidence = match &args.bundle {
        Some(file) => diagnosis::of_bundle(&workdir, file, access.release_dir.as_deref(), out)?,
        None => {
            let doing = || "still collecting evidence: waiting for hosts that do not answer".to_owned();
            let asked = async {
                let live = Live::open(&workdir, &access, Intent::Look, out).await?;
                diagnosis::of_cluster(&workdir, &live, out).await
            };
            let asked = runtime::aloud(out, doing, asked);
            runtime::run("collecting evidence", asked)?
        }
    };
    evidence.logs.extend(diagnosis::given(&args.log)?);
    let broken = match args.all {
        true => all_broken(&evidence),
        false => first_broken(&evidence).into_iter().collect(),
    };
    match args.output {
        Format::Text => out.data(&out.advice(&text(&broken))),
        format => out.value(&json!({"broken": broken, "probed": probed(), "entries": ROWS.len()}), format),
    }
    Ok(if broken.is_empty() { Exit::Done } else { Exit::Error })
}

fn probed() -> usize {
    ROWS.iter().filter(|row| row.is_probed()).count()
}

fn text(broken: &[Diagnosis]) -> String {
    if broken.is_empty() {
        return format!("no failure found: checked {} of {} known failures\n", probed(), ROWS.len());
    }
    broken.iter().map(diagnosis::text).collect::<Vec<_>>().join("\n")
}

fn list(format: Format, out: &Output) {
    let catalogue = explanations::catalogue();
    let mut text = String::new();
    let mut values = Vec::new();
    for row in ROWS {
        let code = format!("E-{}", row.id);
        let symptom = catalogue.get(Kind::Diagnosis, &code).map_or("", |e| e.what);
        let state = if row.is_probed() { "probed" } else { "not probed" };
        let _ = writeln!(text, "{code:6} {:14} {state:11} {symptom}", row.link);
        values.push(json!({"code": code, "link": row.link, "probed": row.is_probed(), "symptom": symptom}));
    }
    match format {
        Format::Text => out.data(&text),
        format => out.value(&Value::Array(values), format),
    }
}
