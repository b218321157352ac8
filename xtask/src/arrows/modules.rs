//! Which room of a crate uses which: the first-level modules below `src/`, read from the paths in the sources.
//!
//! Tests do not count: what they use is not compiled into anything. A name that `lib.rs` re-exports counts as the room it
//! comes from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;

/// Who may use whom inside the program. Whoever stands higher up may use more.
const ROOMS: [(&str, &[&str]); 17] = [
    (
        "commands",
        &[
            "cli",
            "clock",
            "cluster",
            "explanations",
            "hosted",
            "inputs",
            "install",
            "journal",
            "machines",
            "page",
            "project",
            "release",
            "report",
            "runtime",
            "server",
            "terminal",
        ],
    ),
    ("cli", &["report", "terminal"]),
    (
        "page",
        &[
            "clock", "cluster", "inputs", "install", "journal", "machines", "project", "release", "report",
            "terminal",
        ],
    ),
    (
        "install",
        &[
            "clock", "cluster", "inputs", "journal", "machines", "project", "release", "report", "runtime",
            "server", "terminal",
        ],
    ),
    (
        "hosted",
        &[
            "clock", "cluster", "inputs", "journal", "machines", "project", "release", "report", "runtime",
            "terminal",
        ],
    ),
    ("server", &["clock", "inputs", "journal", "project", "release", "report", "runtime", "terminal"]),
    (
        "cluster",
        &["clock", "inputs", "journal", "machines", "project", "release", "report", "runtime", "terminal"],
    ),
    ("machines", &["clock", "inputs", "journal", "project", "release", "report", "runtime", "terminal"]),
    ("project", &["clock", "inputs", "release", "report", "runtime", "terminal"]),
    ("release", &["clock", "inputs", "report", "runtime", "terminal"]),
    ("journal", &["inputs", "report"]),
    ("inputs", &["report"]),
    ("runtime", &["clock", "report", "terminal"]),
    ("terminal", &["clock", "report"]),
    ("clock", &["report"]),
    ("explanations", &[]),
    ("report", &[]),
];

const PROGRAM: &str = "hardway";
/// What a module of tests begins with.
const TESTS: &str = "#[cfg(test)]\nmod ";

/// One room uses another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: String,
    to: String,
    /// Where the first path of that kind stands.
    place: String,
}

/// A source file: its path below the root of the repository, and its text.
struct Source {
    /// Below `src/`, without the extension.
    module: Vec<String>,
    path: String,
    text: String,
}

/// Reads the sources of every crate, and says what is wrong, a line each.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut crates = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        let name = folder.file_name().and_then(|name| name.to_str()).context("a crate without a name")?;
        if folder.join("src").is_dir() {
            let mut sources = Vec::new();
            read(name, &folder.join("src"), &[], &mut sources)?;
            crates.push((name.to_owned(), sources));
        }
    }
    crates.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(judge(&crates))
}

fn read(crate_name: &str, folder: &Path, above: &[String], sources: &mut Vec<Source>) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let mut module = above.to_vec();
        if !["lib", "main", "mod"].contains(&stem.as_str()) {
            module.push(stem);
        }
        if path.is_dir() {
            read(crate_name, &path, &module, sources)?;
        } else if is_source {
            let below = path.strip_prefix(folder.ancestors().nth(above.len()).unwrap_or(folder));
            let below = below.map(|below| below.display().to_string()).unwrap_or_default();
            let text = fs::read_to_string(&path)?;
            let path = format!("crates/{crate_name}/src/{below}");
            sources.push(Source { module, path, text });
        }
    }
    Ok(())
}

/// A cycle is wrong in every crate; the program has a table besides.
fn judge(crates: &[(String, Vec<Source>)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, sources) in crates {
        let arrows = arrows(sources);
        if name == PROGRAM {
            wrong.extend(not_in_table(sources, &arrows));
        }
        wrong.extend(cycles(&arrows).into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    wrong
}

/// Rooms without a row, rows without a room, and arrows that no row has.
fn not_in_table(sources: &[Source], arrows: &[Arrow]) -> Vec<String> {
    let rooms: BTreeSet<&str> = sources.iter().filter_map(|source| source.room()).collect();
    let mut wrong = Vec::new();
    for room in rooms.iter().filter(|room| row(room).is_none()) {
        wrong.push(format!("{PROGRAM}: {room}: a new room; say in {} whom it may use", file!()));
    }
    for (room, _) in ROOMS.iter().filter(|(room, _)| !rooms.contains(room)) {
        wrong.push(format!("{PROGRAM}: {room}: there is no such room; take its row out of {}", file!()));
    }
    for Arrow { from, to, place } in arrows {
        if row(from).is_some_and(|allowed| !allowed.contains(&to.as_str())) {
            wrong.push(format!("{place}: {from} → {to}: not allowed"));
        }
    }
    wrong
}

fn row(room: &str) -> Option<&'static [&'static str]> {
    ROOMS.iter().find(|(name, _)| *name == room).map(|(_, allowed)| *allowed)
}

/// The first arrow between any two rooms of a crate.
fn arrows(sources: &[Source]) -> Vec<Arrow> {
    let tests: BTreeSet<&str> = sources.iter().flat_map(|source| tests_in(&source.text)).collect();
    let is_test = |source: &&Source| source.module.iter().any(|step| tests.contains(step.as_str()));
    let sources: Vec<&Source> = sources.iter().filter(|source| !is_test(source)).collect();
    let rooms: BTreeSet<&str> = sources.iter().filter_map(|source| source.room()).collect();
    let exports: BTreeMap<String, String> = sources
        .iter()
        .filter(|source| source.module.is_empty())
        .flat_map(|root| exports(root, &rooms))
        .collect();
    let mut found: BTreeMap<(String, String), String> = BTreeMap::new();
    for source in sources {
        let Some(from) = source.room() else { continue };
        for (name, line) in names_at_root(source) {
            let to = if rooms.contains(name.as_str()) { Some(&name) } else { exports.get(&name) };
            if let Some(to) = to.filter(|to| to.as_str() != from) {
                let place = format!("{}:{line}", source.path);
                found.entry((from.to_owned(), to.clone())).or_insert(place);
            }
        }
    }
    found.into_iter().map(|((from, to), place)| Arrow { from, to, place }).collect()
}

impl Source {
    /// The root of a crate is none.
    fn room(&self) -> Option<&str> {
        self.module.first().map(String::as_str)
    }
}

/// Modules in files of their own that are for tests.
fn tests_in(text: &str) -> impl Iterator<Item = &str> {
    let declared = text.split(TESTS).skip(1).filter_map(|rest| rest.split_once(';'));
    declared.map(|(name, _)| name).filter(|name| name.chars().all(is_word))
}

/// Names that `lib.rs` gives to others, and the rooms they come from.
fn exports(root: &Source, rooms: &BTreeSet<&str>) -> Vec<(String, String)> {
    let text = code(&root.text);
    let mut exports = Vec::new();
    for part in text.split("use ").skip(1) {
        let path = part.split(';').next().unwrap_or_default();
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let room = path.split("::").next().unwrap_or_default().trim();
        if rooms.contains(room) {
            let words = path[room.len()..].split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
            exports.extend(words.map(|word| (word.to_owned(), room.to_owned())));
        }
    }
    exports
}

/// What a source names at the root of its crate: through `crate::`, or through enough `super::`.
fn names_at_root(source: &Source) -> Vec<(String, usize)> {
    let text = code(&source.text);
    let mut names = Vec::new();
    for (start, first) in path_starts(&text) {
        let mut rest = &text[start + first.len()..];
        let mut depth = if first == "crate" { 0 } else { source.module.len().saturating_sub(1) };
        while let Some(after) = rest.strip_prefix("::super") {
            depth = depth.saturating_sub(1);
            rest = after;
        }
        let Some(rest) = rest.strip_prefix("::").filter(|_| depth == 0) else { continue };
        let line = text[..start].matches('\n').count() + 1;
        names.extend(first_words(rest).into_iter().map(|name| (name, line)));
    }
    names
}

/// Where `crate` and `super` begin a path.
fn path_starts(text: &str) -> Vec<(usize, &'static str)> {
    let begins = |at: &usize| !text[..*at].ends_with(|c: char| is_word(c) || c == ':');
    let of = |word: &'static str| {
        let path = format!("{word}::");
        text.match_indices(&path).map(|(at, _)| at).filter(begins).map(|at| (at, word)).collect::<Vec<_>>()
    };
    let mut starts = of("crate");
    starts.extend(of("super"));
    starts.sort_unstable();
    starts
}

/// The first name of a path, or of each path in a group.
fn first_words(path: &str) -> Vec<String> {
    let word = |text: &str| text.trim_start().chars().take_while(|c| is_word(*c)).collect::<String>();
    let Some(group) = path.strip_prefix('{') else { return vec![word(path)] };
    let (mut words, mut depth, mut begins) = (Vec::new(), 0, true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && is_word(c) => {
                words.push(word(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    words
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text before its tests, without comments and strings; lines stay where they are.
fn code(text: &str) -> String {
    let is_tests = |at: &usize| text[*at..].lines().nth(1).is_some_and(|line| line.contains('{'));
    let tests = text.match_indices(TESTS).map(|(at, _)| at).find(is_tests);
    let text = &text[..tests.unwrap_or(text.len())];
    let mut code = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut is_text = false;
        let mut last = ' ';
        for (at, c) in line.char_indices() {
            if c == '"' && last != '\\' && last != '\'' {
                is_text = !is_text;
            } else if !is_text && line[at..].starts_with("//") {
                break;
            } else if !is_text {
                code.push(c);
            }
            last = if last == '\\' { ' ' } else { c };
        }
        if !code.ends_with('\n') {
            code.push('\n');
        }
    }
    code
}

/// The shortest cycle through each room that is in one, told once.
fn cycles(arrows: &[Arrow]) -> Vec<String> {
    let rooms: BTreeSet<&str> = arrows.iter().map(|arrow| arrow.from.as_str()).collect();
    let mut told: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    let mut cycles = Vec::new();
    for room in rooms {
        let Some(cycle) = way_back(arrows, room) else { continue };
        if told.insert(cycle.iter().map(|arrow| arrow.from.as_str()).collect()) {
            let steps: Vec<String> = cycle
                .iter()
                .map(|arrow| format!("{} → {} ({})", arrow.from, arrow.to, arrow.place))
                .collect();
            cycles.push(format!("a cycle: {}", steps.join(", ")));
        }
    }
    cycles
}

/// The shortest way from a room to itself.
fn way_back<'a>(arrows: &'a [Arrow], start: &str) -> Option<Vec<&'a Arrow>> {
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([(start, Vec::new())]);
    while let Some((room, way)) = queue.pop_front() {
        for arrow in arrows.iter().filter(|arrow| arrow.from == room) {
            let way = [way.as_slice(), &[arrow]].concat();
            if arrow.to == start {
                return Some(way);
            }
            if seen.insert(arrow.to.as_str()) {
                queue.push_back((arrow.to.as_str(), way));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        let below = path.trim_end_matches(".rs");
        let module = below.split('/').filter(|step| !["lib", "main", "mod"].contains(step));
        Source { module: module.map(str::to_owned).collect(), path: path.to_owned(), text: text.to_owned() }
    }

    fn found(sources: &[Source]) -> Vec<String> {
        arrows(sources)
            .into_iter()
            .map(|arrow| format!("{}→{} {}", arrow.from, arrow.to, arrow.place))
            .collect()
    }

    #[test]
    fn paths_are_found_however_they_are_written() {
        let sources = [
            source("main.rs", "mod a;\npub use d::Deep;\n"),
            source("a/mod.rs", "use super::b::Thing;\nuse super::c;"),
            source("a/inner.rs", "use super::c;\nuse super::super::c::Other;\n"),
            source("b.rs", "use crate::{\n    c::{self, Thing as d},\n    Deep,\n};\n"),
            source("c.rs", "fn f() -> crate::d::Deep {}"),
            source("a/proofs.rs", "use crate::d;"),
            source("b/mod.rs", "#[cfg(test)]\nmod proofs;\n"),
            source(
                "d.rs",
                "// crate::a\nconst X: &str = \"crate::a\";\nuse crate::d::own;\n#[cfg(test)]\nmod tests { use crate::a; }",
            ),
        ];
        let expected = ["a→b a/mod.rs:1", "a→c a/mod.rs:2", "b→c b.rs:1", "b→d b.rs:1", "c→d c.rs:1"];
        assert_eq!(found(&sources), expected);
    }

    #[test]
    fn a_cycle_is_told_once_with_its_places() {
        let sources = [
            source("a.rs", "use crate::b;"),
            source("b.rs", "\nuse crate::c;"),
            source("c.rs", "use crate::a;"),
            source("d.rs", "use crate::a;"),
        ];
        assert_eq!(cycles(&arrows(&sources)), ["a cycle: a → b (a.rs:1), b → c (b.rs:2), c → a (c.rs:1)"]);
    }

    #[test]
    fn the_table_of_the_program_counts() {
        let all = |more: Source| -> Vec<Source> {
            let rooms = ROOMS.iter().map(|(room, _)| source(&format!("{room}/mod.rs"), ""));
            rooms.chain([more]).collect()
        };
        let wrong = |more| judge(&[(PROGRAM.to_owned(), all(more))]);
        assert_eq!(wrong(source("install/run.rs", "use crate::cluster::Live;")), Vec::<String>::new());
        assert_eq!(
            wrong(source("install/run.rs", "\nuse crate::commands;")),
            ["install/run.rs:2: install → commands: not allowed"]
        );
        let strange = wrong(source("attic.rs", "use crate::report;"));
        assert!(strange.len() == 1 && strange[0].starts_with("hardway: attic: a new room"), "{strange:?}");
        let gone = judge(&[(PROGRAM.to_owned(), Vec::new())]);
        assert_eq!(gone.len(), ROOMS.len(), "{gone:?}");
    }

    #[test]
    fn cycles_of_other_crates_are_wrong_too() {
        let sources = vec![source("a.rs", "use crate::b;"), source("b.rs", "use crate::a;")];
        let wrong = judge(&[("hardway-other".to_owned(), sources)]);
        assert_eq!(wrong, ["hardway-other: a cycle: a → b (a.rs:1), b → a (b.rs:1)"]);
    }

    #[test]
    fn the_table_itself_has_no_cycle() {
        let rows = ROOMS.iter().flat_map(|(from, allowed)| {
            allowed.iter().map(|to| Arrow {
                from: (*from).to_owned(),
                to: (*to).to_owned(),
                place: String::new(),
            })
        });
        assert_eq!(cycles(&rows.collect::<Vec<_>>()), Vec::<String>::new());
    }
}
