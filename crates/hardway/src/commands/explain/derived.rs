//! What follows from the program itself, and is written down nowhere.

use std::collections::BTreeMap;
use std::path::Path;

use hardway_assets::explain::Catalogue;
use hardway_assets::graph::Graph;
use hardway_assets::ignition::first_boot_config;
use hardway_assets::install_media::LIMITS;
use hardway_assets::{Phase, guide};
use hardway_cluster::csr_policy::RULES;
use hardway_cluster::diagnosis::ROWS as DIAGNOSES;
use hardway_cluster::verify::Check;
use hardway_machines::actions::Step;
use hardway_machines::preflight::CHECKS;
use serde::Serialize;

use super::known::Known;
use super::{components, findings, glossary};
use crate::cli;
use crate::project::{Deed, Trace, is_in_manifests};
use crate::report::{Exit, ROWS};

/// What follows from the program itself, and is written down nowhere.
#[derive(Debug, Serialize)]
pub(super) struct Derived {
    name: String,
    kind: &'static str,
    /// Labels and what stands behind each.
    lines: Vec<(&'static str, String)>,
}

impl Derived {
    /// The first that knows it.
    pub(super) fn find(what: &str, known: &Known<'_>) -> Option<Self> {
        Self::exit_code(what)
            .or_else(|| Self::flag(what, known))
            .or_else(|| Self::variable(what))
            .or_else(|| Self::rule(what))
            .or_else(|| Self::verification(what))
            .or_else(|| Self::platform(what))
            .or_else(|| Self::group(what))
            .or_else(|| Self::changed_file(what, known).map(|(file, _)| file))
            .or_else(|| Self::asset(what, known))
            .or_else(|| Self::action(what, known))
            .or_else(|| Self::folder(what, known))
            .or_else(|| Self::mistake(what))
            .or_else(|| Self::command(what, known))
            .or_else(|| Self::host(what, known))
            .or_else(|| Self::node_file(what, known))
            .or_else(|| Self::term(what))
            .or_else(|| Self::finding(what))
            .or_else(|| Self::operator(what))
            .or_else(|| Self::component(what, known))
            .or_else(|| Self::word(what))
    }

    /// A file of the folder that somebody edited, added or deleted: what follows from that.
    pub(super) fn changed_file(what: &str, known: &Known<'_>) -> Option<(Self, Deed)> {
        let workdir = known.workdir()?;
        let name = workdir.name_of(Path::new(what));
        if !is_in_manifests(&name) && !workdir.path(&name).is_file() {
            return None;
        }
        let trace = Trace::of(known.project()?, &name).ok()??;
        let kind = trace.state();
        (trace.deed != Deed::None).then(|| (Self { name, kind, lines: trace.lines() }, trace.deed))
    }

    /// A state that a command prints, or a term of its messages.
    pub(super) fn term(what: &str) -> Option<Self> {
        let (meaning, shown_by) = glossary::find(what)?;
        let lines = vec![("what", meaning.to_owned()), ("shown by", shown_by.to_owned())];
        Some(Self { name: what.to_owned(), kind: "term", lines })
    }

    /// A kind of finding in reports for pipelines.
    fn finding(what: &str) -> Option<Self> {
        let (meaning, shown_by) = findings::find(what)?;
        let lines = vec![("what", meaning), ("shown by", shown_by.to_owned())];
        Some(Self { name: what.to_owned(), kind: "finding", lines })
    }

    /// A ClusterOperator, by what it waits for.
    pub(super) fn operator(what: &str) -> Option<Self> {
        let needs = hardway_cluster::operators::usual_needs(what)?;
        let mut lines = vec![
            ("what", "A ClusterOperator: a part of OpenShift that reports whether it works.".to_owned()),
            ("waits for", needs.join(", ")),
            ("shown by", "hardway create cluster, hardway wait-for, hardway page".to_owned()),
            ("more", format!("oc describe clusteroperator {what}")),
        ];
        // Of some, the release has an image of the same name.
        lines.extend(
            components::find(what).map(|image| ("image", format!("{} Runs: {}.", image.what, image.runs))),
        );
        Some(Self { name: what.to_owned(), kind: "ClusterOperator", lines })
    }

    /// An image of a release. Of one that nobody here has heard of, what can be found out about it.
    fn component(what: &str, known: &Known<'_>) -> Option<Self> {
        Self::image(what, || known.images().contains(what))
    }

    fn image(what: &str, is_in_release: impl FnOnce() -> bool) -> Option<Self> {
        let shown_by = ("shown by", "hardway release info, hardway check images".to_owned());
        let lines = match components::find(what) {
            Some(image) => vec![("what", image.what), ("runs", image.runs), shown_by],
            None => {
                is_in_release().then_some(())?;
                let unknown = "An image of this folder's release. hardway knows nothing else about it.";
                let more = format!(
                    "`oc adm release info --image-for={what}` prints its pull spec; `skopeo inspect` of that prints its labels"
                );
                vec![("what", unknown.to_owned()), shown_by, ("more", more)]
            }
        };
        Some(Self { name: what.to_owned(), kind: "image of a release", lines })
    }

    /// A file or unit that the release's own rendered MachineConfigs bring into the node configs of the folder.
    fn node_file(what: &str, known: &Known<'_>) -> Option<Self> {
        let configs: Vec<&str> = known.node_files().get(what)?.iter().map(String::as_str).collect();
        let lines = vec![
            (
                "what",
                "A part of the node configs that the release's machine-config-operator renders.".to_owned(),
            ),
            ("in", configs.join(", ")),
            ("more", "hardway explain stage 7".to_owned()),
        ];
        Some(Self { name: what.to_owned(), kind: "file on a node", lines })
    }

    /// What is known here, with what it is.
    pub(super) fn names(known: &Known<'_>) -> Vec<(String, &'static str)> {
        let graph = known.folder().or_else(|| known.example());
        let assets = graph.into_iter().flat_map(Graph::assets).map(|asset| (asset.id(), "asset"));
        let rules = RULES.iter().flat_map(|group| group.iter());
        let rules = rules.map(|rule| (rule.name.to_owned(), "rule for certificate requests"));
        let variables = cli::variables().map(|name| (name.to_owned(), "environment variable"));
        let checks = Check::ALL.iter().map(|check| (check.name().to_owned(), "check of a cluster"));
        assets.chain(rules).chain(variables).chain(checks).collect()
    }

    /// A check of a finished cluster, as `verify` names it.
    fn verification(what: &str) -> Option<Self> {
        let check = Check::named(what)?;
        let lines = vec![("asks", check.asks().to_owned()), ("shown by", "hardway verify".to_owned())];
        Some(Self { name: what.to_owned(), kind: "check of a cluster", lines })
    }

    /// A link of the chain that `diagnose` goes along, or a group of `check`: by what is in it.
    fn group(what: &str) -> Option<Self> {
        let diagnoses = DIAGNOSES.iter().filter(|row| row.link.name() == what);
        let codes: Vec<String> = diagnoses.map(|row| format!("E-{}", row.id)).collect();
        let checks = CHECKS.iter().filter(|check| check.group.to_string() == what);
        let checks: Vec<&str> = checks.map(|check| check.name.as_str()).collect();
        let mut lines = Vec::new();
        if !checks.is_empty() {
            lines.push(("checks", checks.join(", ")));
        }
        if !codes.is_empty() {
            lines.push(("diagnoses", codes.join(", ")));
        }
        (!lines.is_empty()).then_some(Self {
            name: what.to_owned(),
            kind: "group of checks or diagnoses",
            lines,
        })
    }

    /// A platform that takes configs of a certain size, as `media limits` names it.
    fn platform(what: &str) -> Option<Self> {
        let limit = LIMITS.iter().find(|limit| limit.platform == what)?;
        let lines = vec![
            ("takes", format!("{} bytes: {}", limit.bytes, limit.what)),
            ("source", limit.source.to_owned()),
            ("shown by", "hardway media limits".to_owned()),
        ];
        Some(Self { name: what.to_owned(), kind: "platform", lines })
    }

    /// A flag of this program: what it means, and to which commands.
    pub(super) fn flag(what: &str, known: &Known<'_>) -> Option<Self> {
        let name = what.strip_prefix("hardway ").unwrap_or(what).split('=').next().unwrap_or_default();
        let is_it = |arg: &clap::Arg| match name.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => name
                .strip_prefix('-')
                .is_some_and(|short| arg.get_short().is_some_and(|letter| short.chars().eq([letter]))),
        };
        let mut meanings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        each_command(known.program(), "hardway", &mut |path, command| {
            for arg in command.get_arguments().filter(|arg| is_it(arg) && !arg.is_hide_set()) {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                // What all commands have is told once.
                let is_everywhere =
                    arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version");
                match is_everywhere {
                    true => drop(meanings.insert(help, vec!["every command".to_owned()])),
                    false => meanings.entry(help).or_default().push(path.to_owned()),
                }
            }
        });
        let lines = meanings.into_iter().flat_map(|(help, of)| [("what", help), ("of", of.join(", "))]);
        let lines: Vec<_> = lines.collect();
        (!lines.is_empty()).then(|| Self { name: format!("hardway {name}"), kind: "flag of hardway", lines })
    }

    /// A variable of the environment that counts here.
    fn variable(what: &str) -> Option<Self> {
        let meaning = cli::variable(what.trim_start_matches('$'))?;
        let lines =
            vec![("what", meaning.to_owned()), ("order", "the matching flag takes precedence".to_owned())];
        Some(Self { name: what.to_owned(), kind: "environment variable", lines })
    }

    /// A rule that certificate requests are judged by, as `approve simulate` names it.
    fn rule(what: &str) -> Option<Self> {
        let rule = RULES.iter().flat_map(|group| group.iter()).find(|rule| rule.name == what)?;
        let lines =
            vec![("holds if", rule.about.to_owned()), ("shown by", "hardway approve simulate".to_owned())];
        Some(Self { name: what.to_owned(), kind: "rule for certificate requests", lines })
    }

    /// Something that is done to this host or a machine, as `plan` and `infra` name it, in the folder's cluster.
    fn action(what: &str, known: &Known<'_>) -> Option<Self> {
        // They are called after what they are about and what they do: `balancer/config`.
        what.find('/')?;
        let action = known.actions().iter().find(|action| action.id == what)?;
        let steps = |steps: &[Step]| match steps.len() {
            0 => "nothing".to_owned(),
            _ => steps.iter().map(first_line).collect::<Vec<_>>().join("; "),
        };
        let lines =
            vec![("what", action.why.clone()), ("does", steps(&action.does)), ("undo", steps(&action.undo))];
        Some(Self { name: action.id.clone(), kind: "action", lines })
    }

    /// A folder of the cluster's folder, by what is in it.
    fn folder(what: &str, known: &Known<'_>) -> Option<Self> {
        let what = what.trim_end_matches('/');
        // Wherever the working folder is: `demo/auth`.
        let what = what.rsplit('/').next().filter(|_| !what.starts_with('/')).unwrap_or(what);
        let name = format!("{what}/");
        if what.is_empty() {
            return None;
        }
        let graph = known.example()?;
        let made: Vec<(Phase, String)> = graph
            .assets()
            .flat_map(|asset| asset.outputs().into_iter().map(move |output| (asset.phase(), output.path)))
            .filter(|(_, path)| path.starts_with(&name))
            .collect();
        let files: Vec<&str> = match made.is_empty() {
            false => made.iter().map(|(_, path)| path.as_str()).collect(),
            true => known.catalogue().iter().map(|e| e.name).filter(|path| path.starts_with(&name)).collect(),
        };
        let first = files.iter().take(6).copied().collect::<Vec<_>>().join(", ");
        let more = if files.len() > 6 { format!(", and {} more", files.len() - 6) } else { String::new() };
        let mut lines = vec![("what", "A folder inside the cluster's folder.".to_owned())];
        if let Some((phase, _)) = made.first() {
            lines.push(("phase", phase.to_string()));
        }
        lines.push(("holds", format!("{first}{more}")));
        lines.push(("more", "`hardway explain FILE` explains each".to_owned()));
        (!files.is_empty()).then_some(Self { name, kind: "folder", lines })
    }

    /// A command of this program.
    fn command(what: &str, known: &Known<'_>) -> Option<Self> {
        // What is also a state that commands print, such as off, is asked about as that.
        let what = match glossary::find(what) {
            Some(_) => what.to_owned(),
            None => cli::name_today(what.strip_prefix("hardway ").unwrap_or(what)),
        };
        let command =
            what.split(' ').try_fold(known.program(), |command, word| command.find_subcommand(word))?;
        let lines = vec![
            ("what", command.get_about().map(ToString::to_string).unwrap_or_default()),
            ("more", format!("hardway {what} --help")),
        ];
        Some(Self { name: format!("hardway {what}"), kind: "command", lines })
    }

    /// A host of the folder's inventory, or its node.
    fn host(what: &str, known: &Known<'_>) -> Option<Self> {
        let cluster = known.cluster()?;
        let hosts = &cluster.inventory.hosts;
        let host = hosts.iter().find(|host| host.name == what || cluster.node_name(host) == what)?;
        let addresses: Vec<String> = host.ip.iter().map(ToString::to_string).collect();
        let lines = vec![
            ("what", format!("A {} of the inventory, at {}.", host.role, addresses.join(", "))),
            ("node", cluster.node_name(host)),
            ("boots", first_boot_config(cluster, host)),
        ];
        Some(Self { name: host.name.clone(), kind: "host", lines })
    }

    /// `exit code 3`, `exit 3`; all of them for `exit-codes`.
    fn exit_code(what: &str) -> Option<Self> {
        if what == "exit-codes" || what == "exit codes" {
            let all = Exit::ALL.iter().map(|exit| format!("{} {}", exit.number(), exit.meaning()));
            let lines = all.map(|line| ("code", line)).collect();
            return Some(Self { name: what.to_owned(), kind: "exit codes", lines });
        }
        let number = what.strip_prefix("exit")?.trim().trim_start_matches("code").trim();
        let exit = Exit::ALL.into_iter().find(|exit| exit.number().to_string() == number)?;
        let codes = ROWS.iter().filter(|(_, exits)| exits.contains(&exit));
        let codes: Vec<&str> = codes.map(|(name, _)| *name).collect();
        let mut lines = vec![("what", exit.meaning().to_owned())];
        if !codes.is_empty() {
            lines.push(("errors", codes.join(", ")));
        }
        Some(Self { name: format!("exit code {number}"), kind: "exit code", lines })
    }

    /// A name that `status` and `graph` print: of a made-up cluster, or of the folder's.
    fn asset(what: &str, known: &Known<'_>) -> Option<Self> {
        let find = |graph| Self::asset_in(graph, what, known.catalogue());
        known.example().and_then(find).or_else(|| known.folder().and_then(find))
    }

    fn asset_in(graph: &Graph, what: &str, catalogue: &Catalogue) -> Option<Self> {
        let asset = graph.assets().find(|asset| asset.id() == what)?;
        let files: Vec<String> = asset.outputs().into_iter().map(|output| output.path).collect();
        let sources: Vec<String> = asset.sources().iter().map(ToString::to_string).collect();
        let told = files.iter().flat_map(|file| catalogue.find(file)).map(|found| found.what).next();
        let mut lines = vec![("what", told.unwrap_or("A step in the graph that writes no file.").to_owned())];
        lines.push(("phase", asset.phase().to_string()));
        lines.push(("makes", if files.is_empty() { "nothing".to_owned() } else { files.join(", ") }));
        lines.push(("from", if sources.is_empty() { "nothing".to_owned() } else { sources.join(", ") }));
        Some(Self { name: asset.id(), kind: "asset", lines })
    }

    /// T1 to T31: the mistakes of the transcript that the guide goes through.
    fn mistake(what: &str) -> Option<Self> {
        let number = what.strip_prefix(['T', 't'])?;
        number.parse::<u8>().ok()?;
        let name = format!("T{number}");
        let names = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
        // The paragraph that is about it begins with its name in bold; where there is none, the first that mentions it.
        let is_about =
            |text: &&str| text.strip_prefix("**").and_then(|text| text.split("**").next()).is_some_and(names);
        let paragraphs =
            || guide::pages().iter().flat_map(|page| page.text.split("\n\n").map(move |text| (page, text)));
        let about = paragraphs()
            .find(|(_, text)| is_about(text))
            .or_else(|| paragraphs().find(|(_, text)| names(text)));
        let (page, text) = about?;
        let lines = vec![
            ("what", text.replace('\n', " ").replace("**", "").replace('`', "")),
            ("page", format!("hardway explain stage {}", page.number)),
        ];
        Some(Self { name, kind: "mistake", lines })
    }

    /// A word of the guide: the first sentence that has it on each page.
    fn word(what: &str) -> Option<Self> {
        let what = what.to_lowercase();
        let mut lines = Vec::new();
        for page in guide::pages() {
            let prose =
                page.text.split("\n\n").filter(|text| !text.starts_with(['#', '`', ' '])).map(|text| {
                    // Tables, and the marks around them, are no sentences.
                    let lines = text.lines().filter(|line| !line.starts_with(['|', '<']));
                    lines.collect::<Vec<_>>().join(" ")
                });
            let mut sentences =
                prose.flat_map(|text| text.split_inclusive(". ").map(str::to_owned).collect::<Vec<String>>());
            let has = |sentence: &String| {
                // What is in backquotes is a command or a name of somebody else's, not a word.
                let lower = sentence.to_lowercase().split('`').step_by(2).collect::<Vec<_>>().join(" ");
                lower
                    .split(|c: char| !c.is_alphanumeric() && c != '-')
                    .any(|word| word == what || word.trim_end_matches('s') == what)
            };
            if let Some(sentence) = sentences.find(|sentence| what.len() > 3 && has(sentence)) {
                lines.push(("guide", format!("{} (hardway explain stage {})", sentence.trim(), page.number)));
            }
        }
        lines.truncate(5);
        (!lines.is_empty()).then_some(Self { name: what, kind: "word of the guide", lines })
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{} ({})\n", self.name, self.kind);
        self.lines.iter().for_each(|(label, told)| text += &format!("  {label:9} {told}\n"));
        text
    }
}

/// Calls for every command that does something, with what is typed for it.
fn each_command(command: &clap::Command, path: &str, f: &mut dyn FnMut(&str, &clap::Command)) {
    f(path, command);
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        each_command(below, &format!("{path} {}", below.get_name()), f);
    }
}

/// A step may write a whole file.
fn first_line(step: &Step) -> String {
    let text = step.to_string();
    match text.trim_end().split_once('\n') {
        Some((first, _)) => format!("{first} …"),
        None => text.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanations;
    use crate::project::example_graph;

    #[test]
    fn every_asset_that_status_and_graph_name_is_explained() {
        let (graph, catalogue) = (example_graph().unwrap(), explanations::catalogue());
        for asset in graph.assets() {
            let id = asset.id();
            let derived =
                || Derived::asset_in(&graph, &id, &catalogue).is_some_and(|told| told.lines.len() == 4);
            assert!(!catalogue.find(&id).is_empty() || derived(), "{id}");
        }
    }

    #[test]
    fn of_an_image_that_nobody_has_heard_of_nothing_is_made_up() {
        let told = Derived::image("frobnicator", || true).unwrap().text();
        assert!(told.contains("hardway knows nothing else about it"), "{told}");
        assert!(Derived::image("frobnicator", || false).is_none());
        let told = Derived::image("cluster-etcd-operator", || false).unwrap().text();
        assert!(told.contains("Runs etcd on the masters"), "{told}");
    }

    #[test]
    fn exit_codes_mistakes_and_words_of_the_guide_are_explained() {
        for exit in Exit::ALL {
            assert!(Derived::exit_code(&format!("exit code {}", exit.number())).is_some());
        }
        assert!(Derived::exit_code("exit 3").unwrap().text().contains("config-invalid"));
        for number in 1..=31 {
            let told = Derived::mistake(&format!("T{number}"));
            assert!(told.is_some_and(|told| told.lines.len() == 2), "T{number}");
        }
        for word in ["pivot", "seed"] {
            assert!(Derived::word(word).is_some(), "{word}");
        }
        assert!(Derived::word("cucumber").is_none());
    }
}
