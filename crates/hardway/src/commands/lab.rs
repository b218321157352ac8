//! `hardway lab`

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use hardway_machines::actions::{Check, Program};
use hardway_machines::providers::Place;

use crate::cli::{Global, LabArgs, LabVerb};
use crate::cluster::KUBECONFIG;
use crate::inputs::{InputFiles, Workdir};
use crate::machines::{self, outside};
use crate::project;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Becomes the program that is asked for. Comes back only when that did not work.
pub(crate) fn run(global: &Global, args: &LabArgs, _: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let files = InputFiles::open(&workdir)?;
    let cluster = project::cluster_before_release(&workdir, &files)?;
    let Some(place) = machines::place(&cluster, &files)? else {
        return Err(Report::new(Code::Usage, "the machines of this folder are not in a lab"));
    };
    let command = match &args.verb {
        LabVerb::Logs { node, arguments } => logs(&place, &known(&cluster, node)?, arguments),
        LabVerb::Run { command } => inside(&place, &workdir, command)?,
        LabVerb::Shell { node } => {
            let mut command = Command::new("podman");
            command.args(["exec", "--interactive", "--tty"]).arg(place.container(&known(&cluster, node)?));
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
    match machines::place(&cluster, &files) {
        Ok(Some(place)) => machines::enter(&place),
        _ => Ok(()),
    }
}

fn known(cluster: &hardway_assets::Cluster, node: &str) -> Result<String, Report> {
    let hosts = &cluster.inventory.hosts;
    let found = hosts.iter().find(|host| host.name == node || cluster.node_name(host) == node);
    found.map(|host| host.name.clone()).ok_or_else(|| {
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        Report::new(Code::Usage, format!("there is no host {node:?}"))
            .fix(format!("one of {}", names.join(", ")))
    })
}

/// Before systemd runs, what Ignition said is all there is.
fn logs(place: &Place, host: &str, arguments: &[OsString]) -> Command {
    let container = place.container(host);
    let has_systemd = Check::Succeeds(Program::words("podman exec").with([container.clone()]).with([
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
fn inside(place: &Place, workdir: &Workdir, words: &[OsString]) -> Result<Command, Report> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let program = Program::new(text(&words[0]), words[1..].iter().map(text));
    if !place.namespace_file().exists() {
        let what = format!("the lab {} is not there", place.lab);
        return Err(Report::new(Code::LabUnreachable, what)
            .fix("hardway phase run build-infra makes it, hardway create cluster all the rest"));
    }
    let inside = place.inside(&program);
    let kubeconfig =
        std::path::absolute(workdir.path(KUBECONFIG)).map_err(|error| crate::inputs::io(&error))?;
    let mut command = Command::new(&inside.program);
    command.args(&inside.arguments).env("KUBECONFIG", kubeconfig);
    let tools =
        Program::new(place.files.join("../tools/kubernetes/build.sh").display().to_string(), ["kubectl"]);
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
