//! All files that a cluster is created from, judged together.

use std::collections::BTreeMap;

use hardway_assets::violation::FieldErrorKind;
use hardway_assets::yaml::{self, LineIndex, Node, Span};
use serde_json::Value;

use crate::manifest_object::ManifestObject;
use crate::{
    FieldPath, Finding, Judgement, Kinds, Mistake, Severity, embedded, machine_config, references, singletons,
};

/// A file and what is in it.
#[derive(Clone, Copy, Debug)]
pub struct ManifestFile<'f> {
    /// Path as it is to be told.
    pub path: &'f str,
    /// The bytes: YAML or JSON, with any number of objects.
    pub bytes: &'f [u8],
}

/// What was found in all of them.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// In the order of files, and of places in them.
    pub found: Vec<Finding>,
    /// Objects that nobody could check, each with the reason.
    pub unchecked: Vec<Unchecked>,
    /// Objects that were looked at.
    pub judged: usize,
}

/// An object whose kind is not known well enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// The file it is in.
    pub file: String,
    /// `ConfigMap test/a`
    pub object: String,
    /// Part of a sentence.
    pub reason: String,
}

/// etcd takes no request that is larger (`--max-request-bytes`).
const MAX_REQUEST: usize = 1_572_864;

impl Findings {
    /// Judges every object of these files as if they were created in this order. CRDs among them count for the others.
    pub fn of(files: &[ManifestFile<'_>], kinds: &mut Kinds) -> Self {
        let mut findings = Self::default();
        let mut objects = Vec::new();
        for (number, file) in files.iter().enumerate() {
            match std::str::from_utf8(file.bytes) {
                Ok(text) => findings.read(number, file.path, text, &mut objects),
                Err(error) => {
                    let good = String::from_utf8_lossy(&file.bytes[..error.valid_up_to()]).into_owned();
                    let mistake =
                        Mistake::new(&FieldPath::default(), FieldErrorKind::Syntax, "is not UTF-8 text");
                    findings.add_at(
                        file.path,
                        &good,
                        Span { start: good.len(), end: good.len() },
                        "",
                        mistake,
                    );
                }
            }
        }
        for object in &objects {
            kinds.add(&object.value);
        }
        for object in &objects {
            let path = files[object.file].path;
            findings.judge(path, object, kinds);
        }
        findings.doubles(files, &objects);
        for (index, severity, mistake) in references::check(&objects, kinds)
            .into_iter()
            .chain(machine_config::check(&objects, kinds.newest_ignition()))
            .chain(embedded::check(&objects, kinds))
        {
            let object = &objects[index];
            findings.add(files[object.file].path, object, severity, mistake);
        }
        let order = |finding: &Finding| files.iter().position(|file| file.path == finding.file);
        findings.found.sort_by_key(|finding| (order(finding), finding.span.start));
        findings
    }

    /// Those that something refuses.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.found.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Those that nobody could check, in one line by kind; nothing when there are none.
    pub fn unchecked_line(&self) -> Option<String> {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for unchecked in &self.unchecked {
            *kinds.entry(unchecked.object.split(' ').next().unwrap_or_default()).or_default() += 1;
        }
        let shown: Vec<String> = kinds
            .iter()
            .map(|(kind, count)| if *count == 1 { (*kind).to_owned() } else { format!("{kind} ({count})") })
            .collect();
        match self.unchecked.len() {
            0 => None,
            1 => Some(format!("1 object could not be checked: {}", shown.join(", "))),
            count => Some(format!("{count} objects could not be checked: {}", shown.join(", "))),
        }
    }

    fn read<'f>(&mut self, number: usize, path: &str, text: &'f str, objects: &mut Vec<ManifestObject<'f>>) {
        match yaml::read_all(text) {
            Ok(nodes) => {
                for node in nodes {
                    self.take(number, path, text, node, objects);
                }
            }
            Err(errors) => {
                for error in errors {
                    let mistake = Mistake::new(&FieldPath::default(), FieldErrorKind::Syntax, error.message);
                    self.add_at(path, text, error.span, "", mistake);
                }
            }
        }
    }

    /// A list is created one by one.
    fn take<'f>(
        &mut self,
        file: usize,
        path: &str,
        text: &'f str,
        node: Node,
        objects: &mut Vec<ManifestObject<'f>>,
    ) {
        let value = node.to_json();
        if !value.is_object() {
            let mistake = Mistake::new(
                &FieldPath::default(),
                FieldErrorKind::Syntax,
                "is not an object: apiVersion, kind and metadata are missing",
            );
            return self.add_at(path, text, node.span, "", mistake);
        }
        let is_list = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind == "List");
        match (&node.get("items").map(|items| &items.value), is_list) {
            (Some(yaml::Value::List(items)), true) => {
                for item in items.clone() {
                    self.take(file, path, text, item, objects);
                }
            }
            _ => objects.push(ManifestObject { file, text, node, value }),
        }
    }

    fn judge(&mut self, path: &str, object: &ManifestObject<'_>, kinds: &Kinds) {
        match kinds.judge(&object.value) {
            Judgement::Judged(verdict) => {
                self.judged += 1;
                for mistake in verdict.mistakes {
                    self.add(path, object, Severity::Error, mistake);
                }
                if !verdict.untried_rules.is_empty() {
                    let rules: Vec<String> = verdict.untried_rules.into_iter().collect();
                    let reason = format!("these of its rules cannot be checked here: {}", rules.join(", "));
                    self.unchecked.push(Unchecked { file: path.to_owned(), object: object.name(), reason });
                }
            }
            Judgement::Unchecked(reason) => {
                self.unchecked.push(Unchecked { file: path.to_owned(), object: object.name(), reason });
            }
        }
        for mistake in kinds.judge_status(&object.value) {
            self.add(path, object, Severity::Error, mistake);
        }
        self.nameless(path, object);
        if let Some(mistake) = singletons::check(&object.value) {
            self.add(path, object, Severity::Error, mistake);
        }
        let size = object.value.to_string().len();
        if size > MAX_REQUEST {
            let detail = format!(
                "an object may not be more than {MAX_REQUEST} bytes as JSON, this is {size}: etcd refuses it"
            );
            self.add(
                path,
                object,
                Severity::Error,
                Mistake::new(&FieldPath::default(), FieldErrorKind::TooLong, detail),
            );
        }
    }

    /// Who creates an object until it exists has to know its name.
    fn nameless(&mut self, path: &str, object: &ManifestObject<'_>) {
        let prefix = object.text_at("/metadata/generateName");
        if object.text_at("/metadata/name").is_empty() && !prefix.is_empty() {
            let detail = "the bootstrap host creates objects by their names, and has none for this one";
            let place = FieldPath::of(&["metadata", "generateName"]);
            let mistake = Mistake::new(&place, FieldErrorKind::Forbidden, detail).of(&prefix.into());
            self.add(path, object, Severity::Error, mistake.fix("use metadata.name"));
        }
    }

    /// The second of two objects with one name is never created.
    fn doubles(&mut self, files: &[ManifestFile<'_>], objects: &[ManifestObject<'_>]) {
        let mut seen: BTreeMap<(String, String), &ManifestObject<'_>> = BTreeMap::new();
        for object in objects {
            let name = object.text_at("/metadata/name");
            if name.is_empty() {
                continue;
            }
            let group =
                object.text_at("/apiVersion").rsplit_once('/').map_or("", |(group, _)| group).to_owned();
            let key = (group, object.name());
            match seen.get(&key) {
                None => {
                    seen.insert(key, object);
                }
                Some(first) => {
                    let (line, _) =
                        LineIndex::of(first.text).line_and_column(first.text, first.node.span.start);
                    let detail = format!("{} is already in {}:{line}", object.name(), files[first.file].path);
                    let path = FieldPath::of(&["metadata", "name"]);
                    let mistake = Mistake::new(&path, FieldErrorKind::Duplicate, detail).of(&name.into());
                    self.add(
                        files[object.file].path,
                        object,
                        Severity::Error,
                        mistake.fix("remove one of them"),
                    );
                }
            }
        }
    }

    fn add(&mut self, file: &str, object: &ManifestObject<'_>, severity: Severity, mut mistake: Mistake) {
        if object.text_at("/kind") == "Secret" && !mistake.path.to_string().starts_with("metadata") {
            mistake.value = None;
            // Advice about a value of the wrong type repeats it.
            mistake.fix.take_if(|_| mistake.kind == FieldErrorKind::Type);
        }
        let span = mistake.path.locate(&object.node);
        let span = mistake.line_inside.and_then(|line| line_of(object.text, span, line)).unwrap_or(span);
        let (line, column) = LineIndex::of(object.text).line_and_column(object.text, span.start);
        let name = object.name();
        self.found.push(Finding {
            file: file.to_owned(),
            span,
            line,
            column,
            object: name,
            severity,
            mistake,
        });
    }

    fn add_at(&mut self, file: &str, text: &str, span: Span, object: &str, mistake: Mistake) {
        let (line, column) = LineIndex::of(text).line_and_column(text, span.start);
        let severity = Severity::Error;
        self.found.push(Finding {
            file: file.to_owned(),
            span,
            line,
            column,
            object: object.to_owned(),
            severity,
            mistake,
        });
    }
}

/// A line of a block of text; nothing where the text is written in one line.
fn line_of(text: &str, block: Span, line: usize) -> Option<Span> {
    let inside = text.get(block.start..block.end)?;
    let skipped: usize = inside.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let wanted = inside.split_inclusive('\n').nth(line - 1).filter(|_| inside.contains('\n'))?;
    let indent = wanted.len() - wanted.trim_start().len();
    let start = block.start + skipped + indent;
    Some(Span { start, end: start + wanted.trim().len() })
}
