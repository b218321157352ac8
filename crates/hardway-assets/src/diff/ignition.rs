//! Ignition configs by what they leave on a machine: files, units, users, and whom to ask for more.

use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::Value as Json;

use super::kubeconfig;
use super::meaning::{Fields, Meaning};
use super::reader::Reader;
use crate::ignition::data_of;

/// The field that holds a file's contents.
pub(super) const CONTENT: &str = "content";

/// Is this an Ignition config?
pub(super) fn is_ignition(json: &Json) -> bool {
    json["ignition"]["version"].is_string()
}

/// What a config leaves behind: a field per file (its path), unit, user, and one for everything else.
pub(super) fn fields(reader: &Reader<'_>, config: &Json) -> Fields {
    let mut fields = Fields::new();
    for file in items(&config["storage"]["files"]) {
        fields.insert(string(file, "path"), self::file(reader, file));
    }
    for unit in items(&config["systemd"]["units"]) {
        fields.insert(format!("unit {}", string(unit, "name")), self::unit(unit));
    }
    for user in items(&config["passwd"]["users"]) {
        fields.insert(format!("user {}", string(user, "name")), self::user(reader, user));
    }
    let mut head = config["ignition"].clone();
    if let Some(authorities) = head.pointer_mut("/security/tls/certificateAuthorities") {
        for (i, authority) in items(authorities).iter().enumerate() {
            content(reader, "", authority)
                .map(|pem| fields.insert(format!("certificateAuthorities[{i}]"), pem));
        }
        *authorities = Json::Null;
    }
    if let Some(merge) = head.pointer_mut("/config/merge") {
        let sources: Vec<Meaning> =
            items(merge).iter().map(|one| Meaning::text(string(one, "source"))).collect();
        (!sources.is_empty()).then(|| fields.insert("merge".to_owned(), Meaning::List(sources)));
        *merge = Json::Null;
    }
    reader.document(&head).map(|head| fields.insert("ignition".to_owned(), head));
    for (section, known) in [("storage", "files"), ("systemd", "units"), ("passwd", "users")] {
        let mut rest = config[section].clone();
        rest.as_object_mut().map(|object| object.remove(known));
        reader.document(&rest).map(|rest| fields.insert(section.to_owned(), rest));
    }
    if let Some(arguments) = reader.document(&config["kernelArguments"]) {
        fields.insert("kernelArguments".to_owned(), arguments);
    }
    fields
}

/// A file's path, mode and bytes, for those who look for files only.
pub(super) fn files(config: &Json) -> impl Iterator<Item = (String, Option<u64>, Vec<u8>)> {
    items(&config["storage"]["files"])
        .iter()
        .filter_map(|file| Some((string(file, "path"), file["mode"].as_u64(), bytes(&file["contents"])?)))
}

fn file(reader: &Reader<'_>, file: &Json) -> Meaning {
    let path = string(file, "path");
    let mut fields = Fields::new();
    if let Some(mode) = file["mode"].as_u64() {
        fields.insert("mode".to_owned(), Meaning::text(format!("{mode:04o}")));
    }
    let appended = items(&file["append"]);
    if !appended.is_empty() {
        fields.insert("written".to_owned(), Meaning::text("appended"));
    }
    if file["overwrite"].as_bool() == Some(true) {
        // Without it, a path the operating system has already is an error at boot.
        fields.insert("overwrite".to_owned(), Meaning::Scalar(true.into()));
    }
    let owner = reader.json("user", &file["user"]);
    owner.map(|owner| fields.insert("user".to_owned(), owner));
    let part = appended.first().unwrap_or(&file["contents"]);
    content(reader, &path, part).map(|content| fields.insert(CONTENT.to_owned(), content));
    Meaning::Document(fields)
}

/// What the bytes of a file mean depends on where they will lie.
fn content(reader: &Reader<'_>, path: &str, resource: &Json) -> Option<Meaning> {
    let Some(bytes) = bytes(resource) else { return reader.json("contents", resource) };
    let Ok(text) = std::str::from_utf8(&bytes) else { return Some(Meaning::hidden(&bytes)) };
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.starts_with("kubeconfig") {
        return crate::yaml::read(text).ok().map(|node| kubeconfig::meaning(&node.to_json()));
    }
    if path.starts_with("/etc/pki/ca-trust/") {
        return reader.of_the_user().text("", text.trim_end());
    }
    if path == "/root/.docker/config.json" || path == "/var/lib/kubelet/config.json" {
        return reader.hiding().text("", text);
    }
    if name == "registries.conf" || path.starts_with("/etc/systemd/system.conf.d/") {
        return reader.lines(&settings(text));
    }
    if path.starts_with("/etc/ssh/ssh_host_") && path.ends_with(".pub") {
        return Some(Meaning::Random(text.split(' ').next().unwrap_or_default().to_owned()));
    }
    if path.starts_with("/etc/profile.d/") {
        return reader.lines(&text.replace(QUOTES, ""));
    }
    if name.ends_with(".conf") {
        return reader.lines(text);
    }
    reader.text(name, text)
}

/// Which of them stand around a value, and where, is a matter of taste.
const QUOTES: [char; 2] = ['"', '\''];

/// A line for each setting. What is false or empty there is so by default (containers-registries.conf(5)), and
/// `DefaultEnvironment=` takes one variable or many (systemd-system.conf(5)).
fn settings(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|l| !l.ends_with("= false") && !l.ends_with("= \"\"")) {
        match line.strip_prefix("DefaultEnvironment=") {
            Some(variables) => {
                let variables = variables.replace(QUOTES, "");
                lines.extend(variables.split(' ').map(|v| format!("DefaultEnvironment={v}")));
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// Whether it runs, and whether it says anything: its text is ours by design.
fn unit(unit: &Json) -> Meaning {
    let mut fields = Fields::new();
    for key in ["enabled", "mask"] {
        if let Some(on) = unit[key].as_bool() {
            fields.insert(key.to_owned(), Meaning::Scalar(on.into()));
        }
    }
    let has = |json: &Json| json["contents"].as_str().is_some_and(|text| !text.trim().is_empty());
    if has(unit) {
        fields.insert("contents".to_owned(), Meaning::text("present"));
    }
    for drop_in in items(&unit["dropins"]).iter().filter(|drop_in| has(drop_in)) {
        fields.insert(format!("drop-in {}", string(drop_in, "name")), Meaning::text("present"));
    }
    Meaning::Document(fields)
}

fn user(reader: &Reader<'_>, user: &Json) -> Meaning {
    let mut rest = user.clone();
    rest.as_object_mut().map(|object| object.remove("sshAuthorizedKeys"));
    let mut fields = match reader.document(&rest) {
        Some(Meaning::Document(fields)) => fields,
        _ => Fields::new(),
    };
    let keys = items(&user["sshAuthorizedKeys"]).iter().filter_map(Json::as_str).map(str::trim);
    let (given, drawn): (Vec<&str>, Vec<&str>) =
        keys.filter(|key| !key.is_empty()).partition(|key| reader.masks.is_users_key(key));
    for key in given {
        fields.insert(format!("key {key}"), Meaning::text("present"));
    }
    let kinds: Vec<Meaning> = drawn
        .iter()
        .map(|key| Meaning::Random(key.split(' ').next().unwrap_or_default().to_owned()))
        .collect();
    if !kinds.is_empty() {
        fields.insert("generated keys".to_owned(), Meaning::List(kinds));
    }
    Meaning::Document(fields)
}

/// The bytes of a data URL; `None` for an address elsewhere.
fn bytes(resource: &Json) -> Option<Vec<u8>> {
    let source = match resource.get("source").and_then(Json::as_str) {
        Some(source) => source,
        None => return Some(Vec::new()),
    };
    let plain = data_of(source)?;
    if resource["compression"].as_str() != Some("gzip") {
        return Some(plain);
    }
    let mut unpacked = Vec::new();
    GzDecoder::new(plain.as_slice()).take(LARGEST).read_to_end(&mut unpacked).ok()?;
    Some(unpacked)
}

/// Bytes a compressed file may unpack to.
const LARGEST: u64 = 64 << 20;

fn items(json: &Json) -> &[Json] {
    json.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn string(json: &Json, key: &str) -> String {
    json[key].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::masks::Masks;
    use super::*;

    fn read(config: &Json) -> Fields {
        let masks = Masks::default();
        fields(&Reader::new(&masks), config)
    }

    fn one_file(file: &Json) -> Json {
        json!({"ignition": {"version": "3.2.0"}, "storage": {"files": [file]}})
    }

    #[test]
    fn encodings_of_one_content_are_equal() {
        let plain = one_file(&json!({"path": "/a", "mode": 420, "contents": {"source": "data:,a%20b%0A"}}));
        let coded = one_file(
            &json!({"path": "/a", "mode": 420, "contents": {"source": "data:text/plain;charset=utf-8;base64,YSBiCg=="}}),
        );
        assert_eq!(read(&plain), read(&coded));
    }

    #[test]
    fn gzip_is_unpacked() {
        // printf hello | gzip -n | base64
        let packed = "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==";
        let packed = one_file(
            &json!({"path": "/a", "contents": {"compression": "gzip", "source": format!("data:;base64,{packed}")}}),
        );
        let plain = one_file(&json!({"path": "/a", "contents": {"source": "data:,hello"}}));
        assert_eq!(read(&packed), read(&plain));
    }

    #[test]
    fn units_show_no_text() {
        let unit = |text: &str| json!({"ignition": {"version": "3.2.0"}, "systemd": {"units": [{"name": "a", "contents": text, "dropins": [{"name": "d", "contents": text}]}]}});
        assert_eq!(read(&unit("x")), read(&unit("y")));
        assert_ne!(read(&unit("x")), read(&unit("")));
    }
}
