//! `hardway destroy`

use hardway_assets::inventory::Provider;
use hardway_assets::work_paths;
use hardway_journal::{FILE_NAME, Journal};
use hardway_machines::actions::Executor;
use hardway_machines::providers::descriptor;

use super::removal::{ActionPrinter, NOTHING_REMOVED, Removal, taken_back};
use crate::cli::{DestroyArgs, Global};
use crate::clock;
use crate::inputs::{FolderLock, ServeLock, Workdir, io};
use crate::journal::{history, journal_report};
use crate::machines::{cluster_name, failed_action, outside, owned_actions, provider_kind, removal_text};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Takes back everything that was done to this host and its machines, last first. What is in the folder stays, but for the
/// journal, which is put with the logs: the next install begins a new one. Where it says of nothing that would go or be forgotten, it
/// stays as well.
pub(crate) fn run(global: &Global, args: &DestroyArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let path = workdir.path(FILE_NAME);
    if !path.exists() {
        out.info("nothing to remove: this folder has no journal");
        return Ok(Exit::Done);
    }
    let keeps = |action: &str| args.keep_images && is_kept(action);
    let actions: Vec<String> = owned_actions(&workdir)?.into_iter().filter(|action| !keeps(action)).collect();
    let hosts = history(&workdir)?.hosts;
    let begun: Vec<&str> = hosts.begun().into_iter().collect();
    if actions.is_empty() && begun.is_empty() {
        out.info(&taken_back(0));
        return Ok(Exit::Done);
    }
    let name = cluster_name(&workdir)?;
    let going = Removal {
        what: &(removal_text(&actions) + &forgotten_text(&begun)),
        warning: "This destroys the cluster permanently.",
        name: Some(&name),
        kept: NOTHING_REMOVED,
    };
    if !args.removal.dry_run {
        ServeLock::none(&workdir)?;
    }
    if !going.is_agreed(args.removal, out)? {
        return Ok(Exit::Done);
    }
    let _held = FolderLock::take(&workdir)?;
    let _unserved = ServeLock::none(&workdir)?;
    let journal = Journal::open(&path).map_err(|error| journal_report(&error))?;
    let dir = std::path::absolute(workdir.path("")).map_err(|error| io(&error))?;
    let executor = Executor::new(&dir, &journal, &clock::now).on(outside());
    let mut printer = ActionPrinter::new(out);
    let kind = provider_kind(&workdir);
    let done = executor.down_but(keeps, &mut printer);
    done.map_err(|error| failed_action(kind, &error))?;
    let count = printer.count;
    let kept = format!("logs/journal-{}.jsonl", clock::now().strftime("%Y%m%dT%H%M%SZ"));
    fs_err::create_dir_all(workdir.path(work_paths::LOGS)).map_err(|error| io(&error))?;
    fs_err::rename(&path, workdir.path(&kept)).map_err(|error| io(&error))?;
    out.info(&format!("{}; the journal was renamed to {}", taken_back(count), workdir.shown(&kept)));
    out.info(&left(&workdir, args));
    if let Some(left) = kind.filter(|_| count > 0).and_then(|kind| descriptor(kind).leaves) {
        out.info(&format!("not touched: {left}"));
    }
    Ok(Exit::Done)
}

/// What is no longer known afterwards, and what follows from that.
fn forgotten_text(begun: &[&str]) -> String {
    let journal = "the journal would be moved to logs/: the next install starts a new one\n";
    match begun {
        [] => journal.to_owned(),
        begun => format!(
            "{journal}these hosts have fetched their configs or joined, which would be forgotten: {}. A machine that still runs stays a \
             node, and hardway serve would hand out its config once more\n",
            begun.join(", ")
        ),
    }
}

/// Whether what an action made can outlive the machines. The inventory may not be readable by now, or name another provider.
fn is_kept(action: &str) -> bool {
    Provider::ALL.iter().any(|provider| descriptor(*provider).keeps == Some(action))
}

fn left(workdir: &Workdir, args: &DestroyArgs) -> String {
    let images = if args.keep_images { ", and the lab's images" } else { "" };
    format!("not removed: the files in {}, including keys{images}", workdir.path("").display())
}
