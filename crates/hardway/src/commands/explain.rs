//! `hardway explain WHAT`

use std::path::Path;

use hardway_assets::Phase;
use hardway_assets::explain::{Catalogue, Explanation, Kind};
use hardway_assets::graph::Graph;
use hardway_assets::guide::{self, Page};
use hardway_assets::schema::{INSTALL_CONFIG, INVENTORY};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{ExplainArgs, Format, Global};
use crate::explanations;
use crate::inputs::Workdir;
use crate::project::{Checked, example_graph, graph_of};
use crate::release::Reach;
use crate::report::{Code, Exit, ROWS, Report};
use crate::terminal::Output;

/// Everything known under that name; a page of the guide for `stage 7` or the name of a phase; else what the graph, the exit codes and
/// the guide know of it.
pub(crate) fn run(global: &Global, args: &ExplainArgs, out: &Output) -> Result<Exit, Report> {
    let what = args.what.join(" ");
    let stage = what.strip_prefix("stage").map(str::trim);
    let catalogue = explanations::catalogue();
    let found = find(&catalogue, &what);
    if found.is_empty() {
        let name = stage.unwrap_or_else(|| what.strip_prefix("phase ").unwrap_or(&what));
        if let Some(page) = guide::page(name) {
            match args.output {
                Format::Text => out.data(page.text),
                format => out.value(&page_value(page), format),
            }
            return Ok(Exit::Done);
        }
        if let Some(stage) = stage {
            return Err(Report::new(Code::Usage, format!("the guide has no stage {stage:?}"))
                .fix(format!("stages are 1 to {}, and 0 is the map", Phase::ALL.len())));
        }
        let derived = Derived::exit_code(&what)
            .or_else(|| Derived::asset(&what, &global.dir))
            .or_else(|| Derived::mistake(&what))
            .or_else(|| Derived::word(&what));
        if let Some(derived) = derived {
            match args.output {
                Format::Text => out.data(&derived.text()),
                format => out.value(&json!([derived]), format),
            }
            return Ok(Exit::Done);
        }
        let near = catalogue.near_with(&what, Phase::ALL.iter().map(|phase| phase.name()));
        let report = Report::new(Code::Usage, format!("nothing is known about {what:?}"));
        return Err(report.fix(match near.is_empty() {
            false => format!("near: {}", near.join(", ")),
            true => "files, certificates, kubeconfigs, flags, units, assets, fields of both input files, phases, error and exit codes, and reasons are known; \
                     `hardway phase list`, `hardway status --all` and `hardway diagnose --list` name many"
                .to_owned(),
        }));
    }
    match args.output {
        Format::Text => out.data(&found.iter().map(|e| text(e)).collect::<Vec<_>>().join("\n")),
        format => out.value(&Value::Array(found.iter().map(|e| value(e)).collect()), format),
    }
    Ok(Exit::Done)
}

/// A path is also known by its end, wherever the working folder is.
fn find<'c>(catalogue: &'c Catalogue, what: &str) -> Vec<&'c Explanation> {
    let ends = what.match_indices('/').map(|(slash, _)| &what[slash + 1..]).filter(|_| what.starts_with('/'));
    let all = std::iter::once(what).chain(ends);
    all.map(|what| catalogue.find(what)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// What follows from the program itself, and is written down nowhere.
#[derive(Debug, Serialize)]
struct Derived {
    name: String,
    kind: &'static str,
    /// Labels and what stands behind each.
    lines: Vec<(&'static str, String)>,
}

impl Derived {
    /// `exit code 3`, `exit 3`.
    fn exit_code(what: &str) -> Option<Self> {
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

    /// A name that `status` and `graph` print: of the folder's cluster, else of a made-up one.
    fn asset(what: &str, dir: &Path) -> Option<Self> {
        let of_folder = || folder_graph(dir).and_then(|graph| Self::asset_in(&graph, what));
        Self::asset_in(&example_graph().ok()?, what).or_else(of_folder)
    }

    fn asset_in(graph: &Graph, what: &str) -> Option<Self> {
        let asset = graph.assets().find(|asset| asset.id() == what)?;
        let files: Vec<String> = asset.outputs().into_iter().map(|output| output.path).collect();
        let sources: Vec<String> = asset.sources().iter().map(ToString::to_string).collect();
        let catalogue = explanations::catalogue();
        let told = files.iter().flat_map(|file| catalogue.find(file)).map(|found| found.what).next();
        let mut lines = vec![("what", told.unwrap_or("A step of the graph that makes no file.").to_owned())];
        lines.push(("phase", asset.phase().to_string()));
        lines.push(("makes", if files.is_empty() { "nothing".to_owned() } else { files.join(", ") }));
        lines.push(("from", sources.join(", ")));
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
            ("what", text.replace('\n', " ")),
            ("page", format!("hardway explain stage {}", page.stage)),
        ];
        Some(Self { name, kind: "mistake", lines })
    }

    /// A word of the guide: the first sentence that has it on each page.
    fn word(what: &str) -> Option<Self> {
        let what = what.to_lowercase();
        let mut lines = Vec::new();
        for page in guide::pages() {
            let prose = page.text.split("\n\n").filter(|text| !text.starts_with(['#', '|', '`', ' ']));
            let mut sentences =
                prose.flat_map(|text| text.split_inclusive(". ").map(|sentence| sentence.replace('\n', " ")));
            let has = |sentence: &String| {
                // What is in backquotes is a command or a name of somebody else's, not a word.
                let lower = sentence.to_lowercase().split('`').step_by(2).collect::<Vec<_>>().join(" ");
                lower
                    .split(|c: char| !c.is_alphanumeric() && c != '-')
                    .any(|word| word == what || word.trim_end_matches('s') == what)
            };
            if let Some(sentence) = sentences.find(|sentence| what.len() > 3 && has(sentence)) {
                lines.push(("guide", format!("{} (hardway explain stage {})", sentence.trim(), page.stage)));
            }
        }
        lines.truncate(5);
        (!lines.is_empty()).then_some(Self { name: what, kind: "word of the guide", lines })
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({})\n", self.name, self.kind);
        self.lines.iter().for_each(|(label, told)| text += &format!("  {label:9} {told}\n"));
        text
    }
}

/// Of the cluster in the folder, if there is one that can be understood.
fn folder_graph(dir: &Path) -> Option<Graph> {
    let workdir = Workdir::open(dir).ok()?;
    graph_of(&workdir, Checked::load(&workdir, Reach::Here(None), &Output::silent()).ok()?).ok()
}

fn text(e: &Explanation) -> String {
    let labels = match e.kind {
        Kind::Check => ["asks", "why", "looks at", "fix", "source"],
        Kind::Diagnosis | Kind::HostedDiagnosis => ["symptom", "cause", "shows in", "fix", "source"],
        _ => ["what", "why", "read by", "without", "source"],
    };
    let mut text = format!("{} ({})\n", e.name, e.kind.name());
    for (label, told) in labels.iter().zip([e.what, e.why, e.readers, e.without, e.source]) {
        text += &format!("  {label:9} {told}\n");
        if *label == labels[0] && !values(e).is_empty() {
            text += &format!("  {:9} {}\n", "values", values(e).join(", "));
        }
    }
    text
}

/// What a field may say, where there are only some words: as the table of its file has them.
fn values(e: &Explanation) -> &'static [&'static str] {
    match (e.kind, e.name.strip_prefix(INVENTORY.prefix)) {
        (Kind::Field, Some(path)) => INVENTORY.allowed(path),
        (Kind::Field, None) => INSTALL_CONFIG.allowed(e.name),
        _ => &[],
    }
}

fn page_value(page: &Page) -> Value {
    json!({
        "stage": page.stage,
        "phase": page.phase.map(Phase::name),
        "title": page.title,
        "text": page.text,
    })
}

fn value(e: &Explanation) -> Value {
    json!({
        "name": e.name,
        "kind": e.kind.name(),
        "what": e.what,
        "values": values(e),
        "why": e.why,
        "readers": e.readers,
        "without": e.without,
        "source": e.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_that_status_and_graph_name_is_explained() {
        let graph = example_graph().unwrap();
        for asset in graph.assets() {
            let id = asset.id();
            let is_known = !explanations::catalogue().find(&id).is_empty();
            assert!(
                is_known || Derived::asset_in(&graph, &id).is_some_and(|told| told.lines.len() == 4),
                "{id}"
            );
        }
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

    #[test]
    fn a_generated_file_is_known_by_its_whole_path() {
        let catalogue = explanations::catalogue();
        for path in [
            "/home/me/demo/manifests/cluster-dns-02-config.yml",
            "/srv/a b/bootstrap.ign",
            "/x/.hardway.lock",
        ] {
            assert!(!find(&catalogue, path).is_empty(), "{path}");
        }
    }
}
