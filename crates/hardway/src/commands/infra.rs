//! `hardway infra {plan|up|down|status}`

use std::fmt::Write as _;
use std::path::PathBuf;

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_journal::{FILE_NAME, Journal};
use hardway_machines::actions::{Action, ActionListener, ActionOutcome, Executor, Step, shell};
use hardway_machines::load_balancer::{self, Change};
use hardway_machines::providers::{LoadBalancer, Provider, descriptor};
use serde_json::{Value, json};

use crate::cli::{Format, Global, InfraArgs, InfraVerb, PlanFormat};
use crate::clock;
use crate::inputs::{FolderLock, InputFiles, Workdir, io};
use crate::journal::{history, journal_report};
use crate::machines::{self, failed_action, outside};
use crate::project;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// What machines need around them, and the machines themselves, off.
pub(crate) fn run(global: &Global, args: &InfraArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    match &args.verb {
        InfraVerb::Down => down(&workdir, out),
        InfraVerb::Plan { output, script } => {
            let format = if *script { PlanFormat::Script } else { *output };
            plan(&Infra::open(&workdir)?, format, out)
        }
        InfraVerb::Status { output } => status(&workdir, &Infra::open(&workdir)?, *output, out),
        InfraVerb::Up => up(&workdir, out),
    }
}

/// What the input files ask for.
struct Infra {
    cluster: Cluster,
    /// The working folder, absolute.
    dir: PathBuf,
    stage: Stage,
}

impl Infra {
    /// To look at.
    fn open(workdir: &Workdir) -> Result<Self, Report> {
        Self::of(workdir, project::cluster_before_release(workdir, &InputFiles::open(workdir)?)?)
    }

    fn of(workdir: &Workdir, cluster: Cluster) -> Result<Self, Report> {
        let stage = machines::stage(&cluster, &history(workdir)?);
        Ok(Self { dir: absolute(workdir)?, stage, cluster })
    }

    fn provider(&self) -> Result<Box<dyn Provider>, Report> {
        machines::provider_of(&self.cluster, &self.dir, self.stage)
    }

    /// Whether names begin with an infra id that nobody has drawn yet.
    fn is_id_made_up(&self) -> bool {
        descriptor(self.cluster.inventory.machines.provider).names_begin_with_infra_id
            && !self.dir.join("secrets/identity.json").exists()
    }

    /// What a person has to change at a load balancer of their own.
    fn changes(&self, provider: &dyn Provider) -> Vec<Change> {
        match provider.load_balancer() {
            LoadBalancer::External => load_balancer::changes(&self.cluster),
            LoadBalancer::ByConfiguration | LoadBalancer::Haproxy { .. } => Vec::new(),
        }
    }
}

fn plan(infra: &Infra, format: PlanFormat, out: &Output) -> Result<Exit, Report> {
    let provider = infra.provider()?;
    let (actions, changes) = (provider.infrastructure(), infra.changes(&*provider));
    if infra.is_id_made_up() {
        let id = &infra.cluster.identity.infra_id;
        out.warn(&format!("{id}, which names begin with, is made up for this plan: `hardway infra up` draws it once and for all"));
    }
    let value = || {
        let actions: Vec<Value> = actions.iter().map(action_value).collect();
        json!({"actions": actions, "loadBalancerChanges": changes})
    };
    match format {
        PlanFormat::Json => out.value(&value(), Format::Json),
        PlanFormat::Script => out.data(&shell(&actions)),
        PlanFormat::Text => out.data(&(plan_text(&actions) + &change_text(&changes))),
        PlanFormat::Yaml => out.value(&value(), Format::Yaml),
    }
    Ok(Exit::Done)
}

fn up(workdir: &Workdir, out: &Output) -> Result<Exit, Report> {
    let _held = FolderLock::take(workdir)?;
    // Mistakes in the provider's settings leave no trace, nor does a provider that does not answer.
    let inputs = InputFiles::open(workdir)?;
    let looked = Infra::of(workdir, project::cluster_before_release(workdir, &inputs)?)?;
    machines::answered(&*looked.provider()?, looked.cluster.inventory.machines.provider)?;
    let infra = Infra::of(workdir, project::cluster_to_build(workdir, &inputs)?)?;
    let provider = infra.provider()?;
    let actions = provider.infrastructure();
    let journal = Journal::open(&workdir.path(FILE_NAME)).map_err(|error| journal_report(&error))?;
    let mut printer = ActionPrinter { out, count: 0 };
    let kind = infra.cluster.inventory.machines.provider;
    let done = executor(&infra.dir, &journal).up(&actions, &mut printer);
    done.map_err(|error| failed_action(Some(kind), &error))?;
    out.info(&format!("{} things hold, {} were done now", actions.len(), printer.count));
    let changes = infra.changes(&*provider);
    if !changes.is_empty() {
        out.info(&change_text(&changes));
    }
    Ok(Exit::Done)
}

fn down(workdir: &Workdir, out: &Output) -> Result<Exit, Report> {
    let path = workdir.path(FILE_NAME);
    if !path.exists() {
        out.info("nothing was done to this host: there is no journal");
        return Ok(Exit::Done);
    }
    let _held = FolderLock::take(workdir)?;
    let journal = Journal::open(&path).map_err(|error| journal_report(&error))?;
    let kind = machines::provider_kind(workdir);
    let mut printer = ActionPrinter { out, count: 0 };
    let done = executor(&absolute(workdir)?, &journal).down(&mut printer);
    done.map_err(|error| failed_action(kind, &error))?;
    match printer.count {
        0 => out.info("nothing to take back: by the journal, nothing was done to this host or its machines"),
        1 => out.info("1 thing taken back"),
        count => out.info(&format!("{count} things taken back")),
    }
    if let Some(left) = kind.filter(|_| printer.count > 0).and_then(|kind| descriptor(kind).leaves) {
        out.info(&format!("left as it is: {left}"));
    }
    Ok(Exit::Done)
}

fn status(workdir: &Workdir, infra: &Infra, format: Format, out: &Output) -> Result<Exit, Report> {
    let ledger = history(workdir)?.actions;
    let provider = infra.provider()?;
    let host = outside();
    machines::answered(&*provider, infra.cluster.inventory.machines.provider)?;
    let actions = provider.infrastructure();
    let mut statuses: Vec<ActionStatus> = actions
        .iter()
        .map(|action| ActionStatus {
            id: &action.id,
            state: if host.holds(&action.holds) { "holds" } else { "missing" },
            is_ours: ledger.get(&action.id).is_some(),
            why: &action.why,
        })
        .collect();
    let planned = |id: &str| actions.iter().any(|action| action.id == id);
    statuses.extend(ledger.iter().filter(|owned| !planned(&owned.action)).map(|owned| ActionStatus {
        id: &owned.action,
        state: "extra",
        is_ours: true,
        why: "Was done, and is not of the infrastructure that the inventory asks for.",
    }));
    match format {
        Format::Text => out.data(&statuses.iter().map(ActionStatus::text).collect::<String>()),
        format => out.value(&Value::Array(statuses.iter().map(ActionStatus::value).collect()), format),
    }
    Ok(Exit::Done)
}

/// One thing, as it is.
struct ActionStatus<'r> {
    id: &'r str,
    /// `holds`, `missing` or `extra`.
    state: &'static str,
    is_ours: bool,
    why: &'r str,
}

impl ActionStatus<'_> {
    fn text(&self) -> String {
        let whose = if self.is_ours { "ours" } else { "-" };
        format!("{:8} {whose:5} {:32} {}\n", self.state, self.id, self.why)
    }

    fn value(&self) -> Value {
        json!({"action": self.id, "state": self.state, "ours": self.is_ours, "why": self.why})
    }
}

fn plan_text(actions: &[Action]) -> String {
    let mut text = String::new();
    for action in actions {
        let _ = writeln!(text, "{}: {}", action.id, action.why);
        for step in &action.does {
            let _ = writeln!(text, "  $ {}", step.to_string().trim_end().replace('\n', "\n    "));
        }
    }
    text
}

fn change_text(changes: &[Change]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    format!("your load balancer:\n{}", load_balancer::table(changes))
}

fn action_value(action: &Action) -> Value {
    let steps = |steps: &[Step]| steps.iter().map(Step::to_string).collect::<Vec<_>>();
    json!({
        "action": action.id,
        "why": action.why,
        "holds": action.holds,
        "does": steps(&action.does),
        "undo": steps(&action.undo),
    })
}

fn executor<'d>(dir: &std::path::Path, journal: &'d Journal) -> Executor<'d> {
    Executor::new(dir, journal, &clock::now).on(outside())
}

fn absolute(workdir: &Workdir) -> Result<PathBuf, Report> {
    std::path::absolute(workdir.path("")).map_err(|error| io(&error))
}

/// Prints each action as it is done or taken back, and counts them.
struct ActionPrinter<'o> {
    out: &'o Output,
    count: usize,
}

impl ActionListener for ActionPrinter<'_> {
    fn holds(&mut self, action: &Action, outcome: ActionOutcome) {
        match outcome {
            ActionOutcome::AlreadyHeld => self.out.debug(&format!("{}: holds", action.id)),
            ActionOutcome::Done => {
                self.count += 1;
                self.out.info(&format!("{}: done", action.id));
            }
        }
    }

    fn undone(&mut self, action: &str) {
        self.count += 1;
        self.out.info(&format!("{action}: taken back"));
    }
}
