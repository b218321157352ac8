//! An expression evaluated. Errors are values on their way: `false && error` is false, whatever the order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::expression::{Each, Expression, Operator, Purpose};
use super::functions;
use super::value::{List, ListType, MapKey, Val};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing is there, as the server would say: `no such key: a`.
    Absent(String),
    /// Anything else, in its words.
    Error(String),
    /// A function that is not known here: nobody can say what the server would find.
    Unknown(String),
}

pub(crate) type Outcome = Result<Val, Failure>;

pub(crate) fn error(text: impl Into<String>) -> Failure {
    Failure::Error(text.into())
}

/// Variables, the innermost last; and what evaluating may still cost.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    variables: Vec<(String, Val)>,
    budget: u64,
}

/// Steps, and bytes and items that are made. The API server gives up on a rule after as much by its own count, which is another; so
/// what costs more here is not wrong, but nobody can say.
const BUDGET: u64 = 1_000_000;

impl Scope {
    pub(crate) fn with(variables: &[(&str, Val)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Self { variables, budget: BUDGET }
    }

    fn get(&self, name: &str) -> Option<&Val> {
        self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn charge(&mut self, cost: usize) -> Result<(), Failure> {
        let left = u64::try_from(cost).ok().and_then(|cost| self.budget.checked_sub(cost));
        self.budget = left.ok_or_else(|| Failure::Unknown("a rule that costs too much".to_owned()))?;
        Ok(())
    }
}

impl Expression {
    pub(crate) fn evaluate(&self, scope: &mut Scope) -> Outcome {
        scope.charge(1)?;
        let value = self.come_to(scope)?;
        if !matches!(self, Self::Literal(_) | Self::Variable(_) | Self::Select { .. } | Self::Index { .. }) {
            scope.charge(value.weight())?;
        }
        Ok(value)
    }

    fn come_to(&self, scope: &mut Scope) -> Outcome {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Variable(name) => variable(name, scope),
            Self::Select { of, field, is_optional } => select(&of.evaluate(scope)?, field, *is_optional),
            Self::Has { of, field } => Ok(Val::Bool(has(&of.evaluate(scope)?, field)?)),
            Self::Index { of, by, is_optional } => {
                let (of, by) = (of.evaluate(scope)?, by.evaluate(scope)?);
                index(&of, &by, *is_optional)
            }
            Self::Call { target, function, arguments } => call(target.as_deref(), function, arguments, scope),
            Self::List(items) => {
                Ok(Val::list(items.iter().map(|item| item.evaluate(scope)).collect::<Result<_, _>>()?))
            }
            Self::Map(entries) => {
                let mut map = BTreeMap::new();
                for (key, value) in entries {
                    let key = key.evaluate(scope)?.key().ok_or_else(|| error("unsupported key type"))?;
                    map.insert(key, value.evaluate(scope)?);
                }
                Ok(Val::Map(Arc::new(map)))
            }
            Self::Not(inner) => match inner.evaluate(scope)? {
                Val::Bool(value) => Ok(Val::Bool(!value)),
                _ => Err(no_such_overload()),
            },
            Self::Negative(inner) => match inner.evaluate(scope)? {
                Val::Int(value) => value.checked_neg().map(Val::Int).ok_or_else(|| error("integer overflow")),
                Val::Double(value) => Ok(Val::Double(-value)),
                Val::Duration(value) => Ok(Val::Duration(-value)),
                _ => Err(no_such_overload()),
            },
            Self::And(one, other) => join(one, other, scope, false),
            Self::Or(one, other) => join(one, other, scope, true),
            Self::Binary(operator, one, other) => {
                let (one, other) = (used(one.evaluate(scope)?)?, used(other.evaluate(scope)?)?);
                scope.charge(one.weight().max(other.weight()))?;
                binary(*operator, &one, &other)
            }
            Self::Choice { condition, then, otherwise } => match condition.evaluate(scope)? {
                Val::Bool(true) => then.evaluate(scope),
                Val::Bool(false) => otherwise.evaluate(scope),
                _ => Err(no_such_overload()),
            },
            Self::Each(each) => go_through(each, scope),
        }
    }
}

pub(crate) fn no_such_overload() -> Failure {
    error("no such overload")
}

/// A text of the wrong shape is an error as soon as it is looked at.
fn used(value: Val) -> Outcome {
    match value {
        Val::Broken(why) => Err(Failure::Error(why.to_string())),
        value => Ok(value),
    }
}

fn variable(name: &str, scope: &Scope) -> Outcome {
    if let Some(value) = scope.get(name) {
        return used(value.clone());
    }
    const TYPES: [&str; 10] =
        ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
    match TYPES.iter().find(|known| **known == name) {
        Some(known) => Ok(Val::Type(known)),
        None => Err(error(format!("undeclared reference to '{name}'"))),
    }
}

/// What decides is `decisive`: true for or, false for and.
fn join(one: &Expression, other: &Expression, scope: &mut Scope, decisive: bool) -> Outcome {
    let first = one.evaluate(scope);
    if first == Ok(Val::Bool(decisive)) {
        return first;
    }
    let second = other.evaluate(scope);
    match (first, second) {
        (_, Ok(Val::Bool(value))) if value == decisive => Ok(Val::Bool(decisive)),
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
        (Ok(Val::Bool(_)), Ok(Val::Bool(_))) => Ok(Val::Bool(!decisive)),
        _ => Err(no_such_overload()),
    }
}

fn select(of: &Val, field: &str, is_optional: bool) -> Outcome {
    match of {
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(inner)) => optional(select(inner, field, false)),
        _ if is_optional => optional(select(of, field, false)),
        Val::Map(map) => match map.get(&MapKey::Text(field.into())) {
            Some(value) => used(value.clone()),
            None => Err(Failure::Absent(format!("no such key: {field}"))),
        },
        Val::Broken(why) => Err(Failure::Error(why.to_string())),
        _ => Err(no_such_overload()),
    }
}

fn optional(found: Outcome) -> Outcome {
    match found {
        Ok(value) => Ok(Val::Optional(Some(Box::new(value)))),
        Err(Failure::Absent(_)) => Ok(Val::Optional(None)),
        Err(other) => Err(other),
    }
}

fn has(of: &Val, field: &str) -> Result<bool, Failure> {
    match of {
        Val::Map(map) => Ok(map.contains_key(&MapKey::Text(field.into()))),
        Val::Optional(None) => Ok(false),
        Val::Optional(Some(inner)) => has(inner, field),
        _ => Err(no_such_overload()),
    }
}

fn index(of: &Val, by: &Val, is_optional: bool) -> Outcome {
    match of {
        Val::Optional(None) => return Ok(Val::Optional(None)),
        Val::Optional(Some(inner)) => return optional(index(inner, by, false)),
        _ if is_optional => return optional(index(of, by, false)),
        _ => {}
    }
    match (of, by.key()) {
        (Val::List(list), Some(MapKey::Int(place))) => {
            let item = usize::try_from(place).ok().and_then(|place| list.items.get(place));
            item.cloned().map_or_else(|| Err(Failure::Absent(format!("index out of bounds: {place}"))), used)
        }
        (Val::Map(map), Some(key)) => match map.get(&key) {
            Some(value) => used(value.clone()),
            None => Err(Failure::Absent(format!("no such key: {}", functions::shown(by)))),
        },
        _ => Err(no_such_overload()),
    }
}

fn binary(operator: Operator, one: &Val, other: &Val) -> Outcome {
    use std::cmp::Ordering;
    let compared = || one.compare(other).ok_or_else(no_such_overload);
    Ok(match operator {
        Operator::Equal => Val::Bool(one.equals(other)),
        Operator::NotEqual => Val::Bool(!one.equals(other)),
        Operator::Less => Val::Bool(compared()? == Ordering::Less),
        Operator::LessOrEqual => Val::Bool(compared()? != Ordering::Greater),
        Operator::Greater => Val::Bool(compared()? == Ordering::Greater),
        Operator::GreaterOrEqual => Val::Bool(compared()? != Ordering::Less),
        Operator::In => match other {
            Val::List(list) => Val::Bool(list.items.iter().any(|item| item.equals(one))),
            Val::Map(map) => Val::Bool(one.key().is_some_and(|key| map.contains_key(&key))),
            _ => return Err(no_such_overload()),
        },
        Operator::Add => return add(one, other),
        Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
            return arithmetic(operator, one, other);
        }
    })
}

fn add(one: &Val, other: &Val) -> Outcome {
    Ok(match (one, other) {
        (Val::Text(one), Val::Text(other)) => Val::text(&format!("{one}{other}")),
        (Val::Bytes(one), Val::Bytes(other)) => Val::Bytes([&one[..], &other[..]].concat().into()),
        (Val::List(one), Val::List(other)) => Val::List(Arc::new(concatenated(one, other))),
        (Val::Duration(one), Val::Duration(other)) => Val::Duration(one + other),
        (Val::Timestamp(time), Val::Duration(span)) | (Val::Duration(span), Val::Timestamp(time)) => {
            Val::Timestamp(moved(*time, *span)?)
        }
        _ => return arithmetic(Operator::Add, one, other),
    })
}

/// A set stays one; of a map's elements with the same keys, the later wins.
fn concatenated(one: &List, other: &List) -> List {
    let mut items = one.items.clone();
    for item in &other.items {
        match &one.kind {
            ListType::Atomic => items.push(item.clone()),
            ListType::Set => {
                if !items.iter().any(|known| known.equals(item)) {
                    items.push(item.clone());
                }
            }
            ListType::Map(keys) => {
                let key = |item: &Val| -> Vec<Option<Val>> {
                    let Val::Map(map) = item else { return Vec::new() };
                    keys.iter().map(|key| map.get(&MapKey::Text(key.as_str().into())).cloned()).collect()
                };
                match items.iter().position(|known| key(known) == key(item)) {
                    Some(place) => items[place] = item.clone(),
                    None => items.push(item.clone()),
                }
            }
        }
    }
    List { items, kind: one.kind.clone() }
}

fn moved(time: jiff::Timestamp, by: i128) -> Result<jiff::Timestamp, Failure> {
    let nanoseconds = time.as_nanosecond().checked_add(by).ok_or_else(|| error("timestamp overflow"))?;
    jiff::Timestamp::from_nanosecond(nanoseconds).map_err(|_| error("timestamp overflow"))
}

/// Arithmetic of whole numbers, signed or not: nothing where it overflows.
macro_rules! checked {
    ($operator:expr, $one:expr, $other:expr) => {
        match $operator {
            Operator::Add => $one.checked_add($other),
            Operator::Subtract => $one.checked_sub($other),
            Operator::Multiply => $one.checked_mul($other),
            _ if $other == 0 => return Err(error("division by zero")),
            Operator::Divide => $one.checked_div($other),
            _ => $one.checked_rem($other),
        }
    };
}

fn arithmetic(operator: Operator, one: &Val, other: &Val) -> Outcome {
    match (one, other) {
        (Val::Int(one), Val::Int(other)) => {
            checked!(operator, one, *other).map(Val::Int).ok_or_else(|| error("integer overflow"))
        }
        (Val::Uint(one), Val::Uint(other)) => {
            checked!(operator, one, *other).map(Val::Uint).ok_or_else(|| error("unsigned integer overflow"))
        }
        (Val::Double(one), Val::Double(other)) => match operator {
            Operator::Add => Ok(Val::Double(one + other)),
            Operator::Subtract => Ok(Val::Double(one - other)),
            Operator::Multiply => Ok(Val::Double(one * other)),
            Operator::Divide => Ok(Val::Double(one / other)),
            _ => Err(no_such_overload()),
        },
        (Val::Duration(one), Val::Duration(other)) if operator == Operator::Subtract => {
            Ok(Val::Duration(one - other))
        }
        (Val::Timestamp(one), Val::Timestamp(other)) if operator == Operator::Subtract => {
            Ok(Val::Duration(one.as_nanosecond() - other.as_nanosecond()))
        }
        (Val::Timestamp(time), Val::Duration(span)) if operator == Operator::Subtract => {
            moved(*time, -span).map(Val::Timestamp)
        }
        _ => Err(no_such_overload()),
    }
}

fn go_through(each: &Each, scope: &mut Scope) -> Outcome {
    let range = each.range.evaluate(scope)?;
    if matches!(each.purpose, Purpose::OptionalMap | Purpose::OptionalFlatMap) {
        return match range {
            Val::Optional(None) => Ok(Val::Optional(None)),
            Val::Optional(Some(value)) => {
                let mapped = within(scope, &each.variable, *value, |scope| each.body.evaluate(scope))?;
                Ok(match each.purpose {
                    Purpose::OptionalMap => Val::Optional(Some(Box::new(mapped))),
                    _ => mapped,
                })
            }
            _ => Err(no_such_overload()),
        };
    }
    let items: Vec<Val> = match &range {
        Val::List(list) => list.items.clone(),
        Val::Map(map) => map.keys().map(MapKey::value).collect(),
        _ => return Err(no_such_overload()),
    };
    let mut failure = None;
    let mut kept = Vec::new();
    let mut hits = 0;
    for item in items {
        let outcome = within(scope, &each.variable, item.clone(), |scope| {
            match &each.filter {
                Some(filter) if filter.evaluate(scope)? != Val::Bool(true) => return Ok(None),
                _ => {}
            }
            each.body.evaluate(scope).map(Some)
        });
        match (each.purpose, outcome) {
            (Purpose::All, Ok(Some(Val::Bool(false)))) => return Ok(Val::Bool(false)),
            (Purpose::Exists, Ok(Some(Val::Bool(true)))) => return Ok(Val::Bool(true)),
            (Purpose::ExistsOne | Purpose::Filter, Ok(Some(Val::Bool(true)))) => {
                hits += 1;
                kept.push(item);
            }
            (
                Purpose::All | Purpose::Exists | Purpose::ExistsOne | Purpose::Filter,
                Ok(Some(Val::Bool(_))),
            ) => {}
            (Purpose::Map, Ok(Some(value))) => kept.push(value),
            (Purpose::All | Purpose::Exists, Err(found)) => failure = failure.or(Some(found)),
            (_, Err(found)) => return Err(found),
            (_, Ok(None)) => {}
            (_, Ok(Some(_))) => return Err(no_such_overload()),
        }
    }
    match (each.purpose, failure) {
        (_, Some(failure)) => Err(failure),
        (Purpose::All, None) => Ok(Val::Bool(true)),
        (Purpose::Exists, None) => Ok(Val::Bool(false)),
        (Purpose::ExistsOne, None) => Ok(Val::Bool(hits == 1)),
        _ => Ok(Val::list(kept)),
    }
}

fn within<T>(scope: &mut Scope, name: &str, value: Val, work: impl FnOnce(&mut Scope) -> T) -> T {
    scope.variables.push((name.to_owned(), value));
    let result = work(scope);
    scope.variables.pop();
    result
}

/// Functions that belong to a name: `sets.contains(a, b)`.
const NAMESPACES: [&str; 6] = ["base64", "format", "ip", "math", "optional", "sets"];

fn call(target: Option<&Expression>, function: &str, arguments: &[Expression], scope: &mut Scope) -> Outcome {
    let namespace = match target {
        Some(Expression::Variable(name))
            if NAMESPACES.contains(&name.as_str()) && scope.get(name).is_none() =>
        {
            Some(name.as_str())
        }
        _ => None,
    };
    let subject = match (target, namespace) {
        (Some(target), None) => Some(used(target.evaluate(scope)?)?),
        _ => None,
    };
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(used(argument.evaluate(scope)?)?);
    }
    match (namespace, subject) {
        (Some(namespace), _) => functions::in_namespace(namespace, function, &values),
        (None, Some(subject)) => functions::method(&subject, function, &values),
        (None, None) => functions::global(function, &values),
    }
}
