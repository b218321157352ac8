//! `hardway explain WHAT`

mod components;
mod derived;
mod findings;
mod glossary;
mod known;

use std::collections::BTreeMap;
use std::path::Path;

use hardway_assets::Phase;
use hardway_assets::explain::{Catalogue, Explanation, Kind};
use hardway_assets::guide::{self, Page};
use hardway_assets::input_tables::{HOSTED_INVENTORY, INSTALL_CONFIG, INVENTORY};
use hardway_assets::schema::Table;
use hardway_cluster::operators::usual_operators;
use serde_json::{Value, json};

use crate::cli::{ExplainArgs, Format, Global};
use crate::project::Deed;
use crate::report::{Code, Exit, ROWS, Report};
use crate::terminal::Output;
use derived::Derived;
use known::Known;

/// Everything known under that name; a page of the guide for `stage 7` or the name of a phase; else what the graph, the exit codes and
/// the guide know of it. `-` is every line of standard input.
pub(crate) fn run(global: &Global, args: &ExplainArgs, out: &Output) -> Result<Exit, Report> {
    let known = Known::new(&global.dir);
    let what = args.what.join(" ");
    if what != "-" {
        match Explained::of(&what, &known)? {
            Explained::Page(page) if args.output == Format::Text => out.data(page.text),
            Explained::Page(page) => out.value(&page_value(page), args.output),
            Explained::Things(things) if args.output == Format::Text => out.data(&texts(&things)),
            Explained::Things(things) => {
                out.value(&Value::Array(things.iter().map(Thing::value).collect()), args.output)
            }
        }
        return Ok(Exit::Done);
    }
    let (told, unknown) = told_of_lines(&known)?;
    match args.output {
        Format::Text => out.data(&told.iter().map(|(_, told)| told.text()).collect::<Vec<_>>().join("\n")),
        format => {
            let value = |(what, told): &(String, Explained<'_>)| json!({"asked": what, "told": told.value()});
            out.value(&Value::Array(told.iter().map(value).collect()), format);
        }
    }
    match unknown.is_empty() {
        true => Ok(Exit::Done),
        false => Err(Report::new(Code::Usage, format!("no explanation for {}", unknown.join(", ")))),
    }
}

/// What is known about each line, and the lines that nobody knows.
type Lines<'k> = (Vec<(String, Explained<'k>)>, Vec<String>);

/// What is known of each of these names, for whoever shows it in another form: texts with labels, and pages of the guide. Names that
/// nobody knows are left out. Actions, terms and operators come in a journal's lines whenever they like, and are always among them:
/// the latter as `term off` and `operator console`, because commands and checks are called so, too.
pub(crate) fn explained(dir: &Path, names: impl IntoIterator<Item = String>) -> BTreeMap<String, Value> {
    let known = Known::new(dir);
    let actions = known.actions().iter().map(|action| action.id.clone());
    let told = names.into_iter().chain(actions).filter_map(|name| {
        let value = match Explained::of(&name, &known).ok()? {
            Explained::Page(page) => json!({"title": page.title, "page": page.text}),
            Explained::Things(things) => {
                json!({"things": things.iter().map(Thing::labelled).collect::<Vec<_>>()})
            }
        };
        Some((name, value))
    });
    // `OS written` for people is `os-written` for programs.
    let terms = glossary::words().filter_map(|word| {
        Some((format!("term {}", word.to_lowercase().replace(' ', "-")), Derived::term(word)?))
    });
    let operators =
        usual_operators().filter_map(|name| Some((format!("operator {name}"), Derived::operator(name)?)));
    let derived = terms.chain(operators).map(|(name, thing)| (name, json!({"things": [thing]})));
    let derived: Vec<_> = derived.collect();
    told.chain(derived).collect()
}

/// Each line of standard input.
fn told_of_lines<'k>(known: &'k Known<'_>) -> Result<Lines<'k>, Report> {
    let asked = std::io::read_to_string(std::io::stdin())
        .map_err(|error| Report::new(Code::Usage, format!("reading standard input: {error}")))?;
    let (mut told, mut unknown) = (Vec::new(), Vec::new());
    for line in asked.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match Explained::of(line, known) {
            Ok(found) => told.push((line.to_owned(), found)),
            Err(_) => unknown.push(line.to_owned()),
        }
    }
    if told.is_empty() && unknown.is_empty() {
        return Err(Report::new(Code::Usage, "standard input has no names to explain")
            .fix("write one name per line, such as: echo etcd-signer | hardway explain -"));
    }
    Ok((told, unknown))
}

/// What is known under one name.
enum Explained<'k> {
    Page(&'static Page),
    Things(Vec<Thing<'k>>),
}

/// Something that was written down, or that follows from the program.
enum Thing<'k> {
    Written(&'k Explanation),
    Derived(Derived),
}

impl<'k> Explained<'k> {
    fn of(what: &str, known: &'k Known<'_>) -> Result<Self, Report> {
        if what.trim().is_empty() {
            return Err(Report::new(Code::Usage, "nothing to explain: the name is empty").fix(
                "name a file, field, flag, error code or phase, such as `hardway explain etcd-signer`",
            ));
        }
        let stage = what.strip_prefix("stage").map(str::trim);
        let found = find(known.catalogue(), what);
        if !found.is_empty() {
            // A flag may be one of other programs and one of ours.
            let own = Derived::flag(what, known).map(Thing::Derived);
            // And a file may be another one by now than hardway makes.
            let changed = Derived::changed_file(what, known);
            // A person's own file is none of hardway's, whatever it is called.
            let is_ours = !changed.as_ref().is_some_and(|(_, deed)| *deed == Deed::Added);
            let changed = changed.map(|(file, _)| Thing::Derived(file));
            let found = found.into_iter().filter(|_| is_ours).map(Thing::Written);
            return Ok(Self::Things(found.chain(own).chain(changed).collect()));
        }
        let name = stage.unwrap_or_else(|| what.strip_prefix("phase ").unwrap_or(what));
        if let Some(page) = guide::page(name) {
            return Ok(Self::Page(page));
        }
        if let Some(stage) = stage {
            return Err(Report::new(Code::Usage, format!("no such stage in the guide: {stage:?}"))
                .fix(format!("stages are 1 to {}; 0 is the overview", Phase::ALL.len())));
        }
        match Derived::find(what, known) {
            Some(derived) => Ok(Self::Things(vec![Thing::Derived(derived)])),
            None => Err(unknown(what, known.catalogue())),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Page(page) => page.text.to_owned(),
            Self::Things(things) => texts(things),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Page(page) => page_value(page),
            Self::Things(things) => Value::Array(things.iter().map(Thing::value).collect()),
        }
    }
}

impl Thing<'_> {
    /// Its name and kind, and a label before each text.
    fn labelled(&self) -> Value {
        match self {
            Self::Written(e) => {
                let texts = [e.what, e.why, e.readers, e.without, e.source];
                let lines: Vec<(&str, &str)> = labels(e).into_iter().zip(texts).collect();
                json!({"name": e.name, "kind": e.kind.name(), "lines": lines})
            }
            Self::Derived(derived) => json!(derived),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Written(e) => text(e),
            Self::Derived(derived) => derived.text(),
        }
    }

    fn value(&self) -> Value {
        match self {
            Self::Written(e) => value(e),
            Self::Derived(derived) => json!(derived),
        }
    }
}

fn texts(things: &[Thing<'_>]) -> String {
    things.iter().map(Thing::text).collect::<Vec<_>>().join("\n")
}

fn unknown(what: &str, catalogue: &Catalogue) -> Report {
    let near = catalogue.near_with(what, Phase::ALL.iter().map(|phase| phase.name()));
    Report::new(Code::Usage, format!("no explanation for {what:?}")).fix(match near.is_empty() {
        false => format!("similar names: {}", near.join(", ")),
        true => "ask about a file, certificate, kubeconfig, flag, unit, asset, field of an input file, phase, command, \
         environment variable, error code, exit code or reason; `hardway phase list`, `hardway status --all` and `hardway \
         diagnose --list` list many of them"
            .to_owned(),
    })
}

/// Everything that can be asked about in one word, with what it is: for whoever completes words.
pub(crate) fn topics(dir: &Path) -> Vec<(String, &'static str)> {
    let known = Known::new(dir);
    let of_catalogue = known.catalogue().iter().map(|e| {
        let own = [INVENTORY.prefix, HOSTED_INVENTORY.prefix];
        let name = own.iter().find_map(|prefix| e.name.strip_prefix(prefix)).unwrap_or(e.name);
        (name.to_owned(), e.kind.name())
    });
    let phases = Phase::ALL.iter().map(|phase| (phase.name().to_owned(), "phase"));
    let mut all: Vec<_> = of_catalogue.chain(phases).chain(Derived::names(&known)).collect();
    // What stands for many, and what a shell would take apart.
    all.retain(|(name, _)| !name.contains(['<', ' ', '\'', '$']));
    all.sort_unstable();
    all.dedup_by(|a, b| a.0 == b.0);
    all
}

/// A path is also known by its end, wherever the working folder is; a file of the working folder also without its ending.
fn find<'c>(catalogue: &'c Catalogue, what: &str) -> Vec<&'c Explanation> {
    let ends = what.match_indices('/').map(|(slash, _)| &what[slash + 1..]).filter(|_| what.contains('/'));
    let is_path = |end: &&str| end.contains(['.', '/']) || what.starts_with('/');
    let all = std::iter::once(what).chain(ends.filter(is_path));
    let found = all.map(|what| catalogue.find(what)).find(|found| !found.is_empty());
    found.unwrap_or_else(|| {
        let is_stem = |e: &&Explanation| {
            let stem = e.name.rsplit_once('.').map(|(stem, _)| stem);
            e.kind == Kind::WorkFile && stem == Some(what)
        };
        catalogue.iter().filter(is_stem).collect()
    })
}

fn labels(e: &Explanation) -> [&'static str; 5] {
    match e.kind {
        Kind::Check => ["asks", "why", "looks at", "fix", "source"],
        Kind::Diagnosis | Kind::HostedDiagnosis => ["symptom", "cause", "shows in", "fix", "source"],
        _ => ["what", "why", "read by", "without", "source"],
    }
}

fn text(e: &Explanation) -> String {
    let labels = labels(e);
    let mut text = format!("{} ({})\n", e.name, e.kind.name());
    for (label, told) in labels.iter().zip([e.what, e.why, e.readers, e.without, e.source]) {
        text += &format!("  {label:9} {told}\n");
        if *label == labels[0] && !values(e).is_empty() {
            text += &format!("  {:9} {}\n", "values", values(e).join(", "));
        }
    }
    for exit in exits(e) {
        text += &format!("  {:9} {}: {}\n", "exit code", exit.number(), exit.meaning());
    }
    text
}

/// The exit codes that an error may end the program with: as the table of codes has them.
fn exits(e: &Explanation) -> &'static [Exit] {
    let row = ROWS.iter().find(|(name, _)| e.kind == Kind::Error && *name == e.name);
    row.map_or(&[], |(_, exits)| exits)
}

/// What a field may say, where there are only some words: as the table of its file has them.
fn values(e: &Explanation) -> &'static [&'static str] {
    if e.kind != Kind::Field {
        return &[];
    }
    let of = |table: &Table| e.name.strip_prefix(table.prefix).map(|path| table.allowed(path));
    of(&INVENTORY).or_else(|| of(&HOSTED_INVENTORY)).unwrap_or_else(|| INSTALL_CONFIG.allowed(e.name))
}

fn page_value(page: &Page) -> Value {
    json!({
        "stage": page.number,
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
        "exitCodes": exits(e).iter().map(|exit| exit.number()).collect::<Vec<_>>(),
        "without": e.without,
        "source": e.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanations;

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
