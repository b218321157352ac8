//! `hardway approve declared|simulate`

use std::fmt::Write as _;

use hardway_cluster::approver::ClusterView;
use hardway_cluster::csr_policy::{CsrVerdict, Finding, RuleFinding};
use hardway_cluster::simulation::{self, Simulated, WrongObject};
use hardway_journal::FILE_NAME;
use serde_json::Value;

use super::approve::settings;
use crate::cli::{ApproveWhat, Format, Global, SimulateArgs};
use crate::clock;
use crate::cluster::{declared, documents, unreadable};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Offline: no cluster is asked.
pub(super) fn run(global: &Global, what: &ApproveWhat, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    match what {
        ApproveWhat::Declared { output } => {
            let declared = declared(&workdir, None, out)?;
            match output {
                Format::Text => {
                    let line = |node: &hardway_cluster::declared::DeclaredNode| {
                        let addresses: Vec<String> = node.addresses.iter().map(ToString::to_string).collect();
                        format!("{:40} {}\n", node.name, addresses.join(" "))
                    };
                    out.data(&declared.nodes.iter().map(line).collect::<String>());
                }
                format => out.value(&serde_json::to_value(&declared).unwrap_or_default(), *format),
            }
            Ok(Exit::Done)
        }
        ApproveWhat::Simulate(args) => simulate(&workdir, args, out),
    }
}

fn simulate(workdir: &Workdir, args: &SimulateArgs, out: &Output) -> Result<Exit, Report> {
    let declared = declared(workdir, args.policy.declared.as_deref(), out)?;
    let settings = settings(&args.policy, &declared)?;
    let mut requests =
        simulation::requests(&documents(&args.file)?).map_err(|wrong| wrong_objects(&args.file, &wrong))?;
    if args.as_pending {
        requests = requests.into_iter().map(simulation::undecided).collect();
    }
    let nodes = match &args.node {
        Some(file) => simulation::nodes(&documents(file)?).map_err(|wrong| wrong_objects(file, &wrong))?,
        None => Vec::new(),
    };
    if requests.is_empty() {
        return Err(
            unreadable(&args.file, "it has no CertificateSigningRequest".to_owned()).exit(Exit::Usage)
        );
    }
    let now = args.now.unwrap_or_else(clock::now);
    let mut view = ClusterView::new(declared, settings);
    let journal = hardway_journal::read(&workdir.path(FILE_NAME))
        .map_err(|error| Report::from_error(Code::ApproverFailed, &error).fix(error.fix()))?;
    journal.iter().for_each(|record| view.read(record));
    let simulated = simulation::simulate(view, &requests, &nodes, now);
    match args.output {
        Format::Text => out.data(&simulated.iter().map(text).collect::<Vec<_>>().join("\n")),
        format => {
            let values = simulated.iter().map(|one| serde_json::to_value(one).unwrap_or_default());
            out.value(&Value::Array(values.collect()), format);
        }
    }
    let is_denied = |one: &Simulated| one.decision.verdict() == CsrVerdict::Deny;
    Ok(if simulated.iter().any(is_denied) { Exit::Blocked } else { Exit::Done })
}

fn text(simulated: &Simulated) -> String {
    let decision = &simulated.decision;
    let mut text = format!("{}  {}  {}\n", simulated.request, decision.verdict(), decision.reason());
    let width = decision.findings().iter().map(|found| found.rule.len()).max().unwrap_or(0);
    for RuleFinding { rule, finding } in decision.findings() {
        let (mark, told) = match finding {
            Finding::Fits { evidence } => ("ok", evidence.as_str()),
            Finding::Objects { reason, evidence } => (reason.verdict().word(), evidence.as_str()),
            Finding::DoesNotApply => ("-", ""),
        };
        let _ = writeln!(text, "{}", format!("  {mark:7} {rule:width$} {told}").trim_end());
    }
    if !simulated.fix.is_empty() {
        let _ = writeln!(text, "  fix: {}", simulated.fix);
    }
    text
}

fn wrong_objects(file: &std::path::Path, wrong: &[WrongObject]) -> Report {
    let evidence = wrong.iter().map(ToString::to_string);
    let what = format!("{} of its objects cannot be used", wrong.len());
    unreadable(file, what).evidence(evidence).exit(Exit::Usage)
}
