//! Functions of CEL, of its extensions for texts, sets and optionals, and of Kubernetes (apiserver `pkg/cel/library`).

use super::evaluation::{Failure, Outcome, error, no_such_overload};
use super::quantity::Quantity;
use super::value::Val;
use super::{network, texts};
use crate::formats::go_duration;
use crate::pattern::compile;
use crate::request_uri::RequestUri;

/// `f(a)`
pub(super) fn global(name: &str, arguments: &[Val]) -> Outcome {
    match (name, arguments) {
        ("size", [value]) => size(value),
        ("matches", [Val::Text(text), Val::Text(pattern)]) => matches(text, pattern),
        ("dyn", [value]) => Ok(value.clone()),
        ("type", [value]) => Ok(Val::Type(value.type_name())),
        ("int" | "uint" | "double" | "string" | "bool" | "bytes", [value]) => convert(name, value),
        ("duration", [Val::Duration(_)]) | ("timestamp", [Val::Timestamp(_)]) => Ok(arguments[0].clone()),
        ("duration", [Val::Text(text)]) => {
            go_duration(text).map(Val::Duration).ok_or_else(|| error(format!("invalid duration {text:?}")))
        }
        ("timestamp", [Val::Text(text)]) => {
            text.parse().map(Val::Timestamp).map_err(|_| error(format!("invalid timestamp {text:?}")))
        }
        ("timestamp", [Val::Int(seconds)]) => jiff::Timestamp::from_second(*seconds)
            .map(Val::Timestamp)
            .map_err(|_| error("timestamp overflow")),
        ("isURL", [Val::Text(text)]) => Ok(Val::Bool(RequestUri::parse(text).is_some())),
        ("url", [Val::Text(text)]) => match RequestUri::parse(text) {
            Some(url) => Ok(Val::Url(url.into())),
            None => Err(error(format!("URL parse error: {text:?}"))),
        },
        ("isQuantity", [Val::Text(text)]) => Ok(Val::Bool(Quantity::parse(text).is_some())),
        ("quantity", [Val::Text(text)]) => Quantity::parse(text)
            .map(Val::Quantity)
            .ok_or_else(|| error(format!("invalid quantity {text:?}"))),
        ("isIP" | "ip" | "isCIDR" | "cidr", [Val::Text(text)]) => network::global(name, text),
        _ => not_known(name, KNOWN_GLOBALS.contains(&name)),
    }
}

const KNOWN_GLOBALS: [&str; 19] = [
    "size",
    "matches",
    "dyn",
    "type",
    "int",
    "uint",
    "double",
    "string",
    "bool",
    "bytes",
    "duration",
    "timestamp",
    "isURL",
    "url",
    "isQuantity",
    "quantity",
    "isIP",
    "ip",
    "isCIDR",
];

/// Known with other arguments: what the server says too. Not known at all: nobody can tell.
pub(super) fn not_known(name: &str, is_known: bool) -> Outcome {
    match is_known {
        true => Err(no_such_overload()),
        false => Err(Failure::Unknown(format!("{name}()"))),
    }
}

/// `a.f(b)`
pub(super) fn method(subject: &Val, name: &str, arguments: &[Val]) -> Outcome {
    if name == "size" && arguments.is_empty() {
        return size(subject);
    }
    match subject {
        Val::Text(text) => texts::method(text, name, arguments),
        Val::List(list) => list_method(&list.items, name, arguments),
        Val::Optional(inner) => optional_method(inner.as_deref(), name, arguments),
        Val::Ip(_) | Val::Cidr(..) => network::method(subject, name, arguments),
        Val::Url(url) => url_method(url, name),
        Val::Quantity(quantity) => quantity_method(*quantity, name, arguments),
        Val::Duration(nanoseconds) => duration_method(*nanoseconds, name),
        Val::Timestamp(time) => timestamp_method(*time, name, arguments),
        Val::NamedFormat(format) => format_method(format, name, arguments),
        _ => not_known(name, false),
    }
}

/// `sets.contains(a, b)`
pub(super) fn in_namespace(namespace: &str, name: &str, arguments: &[Val]) -> Outcome {
    let holds = |list: &[Val], item: &Val| list.iter().any(|known| known.equals(item));
    match (namespace, name, arguments) {
        ("optional", "none", []) => Ok(Val::Optional(None)),
        ("optional", "of", [value]) => Ok(Val::Optional(Some(Box::new(value.clone())))),
        ("optional", "ofNonZeroValue", [value]) => {
            let is_zero = match value {
                Val::Null | Val::Bool(false) | Val::Int(0) | Val::Uint(0) => true,
                Val::Text(text) => text.is_empty(),
                Val::List(list) => list.items.is_empty(),
                Val::Map(map) => map.is_empty(),
                _ => false,
            };
            Ok(Val::Optional((!is_zero).then(|| Box::new(value.clone()))))
        }
        ("sets", "contains", [Val::List(all), Val::List(some)]) => {
            Ok(Val::Bool(some.items.iter().all(|item| holds(&all.items, item))))
        }
        ("sets", "equivalent", [Val::List(one), Val::List(other)]) => Ok(Val::Bool(
            one.items.iter().all(|item| holds(&other.items, item))
                && other.items.iter().all(|item| holds(&one.items, item)),
        )),
        ("sets", "intersects", [Val::List(one), Val::List(other)]) => {
            Ok(Val::Bool(one.items.iter().any(|item| holds(&other.items, item))))
        }
        ("ip", "isCanonical", [Val::Text(text)]) => network::is_canonical(text),
        ("format", name, []) => match NAMED_FORMATS.iter().find(|known| **known == name) {
            Some(known) => Ok(Val::NamedFormat(known)),
            None => not_known(name, false),
        },
        _ => Err(Failure::Unknown(format!("{namespace}.{name}()"))),
    }
}

const NAMED_FORMATS: [&str; 10] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

fn format_method(format: &str, name: &str, arguments: &[Val]) -> Outcome {
    use crate::formats::Format;
    use crate::metadata::{is_label, is_label_value, is_qualified_name, is_subdomain};
    let ("validate", [Val::Text(text)]) = (name, arguments) else { return not_known(name, false) };
    let is_good = match format {
        "dns1123Label" => is_label(text),
        "dns1123Subdomain" => is_subdomain(text),
        "dns1035Label" => is_label(text) && !text.starts_with(|c: char| c.is_ascii_digit()),
        "qualifiedName" => is_qualified_name(text),
        "labelValue" => is_label_value(text),
        other => Format::read(other).is_none_or(|format| format.admits(text)),
    };
    let complaints = (!is_good).then(|| Val::list(vec![Val::text("is not of this format")]));
    Ok(Val::Optional(complaints.map(Box::new)))
}

pub(super) fn matches(text: &str, pattern: &str) -> Outcome {
    match compile(pattern) {
        Some(regex) => Ok(Val::Bool(regex.is_match(text))),
        None => Err(Failure::Unknown(format!("the pattern {pattern:?}"))),
    }
}

fn size(value: &Val) -> Outcome {
    let count = match value {
        Val::Text(text) => text.chars().count(),
        Val::Bytes(bytes) => bytes.len(),
        Val::List(list) => list.items.len(),
        Val::Map(map) => map.len(),
        _ => return Err(no_such_overload()),
    };
    Ok(Val::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "as CEL converts"
)]
fn convert(to: &str, value: &Val) -> Outcome {
    let bad = || error(format!("type conversion error from '{}' to '{to}'", value.type_name()));
    Ok(match (to, value) {
        ("int", Val::Int(_)) | ("uint", Val::Uint(_)) | ("double", Val::Double(_)) => value.clone(),
        ("string", Val::Text(_)) | ("bool", Val::Bool(_)) | ("bytes", Val::Bytes(_)) => value.clone(),
        ("int", Val::Uint(value)) => Val::Int(i64::try_from(*value).map_err(|_| error("integer overflow"))?),
        ("int", Val::Double(value)) => Val::Int(*value as i64),
        ("int", Val::Text(text)) => Val::Int(text.parse().map_err(|_| bad())?),
        ("int", Val::Timestamp(time)) => Val::Int(time.as_second()),
        ("int", Val::Duration(nanoseconds)) => Val::Int(i64::try_from(*nanoseconds).map_err(|_| bad())?),
        ("uint", Val::Int(value)) => {
            Val::Uint(u64::try_from(*value).map_err(|_| error("unsigned integer overflow"))?)
        }
        ("uint", Val::Double(value)) => Val::Uint(*value as u64),
        ("uint", Val::Text(text)) => Val::Uint(text.parse().map_err(|_| bad())?),
        ("double", Val::Int(value)) => Val::Double(*value as f64),
        ("double", Val::Uint(value)) => Val::Double(*value as f64),
        ("double", Val::Text(text)) => Val::Double(text.parse().map_err(|_| bad())?),
        ("bool", Val::Text(text)) => match &**text {
            "true" | "True" | "TRUE" | "t" | "1" => Val::Bool(true),
            "false" | "False" | "FALSE" | "f" | "0" => Val::Bool(false),
            _ => return Err(bad()),
        },
        ("bytes", Val::Text(text)) => Val::Bytes(text.as_bytes().into()),
        ("string", Val::List(_) | Val::Map(_) | Val::Null | Val::Optional(_)) => return Err(bad()),
        ("string", other) => Val::text(&shown(other)),
        _ => return Err(bad()),
    })
}

/// A value as `string()` and `%s` show it.
pub(super) fn shown(value: &Val) -> String {
    match value {
        Val::Null => "null".to_owned(),
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => value.to_string(),
        Val::Text(text) => text.to_string(),
        Val::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Val::List(list) => format!("[{}]", list.items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Val::Map(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", shown(&key.value()), shown(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        #[expect(clippy::cast_precision_loss, reason = "shown only")]
        Val::Duration(nanoseconds) => format!("{}s", *nanoseconds as f64 / 1e9),
        Val::Timestamp(time) => time.to_string(),
        Val::Optional(_) => "optional".to_owned(),
        Val::Ip(address) => address.to_string(),
        Val::Cidr(address, prefix) => format!("{address}/{prefix}"),
        Val::Url(url) => url.text().to_owned(),
        Val::Quantity(quantity) => quantity.approximate().to_string(),
        Val::Type(name) | Val::NamedFormat(name) => (*name).to_owned(),
        Val::Broken(why) => why.to_string(),
    }
}

fn list_method(items: &[Val], name: &str, arguments: &[Val]) -> Outcome {
    use std::cmp::Ordering;
    match (name, arguments) {
        ("isSorted", []) => {
            let in_order =
                |pair: &[Val]| pair[0].compare(&pair[1]).is_some_and(|order| order != Ordering::Greater);
            Ok(Val::Bool(items.windows(2).all(in_order)))
        }
        ("sum", []) => sum(items),
        ("min" | "max", []) => {
            let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
            let mut rest = items.iter();
            let mut best = rest.next().ok_or_else(|| error(format!("{name} called on empty list")))?;
            for item in rest {
                if item.compare(best) == Some(wanted) {
                    best = item;
                }
            }
            Ok(best.clone())
        }
        ("indexOf", [wanted]) => place(items.iter().position(|item| item.equals(wanted))),
        ("lastIndexOf", [wanted]) => place(items.iter().rposition(|item| item.equals(wanted))),
        ("join", []) => texts::join(items, ""),
        ("join", [Val::Text(separator)]) => texts::join(items, separator),
        _ => not_known(name, false),
    }
}

pub(super) fn place(found: Option<usize>) -> Outcome {
    Ok(Val::Int(found.and_then(|place| i64::try_from(place).ok()).unwrap_or(-1)))
}

fn sum(items: &[Val]) -> Outcome {
    let overflow = || error("integer overflow");
    let mut total = match items.first() {
        None => return Ok(Val::Int(0)),
        Some(first) => first.clone(),
    };
    for item in &items[1..] {
        total = match (&total, item) {
            (Val::Int(one), Val::Int(other)) => Val::Int(one.checked_add(*other).ok_or_else(overflow)?),
            (Val::Uint(one), Val::Uint(other)) => Val::Uint(one.checked_add(*other).ok_or_else(overflow)?),
            (Val::Double(one), Val::Double(other)) => Val::Double(one + other),
            (Val::Duration(one), Val::Duration(other)) => Val::Duration(one + other),
            _ => return Err(no_such_overload()),
        };
    }
    Ok(total)
}

fn optional_method(inner: Option<&Val>, name: &str, arguments: &[Val]) -> Outcome {
    match (name, arguments) {
        ("hasValue", []) => Ok(Val::Bool(inner.is_some())),
        ("value", []) => inner.cloned().ok_or_else(|| error("optional.none() dereference")),
        ("orValue", [otherwise]) => Ok(inner.unwrap_or(otherwise).clone()),
        ("or", [otherwise]) => match inner {
            Some(value) => Ok(Val::Optional(Some(Box::new(value.clone())))),
            None => Ok(otherwise.clone()),
        },
        _ => not_known(name, false),
    }
}

fn url_method(url: &RequestUri, name: &str) -> Outcome {
    let text = match name {
        "getScheme" => &url.scheme,
        "getHost" => &url.host,
        "getHostname" => url.host_name(),
        "getPort" => url.port(),
        "getEscapedPath" => &url.path,
        "getQuery" => return Err(Failure::Unknown("getQuery()".to_owned())),
        _ => return not_known(name, false),
    };
    Ok(Val::text(text))
}

fn quantity_method(one: Quantity, name: &str, arguments: &[Val]) -> Outcome {
    use std::cmp::Ordering;
    let overflow = || error("quantity overflow");
    let other = match arguments {
        [Val::Quantity(other)] => Some(*other),
        [Val::Int(other)] => Some(Quantity::of(*other)),
        _ => None,
    };
    match (name, other) {
        ("sign", None) => Ok(Val::Int(one.sign())),
        ("isInteger", None) => Ok(Val::Bool(one.whole().is_some())),
        ("asInteger", None) => {
            one.whole().map(Val::Int).ok_or_else(|| error("cannot convert value to integer"))
        }
        ("asApproximateFloat", None) => Ok(Val::Double(one.approximate())),
        ("add", Some(other)) => one.plus(other).map(Val::Quantity).ok_or_else(overflow),
        ("sub", Some(other)) => one.minus(other).map(Val::Quantity).ok_or_else(overflow),
        ("isLessThan", Some(other)) => Ok(Val::Bool(one < other)),
        ("isGreaterThan", Some(other)) => Ok(Val::Bool(one > other)),
        ("compareTo", Some(other)) => Ok(Val::Int(match one.cmp(&other) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })),
        _ => not_known(name, false),
    }
}

fn duration_method(nanoseconds: i128, name: &str) -> Outcome {
    let per = match name {
        "getHours" => 3_600_000_000_000,
        "getMinutes" => 60_000_000_000,
        "getSeconds" => 1_000_000_000,
        "getMilliseconds" => 1_000_000,
        _ => return not_known(name, false),
    };
    i64::try_from(nanoseconds / per).map(Val::Int).map_err(|_| error("integer overflow"))
}

fn timestamp_method(time: jiff::Timestamp, name: &str, arguments: &[Val]) -> Outcome {
    // Other zones would need their tables.
    match arguments {
        [] => {}
        [Val::Text(zone)] if &**zone == "UTC" => {}
        _ => return Err(Failure::Unknown(format!("{name}() in another time zone"))),
    }
    let civil = time.to_zoned(jiff::tz::TimeZone::UTC).datetime();
    let number = match name {
        "getFullYear" => i64::from(civil.year()),
        "getMonth" => i64::from(civil.month()) - 1,
        "getDate" => i64::from(civil.day()),
        "getDayOfMonth" => i64::from(civil.day()) - 1,
        "getDayOfYear" => i64::from(civil.day_of_year()) - 1,
        "getDayOfWeek" => i64::from(civil.weekday().to_sunday_zero_offset()),
        "getHours" => i64::from(civil.hour()),
        "getMinutes" => i64::from(civil.minute()),
        "getSeconds" => i64::from(civil.second()),
        "getMilliseconds" => i64::from(civil.millisecond()),
        _ => return not_known(name, false),
    };
    Ok(Val::Int(number))
}
