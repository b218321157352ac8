//! Ignition configs within objects, by the rules of Ignition's own validation (coreos/ignition `config/v3_x/types`).

use std::collections::BTreeMap;

use hardway_assets::ignition::data_of;
use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::request_uri::RequestUri;
use crate::{FieldPath, Mistake, Severity};

/// Of version 3, in any release.
const NEWEST: u32 = 5;

/// What is wrong, and how bad it is.
type Found = (Severity, Mistake);

/// Everything wrong with a config of version 3; version 2 is converted by the machine-config-operator, and not looked into.
/// `newest` is the minor version that the release reads, where that is known.
pub(crate) fn check(config: &Value, path: &FieldPath, newest: Option<u32>) -> Vec<Found> {
    let newest = newest.unwrap_or(NEWEST);
    let version_path = path.field("ignition").field("version");
    let version = config.pointer("/ignition/version").and_then(Value::as_str).unwrap_or_default();
    let error = |mistake: Mistake| vec![(Severity::Error, mistake)];
    match version.split_once('.') {
        _ if version.is_empty() => {
            return error(Mistake::new(
                &version_path,
                FieldErrorKind::Required,
                "every Ignition config has one",
            ));
        }
        Some(("2", _)) => return Vec::new(),
        Some(("3", minor))
            if minor
                .split('.')
                .next()
                .and_then(|minor| minor.parse::<u32>().ok())
                .is_some_and(|minor| minor <= newest) => {}
        _ => {
            let detail =
                format!("the machine-config-operator of this release reads 2.2 and 3.0.0 to 3.{newest}.0");
            return error(
                Mistake::new(&version_path, FieldErrorKind::Unsupported, detail).of(&version.into()),
            );
        }
    }
    let mut found = Vec::new();
    storage(config, &path.field("storage"), &mut found);
    units(config, &path.field("systemd").field("units"), &mut found);
    users(config, &path.field("passwd").field("users"), &mut found);
    found
}

fn list<'o>(value: &'o Value, pointer: &str) -> &'o [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn storage(config: &Value, path: &FieldPath, found: &mut Vec<Found>) {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for kind in ["directories", "files", "links"] {
        for (index, node) in list(config, &format!("/storage/{kind}")).iter().enumerate() {
            let path = path.field(kind).index(index);
            let Some(name) = node.get("path").and_then(Value::as_str) else {
                found
                    .push((Severity::Error, Mistake::new(&path.field("path"), FieldErrorKind::Required, "")));
                continue;
            };
            if !name.starts_with('/') {
                let mistake = Mistake::new(&path.field("path"), FieldErrorKind::Invalid, "path not absolute");
                found.push((Severity::Error, mistake.of(&name.into())));
            }
            let key = name.trim_end_matches('/').to_owned();
            if let Some(other) = taken.insert(key, kind.to_owned()) {
                let detail = format!("duplicate entry defined: one of {other} has this path too");
                let mistake = Mistake::new(&path.field("path"), FieldErrorKind::Duplicate, detail);
                found.push((Severity::Error, mistake.of(&name.into())));
            }
            mode(node, &path, found);
            match kind {
                "files" => file(node, &path, found),
                "links" if node.get("target").and_then(Value::as_str).is_none_or(str::is_empty) => {
                    found.push((
                        Severity::Error,
                        Mistake::new(&path.field("target"), FieldErrorKind::Required, ""),
                    ));
                }
                _ => {}
            }
        }
    }
}

fn mode(node: &Value, path: &FieldPath, found: &mut Vec<Found>) {
    let Some(mode) = node.get("mode").filter(|mode| !mode.is_null()) else { return };
    let path = path.field("mode");
    match mode.as_i64() {
        Some(number) if (0..=0o7777).contains(&number) => {
            // 644 is 01204: whoever writes it means 0644, which is 420 in JSON.
            if [444, 555, 600, 644, 664, 700, 755, 775, 777].contains(&number) {
                let detail = format!("is {number:o} in octal");
                let mistake = Mistake::new(&path, FieldErrorKind::Invalid, detail).of(mode);
                found.push((
                    Severity::Warning,
                    mistake.fix(format!("write 0{number} in YAML, or its decimal value in JSON")),
                ));
            }
        }
        _ => found.push((
            Severity::Error,
            Mistake::new(&path, FieldErrorKind::Invalid, "illegal file mode").of(mode),
        )),
    }
}

fn file(node: &Value, path: &FieldPath, found: &mut Vec<Found>) {
    if let Some(contents) = node.get("contents") {
        resource(contents, &path.field("contents"), found);
    }
    for (index, appended) in list(node, "/append").iter().enumerate() {
        resource(appended, &path.field("append").index(index), found);
    }
    let has_source = node.pointer("/contents/source").is_some_and(|source| !source.is_null());
    if node.get("overwrite") == Some(&Value::Bool(true)) && !has_source {
        let detail = "if overwrite is true, contents.source must be specified";
        found
            .push((Severity::Error, Mistake::new(&path.field("overwrite"), FieldErrorKind::Invalid, detail)));
    }
}

/// What is in it is not shown: it may be a key.
fn resource(resource: &Value, path: &FieldPath, found: &mut Vec<Found>) {
    let compression = resource.get("compression").and_then(Value::as_str).unwrap_or_default();
    if !["", "gzip"].contains(&compression) {
        let mistake = Mistake::new(
            &path.field("compression"),
            FieldErrorKind::Unsupported,
            "supported values: \"\", \"gzip\"",
        );
        found.push((Severity::Error, mistake.of(&compression.into())));
    }
    if let Some(hash) = resource.pointer("/verification/hash").and_then(Value::as_str) {
        let is_good = match hash.split_once('-') {
            Some(("sha512", sum)) => sum.len() == 128 && sum.bytes().all(|b| b.is_ascii_hexdigit()),
            Some(("sha256", sum)) => sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit()),
            _ => false,
        };
        if !is_good {
            let path = path.field("verification").field("hash");
            found.push((
                Severity::Error,
                Mistake::new(&path, FieldErrorKind::Invalid, "must be sha256- or sha512- and the sum in hex"),
            ));
        }
    }
    let Some(source) = resource.get("source").and_then(Value::as_str).filter(|source| !source.is_empty())
    else {
        return;
    };
    let path = path.field("source");
    if source.starts_with("data:") {
        match data_of(source) {
            None => {
                let mistake = Mistake::new(
                    &path,
                    FieldErrorKind::Invalid,
                    "is not a data URL: use data:,text or data:;base64,…",
                );
                found.push((
                    Severity::Error,
                    mistake.fix(
                        "after the comma, escape everything except letters and digits, such \
                 as %41, or use base64",
                    ),
                ));
            }
            Some(bytes) if compression == "gzip" && !bytes.starts_with(&[0x1f, 0x8b]) => {
                found.push((
                    Severity::Error,
                    Mistake::new(
                        &path,
                        FieldErrorKind::Invalid,
                        "compression is gzip, but the content is not",
                    ),
                ));
            }
            Some(_) => {}
        }
        return;
    }
    let scheme = RequestUri::parse(source).map(|uri| uri.scheme).unwrap_or_default();
    if !["http", "https", "tftp", "s3", "arn", "gs"].contains(&scheme.as_str()) {
        let detail = "invalid url scheme: data, http, https, tftp, s3, arn or gs";
        let fix = "to embed the content, use data:,…";
        found.push((Severity::Error, Mistake::new(&path, FieldErrorKind::Invalid, detail).fix(fix)));
    }
}

const UNIT_TYPES: [&str; 11] = [
    "service",
    "socket",
    "device",
    "mount",
    "automount",
    "swap",
    "target",
    "path",
    "timer",
    "slice",
    "scope",
];

fn units(config: &Value, path: &FieldPath, found: &mut Vec<Found>) {
    let mut names = BTreeMap::new();
    for (index, unit) in list(config, "/systemd/units").iter().enumerate() {
        let path = path.index(index);
        let name = unit.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_unit =
            name.rsplit_once('.').is_some_and(|(stem, kind)| !stem.is_empty() && UNIT_TYPES.contains(&kind));
        if !is_unit {
            let mistake =
                Mistake::new(&path.field("name"), FieldErrorKind::Invalid, "invalid systemd unit extension");
            found.push((Severity::Error, mistake.of(&name.into())));
        }
        if names.insert(name, index).is_some() {
            let mistake =
                Mistake::new(&path.field("name"), FieldErrorKind::Duplicate, "duplicate entry defined");
            found.push((Severity::Error, mistake.of(&name.into())));
        }
        unit_contents(unit, name, &path, found);
    }
}

fn unit_contents(unit: &Value, name: &str, path: &FieldPath, found: &mut Vec<Found>) {
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let contents = text(unit, "contents");
    let does_something =
        ["enabled", "mask"].iter().any(|key| unit.get(key).is_some_and(|value| !value.is_null()));
    if contents.trim().is_empty() && list(unit, "/dropins").is_empty() && !does_something {
        let detail = "a unit without contents, drop-ins, enabled and mask changes nothing";
        found.push((
            Severity::Warning,
            Mistake::new(&path.field("contents"), FieldErrorKind::Required, detail),
        ));
    }
    if !contents.trim().is_empty() {
        sections(&contents, &path.field("contents"), found);
        let is_enabled = unit.get("enabled") == Some(&Value::Bool(true));
        if is_enabled && !contents.contains("[Install]") {
            let detail =
                format!("unit {name:?} is enabled, but has no install section so enable does nothing");
            found.push((
                Severity::Warning,
                Mistake::new(&path.field("enabled"), FieldErrorKind::Invalid, detail),
            ));
        }
    }
    for (index, drop_in) in list(unit, "/dropins").iter().enumerate() {
        let path = path.field("dropins").index(index);
        let name = text(drop_in, "name");
        if !name.ends_with(".conf") {
            let mistake = Mistake::new(
                &path.field("name"),
                FieldErrorKind::Invalid,
                "invalid systemd drop-in extension: .conf",
            );
            found.push((Severity::Error, mistake.of(&name.into())));
        }
        match text(drop_in, "contents") {
            contents if contents.trim().is_empty() => {
                let detail = "a drop-in without contents changes nothing";
                found.push((
                    Severity::Warning,
                    Mistake::new(&path.field("contents"), FieldErrorKind::Required, detail),
                ));
            }
            contents => sections(&contents, &path.field("contents"), found),
        }
    }
}

/// As far as Ignition reads units: sections in brackets, and lines with `=`.
fn sections(contents: &str, path: &FieldPath, found: &mut Vec<Found>) {
    let mut continues = false;
    let mut in_section = false;
    for (number, line) in contents.lines().enumerate() {
        let line = line.trim();
        let was_continued = std::mem::replace(&mut continues, line.ends_with('\\'));
        if was_continued || line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let is_section = line.starts_with('[') && line.ends_with(']');
        in_section |= is_section;
        if is_section || (in_section && line.contains('=')) {
            continue;
        }
        let why =
            if in_section { "is neither a section nor an option" } else { "is before the first section" };
        let detail = format!("invalid unit content: line {} of it {why}", number + 1);
        let mistake = Mistake::new(path, FieldErrorKind::Invalid, detail).at_line(number + 1);
        return found.push((Severity::Error, mistake));
    }
}

fn users(config: &Value, path: &FieldPath, found: &mut Vec<Found>) {
    let mut names = BTreeMap::new();
    for (index, user) in list(config, "/passwd/users").iter().enumerate() {
        let path = path.index(index).field("name");
        match user.get("name").and_then(Value::as_str).unwrap_or_default() {
            "" => found.push((Severity::Error, Mistake::new(&path, FieldErrorKind::Required, ""))),
            name => {
                if names.insert(name, index).is_some() {
                    let mistake = Mistake::new(&path, FieldErrorKind::Duplicate, "duplicate entry defined");
                    found.push((Severity::Error, mistake.of(&name.into())));
                }
            }
        }
    }
}
