//! Walking through two meanings side by side.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Difference;
use super::certificates;
use super::meaning::{Fields, Meaning};

/// Notes every difference below a place.
pub(super) fn walk(
    place: &str,
    ours: Option<&Meaning>,
    theirs: Option<&Meaning>,
    found: &mut Vec<Difference>,
) {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => both(place, ours, theirs, found),
        (None, None) => {}
        (Some(Meaning::Map(map)), None) => fields(map, &Fields::new(), |key| format!("{place}.{key}"), found),
        (None, Some(Meaning::Map(map))) => fields(&Fields::new(), map, |key| format!("{place}.{key}"), found),
        (ours, theirs) => {
            found.push(Difference::new(place, ours.map(Meaning::shown), theirs.map(Meaning::shown)));
        }
    }
}

/// Notes every difference between two sets of fields; `name` makes the place of a field.
pub(super) fn fields(
    ours: &Fields,
    theirs: &Fields,
    name: impl Fn(&str) -> String,
    found: &mut Vec<Difference>,
) {
    let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for key in keys {
        walk(&name(key), ours.get(key), theirs.get(key), found);
    }
}

fn both(place: &str, ours: &Meaning, theirs: &Meaning, found: &mut Vec<Difference>) {
    match (ours, theirs) {
        (Meaning::Document(a), Meaning::Document(b) | Meaning::Map(b))
        | (Meaning::Map(a), Meaning::Document(b)) => {
            fields(a, b, |key| format!("{place}: {key}"), found);
        }
        (Meaning::Map(a), Meaning::Map(b)) => fields(a, b, |key| format!("{place}.{key}"), found),
        (Meaning::List(a), Meaning::List(b)) => lists(place, a, b, found),
        (
            Meaning::Certificates { facts: a, given },
            Meaning::Certificates { facts: b, given: also_given },
        ) => certificates::compare(place, a, b, *given && *also_given, found),
        _ if ours == theirs => {}
        _ => {
            let (mut a, mut b) = (ours.shown(), theirs.shown());
            if let (true, Meaning::Scalar(x), Meaning::Scalar(y)) = (a == b, ours, theirs) {
                (a, b) = (kind(x, a), kind(y, b));
            }
            found.push(Difference::new(place, Some(a), Some(b)));
        }
    }
}

/// `"1"` and `1` look alike: the kind tells them apart.
fn kind(value: &Json, shown: String) -> String {
    match value {
        Json::Bool(_) => format!("{shown} (truth value)"),
        Json::Number(_) => format!("{shown} (number)"),
        _ => shown,
    }
}

fn lists(place: &str, ours: &[Meaning], theirs: &[Meaning], found: &mut Vec<Difference>) {
    if ours == theirs {
        return;
    }
    if let Some(identity) = IDENTITIES.iter().find(|keys| identifies(keys, ours) && identifies(keys, theirs))
    {
        return keyed(place, identity, ours, theirs, found);
    }
    if !ours.iter().chain(theirs).all(|item| matches!(item, Meaning::Scalar(_) | Meaning::Random(_))) {
        for i in 0..ours.len().max(theirs.len()) {
            walk(&format!("{place}[{i}]"), ours.get(i), theirs.get(i), found);
        }
        return;
    }
    let (only_ours, only_theirs) = (without(ours, theirs), without(theirs, ours));
    if only_ours.is_empty() && only_theirs.is_empty() {
        let all = |items: &[Meaning]| Some(Meaning::List(items.to_vec()).shown());
        found.push(Difference::new(format!("{place}: order"), all(ours), all(theirs)));
    } else {
        let some = |items: Vec<Meaning>| (!items.is_empty()).then(|| Meaning::List(items).shown());
        found.push(Difference::new(place, some(only_ours), some(only_theirs)));
    }
}

/// The items of `a` that `b` lacks, counted: two of a kind need two of it.
fn without(a: &[Meaning], b: &[Meaning]) -> Vec<Meaning> {
    let mut rest: Vec<&Meaning> = b.iter().collect();
    let mut lacking = Vec::new();
    for item in a {
        match rest.iter().position(|other| *other == item) {
            Some(at) => drop(rest.swap_remove(at)),
            None => lacking.push(item.clone()),
        }
    }
    lacking
}

/// What tells the items of a list of objects apart, tried in this order.
const IDENTITIES: [&[&str]; 6] =
    [&["kind", "group", "namespace", "name"], &["name"], &["path"], &["cidr"], &["source"], &["key"]];

fn identifies(keys: &[&str], items: &[Meaning]) -> bool {
    let mut seen = BTreeSet::new();
    let last = keys[keys.len() - 1];
    items.iter().all(|item| match item {
        Meaning::Map(fields) => {
            let complete = fields.contains_key(last) && fields.contains_key(keys[0]);
            complete && seen.insert(identity(keys, fields))
        }
        _ => false,
    })
}

fn identity(keys: &[&str], fields: &Fields) -> String {
    keys.iter().filter_map(|key| fields.get(*key)).map(Meaning::shown).collect::<Vec<_>>().join(" ")
}

fn keyed(place: &str, keys: &[&str], ours: &[Meaning], theirs: &[Meaning], found: &mut Vec<Difference>) {
    let (a, b) = (by_identity(keys, ours), by_identity(keys, theirs));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let place = format!("{place}[{name}]");
        match (a.get(name), b.get(name)) {
            (Some(ours), Some(theirs)) => both(&place, ours, theirs, found),
            (ours, theirs) => {
                let shown = |item: Option<&&Meaning>| item.map(|item| item.shown());
                found.push(Difference::new(place, shown(ours), shown(theirs)));
            }
        }
    }
    // The first network of a list is the primary one; names of other things have no order.
    let order =
        |items: &[Meaning]| items.iter().map(|item| names_of(keys, item)).collect::<Vec<_>>().join(", ");
    if keys == ["cidr"] && a.keys().eq(b.keys()) && order(ours) != order(theirs) {
        found.push(Difference::new(format!("{place}: order"), Some(order(ours)), Some(order(theirs))));
    }
}

fn by_identity<'a>(keys: &[&str], items: &'a [Meaning]) -> BTreeMap<String, &'a Meaning> {
    items.iter().map(|item| (names_of(keys, item), item)).collect()
}

fn names_of(keys: &[&str], item: &Meaning) -> String {
    match item {
        Meaning::Map(fields) => identity(keys, fields),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::masks::Masks;
    use super::super::reader::Reader;
    use super::*;

    fn differences(ours: &Json, theirs: &Json) -> Vec<(String, Option<String>, Option<String>)> {
        let masks = Masks::default();
        let reader = Reader::new(&masks);
        let mut found = Vec::new();
        walk("X", reader.document(ours).as_ref(), reader.document(theirs).as_ref(), &mut found);
        found.into_iter().map(|d| (d.place, d.ours, d.theirs)).collect()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn what_is_empty_is_absent() {
        let full =
            json!({"a": null, "b": "", "c": {}, "d": [], "e": {"f": {"g": ""}}, "creationTimestamp": "now"});
        assert_eq!(differences(&full, &json!({})), []);
        let found = differences(&json!({"a": false, "x": 1}), &json!({"x": 1}));
        assert_eq!(found, [("X: a".to_owned(), some("false"), None)]);
    }

    #[test]
    fn empty_objects_that_mean_something_count() {
        let ours = json!({"spec": {"externalIP": {"policy": {}}}, "platform": {"none": {}}, "x": 1});
        let places: Vec<String> = differences(&ours, &json!({"x": 1})).into_iter().map(|d| d.0).collect();
        assert_eq!(places, ["X: platform.none", "X: spec.externalIP.policy"]);
    }

    #[test]
    fn items_with_a_name_are_compared_by_it() {
        let ours = json!({"l": [{"name": "a", "v": 1}, {"name": "b", "v": 2}]});
        let theirs = json!({"l": [{"name": "b", "v": 3}, {"name": "a", "v": 1}, {"name": "c"}]});
        assert_eq!(
            differences(&ours, &theirs),
            [("X: l[b].v".to_owned(), some("2"), some("3")), ("X: l[c]".to_owned(), None, some("present"))]
        );
    }

    #[test]
    fn lists_of_words_show_what_the_other_lacks() {
        let found = differences(&json!({"l": ["a", "b", "b"]}), &json!({"l": ["b", "c", "a"]}));
        assert_eq!(found, [("X: l".to_owned(), some("b"), some("c"))]);
        let found = differences(&json!({"l": ["a", "b"]}), &json!({"l": ["b", "a"]}));
        assert_eq!(found, [("X: l: order".to_owned(), some("a, b"), some("b, a"))]);
    }

    #[test]
    fn the_order_of_networks_counts() {
        let found = differences(
            &json!({"n": [{"cidr": "a"}, {"cidr": "b"}]}),
            &json!({"n": [{"cidr": "b"}, {"cidr": "a"}]}),
        );
        assert_eq!(found, [("X: n: order".to_owned(), some("a, b"), some("b, a"))]);
    }

    #[test]
    fn a_number_is_not_its_text() {
        let found = differences(&json!({"a": 1}), &json!({"a": "1"}));
        assert_eq!(found, [("X: a".to_owned(), some("1 (number)"), some("1"))]);
    }
}
