//! `hardway destroy`

use hardway_assets::inventory::Provider;
use hardway_journal::{FILE_NAME, Journal};
use hardway_machines::actions::{ActionListener, Executor};
use hardway_machines::providers::descriptor;

use crate::cli::{DestroyArgs, Global};
use crate::clock;
use crate::inputs::{FolderLock, Workdir, io};
use crate::journal::journal_report;
use crate::machines::{cluster_name, failed_action, outside, owned_actions, provider_kind, removal_text};
use crate::report::{Exit, Report};
use crate::terminal::{Output, confirm};

/// Takes back everything that was done to this host and its machines, last first. What is in the folder stays, but for the
/// journal, which is put with the logs: the next install begins a new one.
pub(crate) fn run(global: &Global, args: &DestroyArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let path = workdir.path(FILE_NAME);
    if !path.exists() {
        out.info("nothing was done to this host: there is no journal");
        return Ok(Exit::Done);
    }
    let keeps = |action: &str| args.keep_images && is_kept(action);
    let actions: Vec<String> = owned_actions(&workdir)?.into_iter().filter(|action| !keeps(action)).collect();
    if args.removal.dry_run {
        out.data(&removal_text(&actions));
        return Ok(Exit::Done);
    }
    if !actions.is_empty() {
        let what = format!("{}This removes the cluster for good.", removal_text(&actions));
        confirm(&what, &cluster_name(&workdir)?, args.removal.yes, out)?;
    }
    let _held = FolderLock::take(&workdir)?;
    let journal = Journal::open(&path).map_err(|error| journal_report(&error))?;
    let dir = std::path::absolute(workdir.path("")).map_err(|error| io(&error))?;
    let executor = Executor::new(&dir, &journal, &clock::now).on(outside());
    let mut printer = UndoPrinter { out, count: 0 };
    let kind = provider_kind(&workdir);
    let done = executor.down_but(keeps, &mut printer);
    done.map_err(|error| failed_action(kind, &error))?;
    let count = printer.count;
    let kept = format!("logs/journal-{}.jsonl", clock::now().strftime("%Y%m%dT%H%M%SZ"));
    fs_err::create_dir_all(workdir.path("logs")).map_err(|error| io(&error))?;
    fs_err::rename(&path, workdir.path(&kept)).map_err(|error| io(&error))?;
    let kept = workdir.shown(&kept);
    match count {
        0 => out.info(&format!(
            "nothing to take back: by the journal, nothing was done to this host or its machines; it is kept as {kept}"
        )),
        1 => out.info(&format!("1 thing taken back; the journal is kept as {kept}")),
        _ => out.info(&format!("{count} things taken back; the journal is kept as {kept}")),
    }
    out.info(&left(&workdir, args));
    if let Some(left) = kind.filter(|_| count > 0).and_then(|kind| descriptor(kind).leaves) {
        out.info(&format!("left as it is: {left}"));
    }
    Ok(Exit::Done)
}

/// Whether what an action made can outlive the machines. The inventory may not be readable by now, or name another provider.
fn is_kept(action: &str) -> bool {
    Provider::ALL.iter().any(|provider| descriptor(*provider).keeps == Some(action))
}

fn left(workdir: &Workdir, args: &DestroyArgs) -> String {
    let images = if args.keep_images { " and the lab's images" } else { "" };
    format!("left: the files in {}, keys included{images}", workdir.path("").display())
}

/// Prints each action as it is taken back, and counts them.
struct UndoPrinter<'o> {
    out: &'o Output,
    count: usize,
}

impl ActionListener for UndoPrinter<'_> {
    fn undone(&mut self, action: &str) {
        self.count += 1;
        self.out.info(&format!("{action}: taken back"));
    }
}
