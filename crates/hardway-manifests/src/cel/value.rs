//! Values of expressions.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use serde_json::Value;

use super::quantity::Quantity;
use crate::request_uri::RequestUri;

/// A value while a rule is tried.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<List>),
    Map(Arc<BTreeMap<MapKey, Val>>),
    /// Nanoseconds.
    Duration(i128),
    Timestamp(jiff::Timestamp),
    Optional(Option<Box<Val>>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Url(Arc<RequestUri>),
    Quantity(Quantity),
    Type(&'static str),
    /// A named format of Kubernetes.
    NamedFormat(&'static str),
    /// What a text of the wrong shape became: an error when it is used.
    Broken(Arc<str>),
}

/// A list, and how its elements are told apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Val>,
    pub(crate) kind: ListType,
}

/// How the elements of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    Map(Vec<String>),
    Set,
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MapKey {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Text(Arc<str>),
}

impl Val {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(List { items, kind: ListType::Atomic }))
    }

    /// How much there is of it: bytes or items.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.items.len(),
            Self::Map(map) => map.len(),
            _ => 0,
        }
    }

    /// Without a schema.
    pub(crate) fn plain(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => Self::Int(value),
                (None, Some(value)) => Self::Uint(value),
                (None, None) => Self::Double(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => Self::text(text),
            Value::Array(items) => Self::list(items.iter().map(Self::plain).collect()),
            Value::Object(fields) => {
                let entry = |(name, value): (&String, &Value)| {
                    (MapKey::Text(name.as_str().into()), Self::plain(value))
                };
                Self::Map(Arc::new(fields.iter().map(entry).collect()))
            }
        }
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Optional(_) => "optional_type",
            Self::Ip(_) => "net.IP",
            Self::Cidr(..) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Type(_) => "type",
            Self::NamedFormat(_) => "kubernetes.NamedFormat",
            Self::Broken(_) => "error",
        }
    }

    pub(crate) fn key(&self) -> Option<MapKey> {
        match self {
            Self::Bool(value) => Some(MapKey::Bool(*value)),
            Self::Int(value) => Some(MapKey::Int(*value)),
            Self::Uint(value) => Some(i64::try_from(*value).map_or(MapKey::Uint(*value), MapKey::Int)),
            #[expect(clippy::cast_possible_truncation, reason = "whole numbers only")]
            Self::Double(value) if value.fract() == 0.0 => Some(MapKey::Int(*value as i64)),
            Self::Text(text) => Some(MapKey::Text(text.clone())),
            _ => None,
        }
    }

    /// Lists that are sets or maps are equal in any order.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Ip(a), Self::Ip(b)) => a == b,
            (Self::Cidr(a, n), Self::Cidr(b, m)) => a == b && n == m,
            (Self::Url(a), Self::Url(b)) => a.text() == b.text(),
            (Self::Quantity(a), Self::Quantity(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Optional(a), Self::Optional(b)) => match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) => a.equals(b),
                _ => false,
            },
            (Self::List(a), Self::List(b)) if a.items.len() != b.items.len() => false,
            (Self::List(a), Self::List(b)) if a.kind == ListType::Atomic => {
                a.items.iter().zip(&b.items).all(|(a, b)| a.equals(b))
            }
            (Self::List(a), Self::List(b)) => a.items.iter().all(|a| b.items.iter().any(|b| a.equals(b))),
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| a.equals(b)))
            }
            _ => self.compare_numbers(other) == Some(Ordering::Equal),
        }
    }

    /// Order, where there is one.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            (Self::Duration(a), Self::Duration(b)) => Some(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            _ => self.compare_numbers(other),
        }
    }

    /// Numbers of all types compare with each other.
    #[expect(clippy::cast_precision_loss, reason = "CEL compares with doubles")]
    fn compare_numbers(&self, other: &Self) -> Option<Ordering> {
        let whole = |value: &Self| match value {
            Self::Int(value) => Some(i128::from(*value)),
            Self::Uint(value) => Some(i128::from(*value)),
            _ => None,
        };
        let double = |value: &Self| match value {
            Self::Int(value) => Some(*value as f64),
            Self::Uint(value) => Some(*value as f64),
            Self::Double(value) => Some(*value),
            _ => None,
        };
        match (whole(self), whole(other)) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => double(self)?.partial_cmp(&double(other)?),
        }
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

impl MapKey {
    pub(crate) fn value(&self) -> Val {
        match self {
            Self::Bool(value) => Val::Bool(*value),
            Self::Int(value) => Val::Int(*value),
            Self::Uint(value) => Val::Uint(*value),
            Self::Text(text) => Val::Text(text.clone()),
        }
    }
}
