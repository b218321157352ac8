//! `hardway verify`

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use hardway_cluster::verify::{Check, Verifier, VerifyOutcome};
use serde_json::{Value, json};

use crate::cli::{Format, Global, VerifyArgs};
use crate::cluster::verification::{failed, text, verifier};
use crate::cluster::{Intent, Live};
use crate::inputs::Workdir;
use crate::release::Composition;
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
        let live = Live::open(&workdir, &(&args.cluster).into(), Intent::Change, out).await?;
        run_aloud(&verifier(&live, &workdir, args.image.clone(), skip), out).await
    })?;
    let composition = Composition::of(&workdir);
    match args.output {
        Format::Text => out.painted(&out.advice(&text(&outcomes))),
        format => {
            let passed = failed(&outcomes).is_empty();
            let Composition { stand_ins, real } = &composition;
            out.value(
                &json!({"passed": passed, "checks": outcomes, "standIns": stand_ins, "real": real}),
                format,
            );
        }
    }
    if let Some(note) = composition.note() {
        out.info(&note);
    }
    let failed = failed(&outcomes);
    if failed.is_empty() {
        return Ok(Exit::Done);
    }
    let (count, names) = (failed.len(), failed.join(", "));
    Err(Report::new(Code::VerifyFailed, format!("{count} of {} checks failed: {names}", outcomes.len()))
        .fix("see what each failed check above found and how to fix it; --skip-check NAME skips one"))
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
    if check.get() == Check::Workload || check.get().needs_pod() {
        let cleaned = tokio::time::timeout(Duration::from_secs(5), verifier.clean_up()).await;
        if !matches!(cleaned, Ok(Ok(()))) {
            out.warn(
                "could not delete the namespace of the test pod; delete it with: oc delete namespace -l \
             hardway.dev/verify",
            );
        }
    }
    Err(runtime::interrupted("verifying"))
}

fn unknown_check(name: &str) -> Report {
    let names = Check::ALL.map(Check::name);
    Report::new(Code::Usage, format!("no such check: {name:?}")).fix(format!("one of {}", names.join(", ")))
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
