//! Objects that meet one rule each: its parents are built, and values are drawn from the rule's own literals, from what its fields
//! allow, and from their patterns.

use std::collections::{BTreeMap, BTreeSet};

use hardway_assets::violation::FieldErrorKind;
use hardway_manifests::{Judgement, Kinds, Mistake, PathStep, Verdict};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::mutation::{Mutant, TEXTS, at, remove, value_of};

/// What was found.
#[derive(Default)]
pub(crate) struct Reached {
    /// One object for each rule that holds in it, and one for each that does not.
    pub(crate) mutants: Vec<Mutant>,
    /// Rules that no object met in one of the two ways, and why.
    pub(crate) missed: BTreeMap<String, String>,
}

/// A place of a schema with rules.
struct Place {
    steps: Vec<Step>,
    schema: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Item,
    Key,
}

/// Objects that are judged for one place of a CRD.
const TRIES: usize = 700;
/// Attempts to make an object good around what it is about.
const REPAIRS: usize = 60;
/// The key of a map's only entry.
const KEY: &str = "a";

/// Looks for objects that meet the rules of a CRD that creation tries.
pub(crate) fn reach(crd: &Value, kinds: &Kinds, done: &mut BTreeSet<(String, bool)>) -> Reached {
    let mut reached = Reached::default();
    let Some(frame) = Frame::of(crd) else { return reached };
    let mut places = Vec::new();
    collect(&frame.schema, &mut Vec::new(), &mut places);
    for place in &places {
        let rules = creation_rules(&place.schema);
        if matches!(place.steps.first(), Some(Step::Field(name)) if name == "status") {
            for rule in rules {
                reached.missed.insert(rule, "it is about status, which creation drops".to_owned());
            }
            continue;
        }
        let mut search = Search {
            frame: &frame,
            kinds,
            place,
            rules: &rules,
            done: &mut *done,
            tries: 0,
            reached: &mut reached,
        };
        search.run();
        let tries = search.tries;
        for rule in &rules {
            let met = [true, false].map(|held| done.contains(&(rule.clone(), held)));
            let why = match met {
                [true, true] => {
                    reached.missed.remove(rule);
                    continue;
                }
                [true, false] => format!("held in all of {tries} objects"),
                [false, true] => format!("broken in all of {tries} objects"),
                [false, false] => {
                    format!("tried in none of {tries} objects: what is around it is refused first")
                }
            };
            reached.missed.entry(rule.clone()).or_insert(why);
        }
    }
    reached
}

/// What all objects of a CRD have.
struct Frame {
    schema: Value,
    head: Value,
}

impl Frame {
    fn of(crd: &Value) -> Option<Self> {
        let version =
            crd.pointer("/spec/versions")?.as_array()?.iter().find(|version| version["served"] == true)?;
        let schema = version.pointer("/schema/openAPIV3Schema")?.clone();
        let group = crd.pointer("/spec/group")?.as_str()?;
        let mut metadata = json!({"name": "cluster"});
        if crd.pointer("/spec/scope")? == "Namespaced" {
            metadata["namespace"] = "test".into();
        }
        let head = json!({
            "apiVersion": format!("{group}/{}", version["name"].as_str()?),
            "kind": crd.pointer("/spec/names/kind")?,
            "metadata": metadata,
        });
        Some(Self { schema, head })
    }

    /// As little as may be, with what leads to a place; there it is so full.
    fn object(&self, steps: &[Step], depth: usize, choice: usize) -> Value {
        let mut object = built(&self.schema, steps, depth, choice);
        let fields = object.as_object_mut().expect("the schema of a kind is one of objects");
        fields.remove("status");
        fields.extend(self.head.as_object().expect("it is one").clone());
        object
    }
}

/// Rules of a schema that do not compare with what was before.
pub(crate) fn creation_rules(schema: &Value) -> Vec<String> {
    let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    let of_creation = rules.filter(|rule| {
        !rule["rule"].as_str().unwrap_or_default().contains("oldSelf") || rule["optionalOldSelf"] == true
    });
    of_creation.filter_map(|rule| Some(rule["rule"].as_str()?.trim().to_owned())).collect()
}

fn collect(schema: &Value, steps: &mut Vec<Step>, places: &mut Vec<Place>) {
    if !creation_rules(schema).is_empty() {
        places.push(Place { steps: steps.clone(), schema: schema.clone() });
    }
    let mut below = |step: Step, schema: &Value| {
        steps.push(step);
        collect(schema, steps, places);
        steps.pop();
    };
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        below(Step::Field(name.clone()), property);
    }
    if schema["items"].is_object() {
        below(Step::Item, &schema["items"]);
    }
    if schema["additionalProperties"].is_object() {
        below(Step::Key, &schema["additionalProperties"]);
    }
}

/// Beyond this depth `value_of` leaves out what need not be there.
const REQUIRED_ONLY: usize = 9;

fn built(schema: &Value, steps: &[Step], depth: usize, choice: usize) -> Value {
    let Some((step, rest)) = steps.split_first() else { return good(schema, depth, choice) };
    match step {
        Step::Item => {
            let count = schema["minItems"].as_u64().unwrap_or(1).max(1);
            (0..count).map(|_| built(&schema["items"], rest, depth, choice)).collect()
        }
        Step::Key => json!({KEY: built(&schema["additionalProperties"], rest, depth, choice)}),
        Step::Field(name) => {
            let mut value = good(schema, REQUIRED_ONLY, choice);
            if !value.is_object() {
                value = json!({});
            }
            let fields = value.as_object_mut().expect("it is one");
            fields.insert(name.clone(), built(&schema["properties"][name], rest, depth, choice));
            // Members of unions are called after the word that chooses them.
            for (other, property) in schema["properties"].as_object().into_iter().flatten() {
                let allowed = property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let of_member = |word: &&str| word.eq_ignore_ascii_case(name);
                if let Some(word) = allowed.filter(|word| !word.is_empty()).find(of_member) {
                    fields.insert(other.clone(), word.into());
                }
            }
            value
        }
    }
}

/// With texts that match their patterns.
fn good(schema: &Value, depth: usize, choice: usize) -> Value {
    let mut value = value_of(schema, depth, choice);
    let mut spots = Vec::new();
    walk(&value, schema, "", &mut |pointer, schema, value| {
        if value == "a" && schema["pattern"].is_string() {
            spots.push((pointer.to_owned(), schema["pattern"].as_str().unwrap_or_default().to_owned()));
        }
    });
    for (pointer, pattern) in spots {
        if let (Some(place), Some(text)) =
            (value.pointer_mut(&pointer), matching(&pattern).into_iter().next())
        {
            *place = text.into();
        }
    }
    value
}

/// Every value of an object with its schema.
fn walk(value: &Value, schema: &Value, pointer: &str, visit: &mut dyn FnMut(&str, &Value, &Value)) {
    visit(pointer, schema, value);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let below = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
                if let Some(below) = below.filter(|below| below.is_object()) {
                    walk(value, below, &format!("{pointer}/{}", escaped(name)), visit);
                }
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                walk(item, &schema["items"], &format!("{pointer}/{place}"), visit);
            }
        }
        _ => {}
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Texts that a regular expression matches; none where nobody can tell. Always the same.
fn matching(pattern: &str) -> Vec<String> {
    let Ok(strategy) = string_regex(pattern.trim_start_matches('^').trim_end_matches('$')) else {
        return Vec::new();
    };
    let mut runner = TestRunner::deterministic();
    (0..4).filter_map(|_| Some(strategy.new_tree(&mut runner).ok()?.current())).collect()
}

/// Objects around one place.
struct Search<'s> {
    frame: &'s Frame,
    kinds: &'s Kinds,
    place: &'s Place,
    rules: &'s [String],
    done: &'s mut BTreeSet<(String, bool)>,
    tries: usize,
    reached: &'s mut Reached,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        let is_done =
            |rule: &String| [true, false].iter().all(|held| self.done.contains(&(rule.clone(), *held)));
        self.tries >= TRIES || self.rules.iter().all(is_done)
    }

    /// Whatever it meets for the first time is kept.
    fn judge(&mut self, object: &Value) -> Option<Verdict> {
        self.tries += 1;
        let Judgement::Judged(verdict) = self.kinds.judge(object) else { return None };
        let news: Vec<_> =
            verdict.tried_rules.iter().filter(|met| !self.done.contains(met)).cloned().collect();
        if !news.is_empty() {
            let keyword = "x-kubernetes-validations".to_owned();
            self.reached.mutants.push(Mutant { keyword, object: object.clone() });
            self.done.extend(news);
        }
        Some(verdict)
    }

    fn run(&mut self) {
        for (choice, depth) in [(0, 9), (0, 6), (1, 9), (1, 6), (2, 9), (3, 9)] {
            if self.is_over() {
                return;
            }
            let mut object = self.frame.object(&self.place.steps, depth, choice);
            self.mend(&mut object);
            self.vary(&object, choice);
        }
    }

    fn pointer(&self) -> String {
        let step = |step: &Step| match step {
            Step::Field(name) => format!("/{}", escaped(name)),
            Step::Item => "/0".to_owned(),
            Step::Key => format!("/{KEY}"),
        };
        self.place.steps.iter().map(step).collect()
    }

    /// Until what is around the place is good, as far as that goes without taking the place away.
    fn mend(&mut self, object: &mut Value) {
        let pointer = self.pointer();
        for attempt in 0..REPAIRS {
            if self.is_over() {
                return;
            }
            let Some(verdict) = self.judge(object) else { return };
            let Some(mistake) = verdict.mistakes.get(attempt % verdict.mistakes.len().max(1)) else { return };
            let before = object.clone();
            mended(object, &self.frame.schema, mistake, attempt);
            if object.pointer(&pointer).is_none() {
                *object = before;
            }
        }
    }

    /// The value at the place, and those in it that the rules name, one by one and then several at once.
    fn vary(&mut self, object: &Value, seed: usize) {
        let pointer = self.pointer();
        let Some(value) = object.pointer(&pointer).cloned() else { return };
        let words = Words::of(self.rules);
        let mut changes: Vec<(String, Option<Value>)> = Vec::new();
        self.changes(&value, &words, &mut changes);
        for change in &changes {
            if self.is_over() {
                return;
            }
            if let Some(object) = with(object, &pointer, &value, std::slice::from_ref(change)) {
                self.judge(&object);
            }
        }
        if changes.is_empty() {
            return;
        }
        let mut draw = 12_345 + seed;
        let mut next = |count: usize| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draw >> 33) % count
        };
        for _ in 0..200 {
            if self.is_over() {
                return;
            }
            let several: Vec<_> = (0..2 + next(2)).map(|_| changes[next(changes.len())].clone()).collect();
            if let Some(object) = with(object, &pointer, &value, &several) {
                self.judge(&object);
            }
        }
    }

    fn changes(&self, value: &Value, words: &Words, changes: &mut Vec<(String, Option<Value>)>) {
        let mut spots: Vec<(String, Value, bool)> = Vec::new();
        walk(value, &self.place.schema, "", &mut |pointer, schema, value| {
            if pointer.matches('/').count() > 5 {
                return;
            }
            let name = pointer.rsplit('/').next().unwrap_or_default();
            if pointer.is_empty()
                || words.names.contains(name)
                || name.bytes().all(|byte| byte.is_ascii_digit())
            {
                spots.push((pointer.to_owned(), schema.clone(), true));
            }
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if value.is_object() && value.get(name).is_none() && words.names.contains(name) {
                    spots.push((format!("{pointer}/{}", escaped(name)), property.clone(), false));
                }
            }
        });
        for (pointer, schema, is_there) in spots {
            if is_there && !pointer.is_empty() {
                changes.push((pointer.clone(), None));
            }
            changes.extend(words.values(&schema).into_iter().map(|value| (pointer.clone(), Some(value))));
        }
    }
}

/// The object with other values at and below a place; none where a change does not fit.
fn with(object: &Value, at: &str, value: &Value, changes: &[(String, Option<Value>)]) -> Option<Value> {
    let mut value = value.clone();
    for (pointer, change) in changes {
        if pointer.is_empty() {
            value = change.clone()?;
            continue;
        }
        let (parent, name) = pointer.rsplit_once('/')?;
        let name = name.replace("~1", "/").replace("~0", "~");
        match (value.pointer_mut(parent)?, change) {
            (Value::Object(fields), Some(change)) => _ = fields.insert(name, change.clone()),
            (Value::Object(fields), None) => _ = fields.remove(&name),
            (Value::Array(items), Some(change)) => {
                *items.get_mut(name.parse::<usize>().ok()?)? = change.clone()
            }
            (Value::Array(items), None) => {
                let place: usize = name.parse().ok()?;
                if place >= items.len() {
                    return None;
                }
                items.remove(place);
            }
            _ => return None,
        }
    }
    let mut object = object.clone();
    *object.pointer_mut(at)? = value;
    Some(object)
}

/// What rules speak of.
struct Words {
    names: BTreeSet<String>,
    texts: Vec<String>,
    numbers: Vec<i64>,
}

impl Words {
    fn of(rules: &[String]) -> Self {
        let (mut names, mut texts, mut numbers) = (BTreeSet::new(), Vec::new(), Vec::new());
        for rule in rules {
            let bare = literals(rule, &mut texts);
            let mut word = String::new();
            for letter in bare.chars().chain([' ']) {
                if letter.is_alphanumeric() || letter == '_' {
                    word.push(letter);
                    continue;
                }
                match word.parse::<i64>() {
                    Ok(number) => numbers.push(number),
                    Err(_) if !word.is_empty() => _ = names.insert(word.replace("__dash__", "-")),
                    Err(_) => {}
                }
                word.clear();
            }
        }
        let patterns: Vec<String> =
            texts.iter().filter(|text| text.contains(['^', '[', '\\'])).cloned().collect();
        texts.extend(patterns.iter().flat_map(|pattern| matching(pattern)));
        Self { names, texts, numbers }
    }

    /// What might be tried for a value of this sort.
    fn values(&self, schema: &Value) -> Vec<Value> {
        if let Some(allowed) = schema["enum"].as_array() {
            return allowed.clone();
        }
        if schema["x-kubernetes-int-or-string"] == true {
            return vec![json!(0), json!(1), json!("0%"), json!("50%"), json!("150%"), json!("a")];
        }
        match schema["type"].as_str() {
            Some("string") => self.strings(schema),
            Some("integer" | "number") => {
                let near = self.numbers.iter().flat_map(|number| [number - 1, *number, number + 1]);
                let bounds = ["minimum", "maximum"].into_iter().filter_map(|bound| schema[bound].as_i64());
                near.chain(bounds).chain([0, 1, -1, 100]).map(|number| json!(number)).collect()
            }
            Some("boolean") => vec![json!(true), json!(false)],
            Some("array") => self.lists(schema),
            Some("object") => {
                let mut values =
                    vec![json!({}), good(schema, REQUIRED_ONLY, 0), good(schema, 6, 0), good(schema, 6, 1)];
                if schema["additionalProperties"].is_object() {
                    let filler = good(&schema["additionalProperties"], REQUIRED_ONLY, 0);
                    let key = |text: &String| json!({text: filler});
                    values.extend(self.texts.iter().map(key));
                    values.extend(
                        ["a b", "-", "kubernetes.io/a", "example.com/a"].map(|text| json!({text: filler})),
                    );
                }
                values
            }
            _ => Vec::new(),
        }
    }

    fn strings(&self, schema: &Value) -> Vec<Value> {
        let mut texts: Vec<String> = self.texts.clone();
        texts.extend(schema["pattern"].as_str().into_iter().flat_map(matching));
        texts.extend(self.texts.iter().map(|text| format!("{text}a")));
        texts.extend(TEXTS.map(str::to_owned));
        texts.extend(
            [
                "",
                "-a",
                "A_b",
                "a b",
                "http://example.com",
                "https://example.com/a?b=c#d",
                "https://user@example.com",
                "::1",
                "0.0.0.0/0",
                "127.0.0.1",
                "aa.bb.cc",
                "24h",
                "1s",
                "4.18.1",
            ]
            .map(str::to_owned),
        );
        let longest = self.numbers.iter().copied().filter(|number| (1..2000).contains(number)).max();
        texts.extend(longest.map(|length| "a".repeat(usize::try_from(length + 1).unwrap_or(1))));
        texts.into_iter().map(Value::String).collect()
    }

    /// None, one, the same twice, two that differ, and one with each value that is worth trying.
    fn lists(&self, schema: &Value) -> Vec<Value> {
        let items = &schema["items"];
        let first = good(items, REQUIRED_ONLY, 0);
        let mut lists = vec![json!([]), json!([first]), json!([first, first]), json!([good(items, 6, 0)])];
        let drawn = if items["type"] == "object" { self.items(items, &first) } else { self.values(items) };
        lists.extend(drawn.iter().take(60).map(|item| json!([item])));
        lists.extend(drawn.windows(2).take(40).map(|pair| json!(pair)));
        lists.push(drawn.iter().take(70).cloned().collect());
        lists
    }

    /// Items that differ in one field that a rule names.
    fn items(&self, schema: &Value, first: &Value) -> Vec<Value> {
        let mut drawn = vec![first.clone()];
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if !self.names.contains(name) {
                continue;
            }
            for value in self.values(property).into_iter().take(20) {
                let mut item = first.clone();
                item[name] = value;
                drawn.push(item);
            }
        }
        drawn
    }
}

/// Takes out what stands in quotes; gives what is left.
fn literals(rule: &str, texts: &mut Vec<String>) -> String {
    let (mut bare, mut letters) = (String::new(), rule.chars());
    while let Some(letter) = letters.next() {
        if letter != '\'' && letter != '"' {
            bare.push(letter);
            continue;
        }
        // `r'…'` is as it stands; elsewhere a backslash stands before what is meant.
        let is_raw = bare.ends_with('r');
        let mut text = String::new();
        while let Some(next) = letters.next() {
            match next {
                next if next == letter => break,
                '\\' if !is_raw => text.extend(letters.next()),
                next => text.push(next),
            }
        }
        texts.push(text);
        bare.push(' ');
    }
    bare
}

/// What is missing is put in, what may be otherwise becomes so, and what may not be there goes.
fn mended(object: &mut Value, schema: &Value, mistake: &Mistake, attempt: usize) {
    let path = mistake.path.steps();
    let Some((last, before)) = path.split_last() else { return };
    if mistake.kind == FieldErrorKind::Required {
        if let (Some((Value::Object(fields), schema)), PathStep::Field(name)) =
            (at(object, schema, before), last)
        {
            fields.insert(name.clone(), good(&schema["properties"][name], REQUIRED_ONLY, attempt));
        }
        return;
    }
    let Some((value, below)) = at(object, schema, path) else { return take_out(object, path) };
    let rules: Vec<String> = creation_rules(below);
    let words = Words::of(&rules);
    match value {
        Value::Object(fields) if !rules.is_empty() => {
            let mut named: Vec<(&String, &Value)> = below["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| words.names.contains(*name))
                .collect();
            if named.is_empty() {
                return take_out(object, path);
            }
            let length = named.len();
            named.rotate_left(attempt % length);
            let (name, property) = named[0];
            let is_there = fields.contains_key(name);
            let drawn = words.values(property);
            match (is_there, drawn.len()) {
                (true, count) if count > 0 && !attempt.is_multiple_of(3) => {
                    fields.insert(name.clone(), drawn[attempt % count].clone());
                }
                (true, _) => _ = fields.remove(name),
                (false, _) => _ = fields.insert(name.clone(), good(property, REQUIRED_ONLY, attempt)),
            }
        }
        Value::Object(_) | Value::Array(_) if rules.is_empty() => take_out(object, path),
        value => {
            let drawn = words.values(below);
            match drawn.get(attempt % drawn.len().max(1)) {
                Some(next) => *value = next.clone(),
                None => take_out(object, path),
            }
        }
    }
}

fn take_out(object: &mut Value, path: &[PathStep]) {
    let _ = remove(object, path);
}
