//! Functions of texts: CEL's own, and those of cel-go `ext/strings` and of Kubernetes' regex library.

use super::evaluation::{Outcome, error, no_such_overload};
use super::functions::{matches, not_known, place, shown};
use super::value::Val;
use crate::pattern::compile;

/// `'a'.f(b)`
pub(super) fn method(text: &str, name: &str, arguments: &[Val]) -> Outcome {
    match (name, arguments) {
        ("contains", [Val::Text(part)]) => Ok(Val::Bool(text.contains(&**part))),
        ("startsWith", [Val::Text(part)]) => Ok(Val::Bool(text.starts_with(&**part))),
        ("endsWith", [Val::Text(part)]) => Ok(Val::Bool(text.ends_with(&**part))),
        ("matches", [Val::Text(pattern)]) => matches(text, pattern),
        ("split", [Val::Text(separator)]) => Ok(split(text, separator, -1)),
        ("split", [Val::Text(separator), Val::Int(limit)]) => Ok(split(text, separator, *limit)),
        ("lowerAscii", []) => Ok(Val::text(&text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Val::text(&text.to_ascii_uppercase())),
        ("trim", []) => Ok(Val::text(text.trim())),
        ("reverse", []) => Ok(Val::text(&text.chars().rev().collect::<String>())),
        ("replace", [Val::Text(old), Val::Text(new)]) => Ok(Val::text(&text.replace(&**old, new))),
        ("replace", [Val::Text(old), Val::Text(new), Val::Int(times)]) => Ok(match usize::try_from(*times) {
            Ok(times) => Val::text(&text.replacen(&**old, new, times)),
            Err(_) => Val::text(&text.replace(&**old, new)),
        }),
        ("substring", [Val::Int(from)]) => substring(text, *from, None),
        ("substring", [Val::Int(from), Val::Int(to)]) => substring(text, *from, Some(*to)),
        ("charAt", [Val::Int(at)]) => match usize::try_from(*at) {
            Ok(at) if at == text.chars().count() => Ok(Val::text("")),
            Ok(at) => text.chars().nth(at).map(|c| Val::text(&c.to_string())).ok_or_else(|| out_of_range(at)),
            Err(_) => Err(out_of_range_of(*at)),
        },
        ("indexOf", [Val::Text(part)]) => place(text.find(&**part).map(|at| text[..at].chars().count())),
        ("lastIndexOf", [Val::Text(part)]) => place(text.rfind(&**part).map(|at| text[..at].chars().count())),
        ("find", [Val::Text(pattern)]) => match compile(pattern) {
            Some(regex) => Ok(Val::text(regex.find(text).map_or("", |found| found.as_str()))),
            None => Err(error("invalid pattern")),
        },
        ("findAll", [Val::Text(pattern), ..]) => match compile(pattern) {
            Some(regex) => {
                let limit = match arguments.get(1) {
                    Some(Val::Int(limit)) => usize::try_from(*limit).unwrap_or(usize::MAX),
                    _ => usize::MAX,
                };
                let found = regex.find_iter(text).take(limit).map(|found| Val::text(found.as_str()));
                Ok(Val::list(found.collect()))
            }
            None => Err(error("invalid pattern")),
        },
        ("format", [Val::List(values)]) => format(text, &values.items),
        _ => not_known(name, KNOWN.contains(&name)),
    }
}

const KNOWN: [&str; 17] = [
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "split",
    "lowerAscii",
    "upperAscii",
    "trim",
    "replace",
    "substring",
    "charAt",
    "indexOf",
    "lastIndexOf",
    "find",
    "findAll",
    "format",
    "reverse",
];

pub(super) fn join(items: &[Val], separator: &str) -> Outcome {
    let texts: Option<Vec<&str>> = items
        .iter()
        .map(|item| match item {
            Val::Text(text) => Some(&**text),
            _ => None,
        })
        .collect();
    texts.map(|texts| Val::text(&texts.join(separator))).ok_or_else(no_such_overload)
}

fn out_of_range(at: usize) -> super::evaluation::Failure {
    error(format!("index out of range: {at}"))
}

fn out_of_range_of(at: i64) -> super::evaluation::Failure {
    error(format!("index out of range: {at}"))
}

/// As Go's `strings.SplitN`.
fn split(text: &str, separator: &str, limit: i64) -> Val {
    let parts: Vec<&str> = match (usize::try_from(limit), separator.is_empty()) {
        (Ok(0), _) => Vec::new(),
        (Ok(limit), false) => text.splitn(limit, separator).collect(),
        (Err(_), false) => text.split(separator).collect(),
        (limit, true) => {
            let mut ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
            if let Ok(limit) = limit {
                ends.truncate(limit.saturating_sub(1));
                ends.push(text.len());
                ends.dedup();
            }
            let starts = std::iter::once(0).chain(ends.iter().copied());
            starts.zip(&ends).map(|(from, to)| &text[from..*to]).collect()
        }
    };
    Val::list(parts.into_iter().map(Val::text).collect())
}

fn substring(text: &str, from: i64, to: Option<i64>) -> Outcome {
    let count = text.chars().count();
    let to = to.unwrap_or_else(|| i64::try_from(count).unwrap_or(i64::MAX));
    let (Ok(first), Ok(end)) = (usize::try_from(from), usize::try_from(to)) else {
        return Err(out_of_range_of(from));
    };
    if first > end || end > count {
        return Err(out_of_range(end));
    }
    Ok(Val::text(&text.chars().skip(first).take(end - first).collect::<String>()))
}

/// `'%s has %d'.format(['a', 1])`
fn format(text: &str, values: &[Val]) -> Outcome {
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let end =
            after.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(|| error("an unfinished format"))?;
        let precision = after[..end].strip_prefix('.').and_then(|digits| digits.parse::<usize>().ok());
        let value = values.next().ok_or_else(|| error("index out of range"))?;
        match (&after[end..=end], value, precision) {
            ("f", Val::Double(number), precision) => {
                out.push_str(&format!("{number:.*}", precision.unwrap_or(6)))
            }
            ("x", Val::Int(number), _) => out.push_str(&format!("{number:x}")),
            ("o", Val::Int(number), _) => out.push_str(&format!("{number:o}")),
            ("b", Val::Int(number), _) => out.push_str(&format!("{number:b}")),
            _ => out.push_str(&shown(value)),
        }
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    Ok(Val::text(&out))
}
