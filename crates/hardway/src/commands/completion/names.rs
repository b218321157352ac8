//! Names that only this program knows: hosts of a folder, phases, checks, topics.

use std::path::Path;

use hardway_assets::Phase;
use hardway_assets::guide::{self, Page};
use hardway_cluster::verify;
use hardway_machines::preflight::CHECKS;

use super::candidates::Candidate;
use crate::cli;
use crate::commands::explain::topics;
use crate::inputs::{InputFiles, Workdir};
use crate::project::cluster_before_release;

/// What an argument of a command takes; none where that is not a name of ours.
pub(super) fn names(command: &str, argument: &str, dir: &Path) -> Option<Vec<Candidate>> {
    let (verb, _) = command.split_once(' ').unwrap_or((command, ""));
    match (verb, argument) {
        ("explain", "what") => {
            Some(topics(dir).into_iter().map(|(name, kind)| Candidate::new(name, kind)).collect())
        }
        ("phase", "name") => Some(phases()),
        ("verify", "skip_check") => {
            Some(verify::Check::ALL.iter().map(|check| Candidate::new(check.name(), check.asks())).collect())
        }
        (_, "skip_check" | "only") => Some(
            CHECKS.iter().map(|check| Candidate::new(check.name.as_str(), check.group.to_string())).collect(),
        ),
        ("man", "command") => Some(commands()),
        ("bmc" | "node", "name") | ("lab", "node") | ("bmc" | "media", "host") | ("serve", "reinstall") => {
            Some(hosts(dir, Called::Host))
        }
        (_, "rejoin") => Some(hosts(dir, Called::Node)),
        _ => None,
    }
}

fn phases() -> Vec<Candidate> {
    let about = |phase: &Phase| guide::page(phase.name()).map(Page::gives).unwrap_or_default();
    Phase::ALL.iter().map(|phase| Candidate::new(phase.name(), about(phase))).collect()
}

/// Commands, and those below them: a page is asked for by both words.
fn commands() -> Vec<Candidate> {
    let program = cli::command();
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let below = program.get_subcommands().flat_map(clap::Command::get_subcommands);
    program
        .get_subcommands()
        .chain(below)
        .map(|command| Candidate::new(command.get_name(), about(command)))
        .collect()
}

/// Which name of a host is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Called {
    Host,
    Node,
}

/// None in a folder that has no inventory, or a wrong one: this is not the place to say so.
fn hosts(dir: &Path, called: Called) -> Vec<Candidate> {
    let cluster =
        Workdir::open(dir).and_then(|workdir| cluster_before_release(&workdir, &InputFiles::open(&workdir)?));
    let Ok(cluster) = cluster else { return Vec::new() };
    let hosts = cluster.inventory.hosts.iter();
    hosts
        .map(|host| match called {
            Called::Host => Candidate::new(host.name.clone(), host.role.to_string()),
            Called::Node => Candidate::new(cluster.node_name(host), host.role.to_string()),
        })
        .collect()
}
