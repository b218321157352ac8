//! `hardway verify`

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use hardway_cluster::verify::{Check, Verifier, VerifyOutcome};
use serde_json::{Value, json};

use crate::cli::{Format, Global, VerifyArgs};
use crate::cluster::Live;
use crate::cluster::verification::{failed, text, verifier};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Looks at a cluster from outside and compares it with the inventory. Makes one namespace and takes it away again.
pub(crate) fn run(global: &Global, args: &VerifyArgs, out: &Output) -> Result<Exit, Report> {
    if args.list {
        list(args.output, out);
        return Ok(Exit::Done);
    }
    let known = |name: &String| Check::named(name).ok_or_else(|| unknown_check(name));
    let skip = args.skip_check.iter().map(known).collect::<Result<BTreeSet<Check>, Report>>()?;
    let workdir = Workdir::open(&global.dir)?;
    let outcomes = runtime::run_to_its_end(async {
        let live = Live::open(&workdir, &(&args.cluster).into(), out).await?;
        run_aloud(&verifier(&live, &workdir, args.image.clone(), skip)?, out).await
    })?;
    match args.output {
        Format::Text => out.data(&out.advice(&text(&outcomes))),
        format => out.value(&json!({"passed": failed(&outcomes).is_empty(), "checks": outcomes}), format),
    }
    let failed = failed(&outcomes);
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    let (count, names) = (failed.len(), failed.join(", "));
    Err(Report::new(Code::VerifyFailed, format!("{count} of {} checks failed: {names}", outcomes.len()))
        .fix("each failed check above says what was seen and what to do; --skip-check leaves one out"))
}

/// Says which check takes its time; and takes the test pod away again when somebody ends it.
async fn run_aloud(verifier: &Verifier, out: &Output) -> Result<Vec<VerifyOutcome>, Report> {
    let check = Cell::new(Check::Api);
    let doing = || match check.get() {
        Check::Api => format!("no answer from the API at {} yet", verifier.config.cluster_url),
        check => format!("still checking {check}"),
    };
    tokio::select! {
        outcomes = runtime::aloud(out, doing, verifier.run_telling(|begun| check.set(begun))) => return Ok(outcomes),
        _ = runtime::told_to_stop() => {}
    }
    if matches!(check.get(), Check::Workload | Check::Logs | Check::Exec) {
        let cleaned = tokio::time::timeout(Duration::from_secs(5), verifier.clean_up()).await;
        if !matches!(cleaned, Ok(Ok(()))) {
            out.warn("the namespace of the test pod could not be deleted: oc delete namespace -l hardway.dev/verify");
        }
    }
    Err(runtime::interrupted("verifying"))
}

fn unknown_check(name: &str) -> Report {
    let names = Check::ALL.map(Check::name);
    Report::new(Code::Usage, format!("there is no check {name:?}"))
        .fix(format!("one of {}", names.join(", ")))
}

fn list(format: Format, out: &Output) {
    match format {
        Format::Text => {
            Check::ALL.iter().for_each(|check| out.data(&format!("{check:16} {}\n", check.asks())))
        }
        format => {
            let list = Check::ALL.iter().map(|check| json!({"check": check, "asks": check.asks()}));
            out.value(&Value::Array(list.collect()), format);
        }
    }
}
