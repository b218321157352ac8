//! `hardway lab`

mod release;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use hardway_assets::work_paths;
use hardway_machines::actions::{ActionCheck, Program};
use hardway_machines::providers::LabSite;

use crate::cli::{Global, LabArgs, LabVerb};
use crate::inputs::{InputFiles, Workdir};
use crate::machines::{self, outside};
use crate::project;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Puts a release together, or becomes the program that is asked for, and comes back only when that did not work.
pub(crate) fn run(global: &Global, args: &LabArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let files = InputFiles::open(&workdir)?;
    let cluster = project::cluster_before_release(&workdir, &files)?;
    let Some(site) = machines::lab_site(&cluster, &files)? else {
        return Err(Report::new(Code::Usage, "this folder's machines are not in a lab"));
    };
    let command = match &args.verb {
        LabVerb::Logs { node, arguments } => logs(&site, &known(&cluster, node)?, arguments),
        LabVerb::Release(args) => return release::run(global, args, &cluster, &site, out),
        LabVerb::Run { command } => inside(&site, &workdir, command)?,
        LabVerb::Shell { node } => {
            let mut command = Command::new("podman");
            command.args(["exec", "--interactive", "--tty"]).arg(site.container(&known(&cluster, node)?));
            command.args(["bash", "--login"]);
            command
        }
    };
    become_it(command)
}

/// Goes on inside the lab's network, if the folder's machines are in a lab that is there.
pub(crate) fn enter(global: &Global) -> Result<(), Report> {
    let Ok(workdir) = Workdir::open(&global.dir) else { return Ok(()) };
    let Ok(files) = InputFiles::open(&workdir) else { return Ok(()) };
    let Ok(cluster) = project::cluster_before_release(&workdir, &files) else { return Ok(()) };
    match machines::lab_site(&cluster, &files) {
        Ok(Some(site)) => machines::enter(&site),
        _ => Ok(()),
    }
}

fn known(cluster: &hardway_assets::Cluster, node: &str) -> Result<String, Report> {
    let hosts = &cluster.inventory.hosts;
    let found = hosts.iter().find(|host| host.name == node || cluster.node_name(host) == node);
    found.map(|host| host.name.clone()).ok_or_else(|| {
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        Report::new(Code::Usage, format!("no host {node:?} in the inventory"))
            .fix(format!("one of {}", names.join(", ")))
    })
}

/// Before systemd runs, what Ignition said is all there is.
fn logs(site: &LabSite, host: &str, arguments: &[OsString]) -> Command {
    let container = site.container(host);
    let has_systemd = ActionCheck::Succeeds(Program::words("podman exec").with([container.clone()]).with([
        "systemctl",
        "list-units",
        "--no-pager",
    ]));
    let mut command = Command::new("podman");
    if outside().holds(&has_systemd) {
        command.arg("exec").arg(container).args(["journalctl", "--no-pager"]).args(arguments);
    } else {
        command.arg("logs").arg(container);
    }
    command
}

/// With the lab's kubectl, where the computer has none.
fn inside(site: &LabSite, workdir: &Workdir, words: &[OsString]) -> Result<Command, Report> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let program = Program::new(text(&words[0]), words[1..].iter().map(text));
    if !site.namespace_file().exists() {
        let what = format!("the lab {} does not exist", site.lab);
        return Err(Report::new(Code::LabUnreachable, what).fix(
            "create it with `hardway phase run build-infra`, or everything with `hardway create cluster`",
        ));
    }
    let inside = site.inside(&program);
    let kubeconfig = std::path::absolute(workdir.path(work_paths::KUBECONFIG))
        .map_err(|error| crate::inputs::io(&error))?;
    let mut command = Command::new(&inside.program);
    command.args(&inside.arguments).env("KUBECONFIG", kubeconfig);
    let tools =
        Program::new(site.files.join("../tools/kubernetes/build.sh").display().to_string(), ["kubectl"]);
    if let Ok(folder) = outside().run(&tools) {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:{}", folder.trim()));
    }
    Ok(command)
}

fn become_it(mut command: Command) -> Result<Exit, Report> {
    let error = command.exec();
    Err(Report::from_error(Code::LabUnreachable, &error))
}
