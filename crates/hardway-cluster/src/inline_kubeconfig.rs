//! A kubeconfig that somebody else wrote: one from a Secret, say.
//!
//! A kubeconfig can run programs (`exec`), read files of this host (`tokenFile`, `client-key`), send what it is told elsewhere (`proxy-url`)
//! and turn off checks, and whoever can write the Secret would do all of that with our rights. So it may bring what it needs with it,
//! certificates, keys and tokens, and nothing else: what is not named here is refused, in entries that are not used as well. What is
//! taken over is written anew field by field, so that no other reader of YAML can see more in it.

use std::collections::BTreeSet;

use hardway_assets::yaml::{self, Node, Value};
use kube::config::Kubeconfig;
use serde_json::json;

/// The fields of kubernetes `client-go/tools/clientcmd/api/v1/types.go` that are taken over, by where they stand.
const TOP: &[&str] =
    &["apiVersion", "kind", "preferences", "clusters", "users", "contexts", "current-context"];
const CLUSTER: &[&str] = &["server", "certificate-authority-data", "disable-compression"];
const USER: &[&str] = &["client-certificate-data", "client-key-data", "token"];
const CONTEXT: &[&str] = &["cluster", "user", "namespace"];

/// Fields that are known and refused, and why.
const REFUSED: &[(&str, &str)] = &[
    ("exec", "it would run a program on this host"),
    ("auth-provider", "it would run a login plug-in on this host"),
    ("tokenFile", "it names a file of this host"),
    ("certificate-authority", "it names a file of this host"),
    ("client-certificate", "it names a file of this host"),
    ("client-key", "it names a file of this host"),
    ("proxy-url", "it would send all traffic through a proxy"),
    ("insecure-skip-tls-verify", "the server's certificate would not be verified"),
    ("tls-server-name", "it would accept a certificate for another name"),
    ("username", "passwords are not supported: no API server accepts them"),
    ("password", "passwords are not supported: no API server accepts them"),
    ("as", "it would impersonate another user"),
    ("as-uid", "it would impersonate another user"),
    ("as-groups", "it would impersonate another user"),
    ("as-user-extra", "it would impersonate another user"),
    ("extensions", "its content is unknown"),
];

/// Larger than any by far: all that a Secret can hold is a megabyte.
const LARGEST: usize = 256 << 10;

/// All that is wrong with it, each a place and why; never a value.
pub(crate) type Flaws = Vec<String>;

/// Reads one; all that is wrong at once.
pub(crate) fn read(text: &str) -> Result<Kubeconfig, Flaws> {
    if text.len() > LARGEST {
        return Err(vec![format!("it is larger than {} KiB", LARGEST >> 10)]);
    }
    let document = yaml::read(text).map_err(|errors| {
        let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        // The reader's own words may have some of the text in them.
        errors.iter().map(|error| format!("line {}: invalid YAML", line(error.span.start))).collect::<Flaws>()
    })?;
    let mut reader = Reader::default();
    let taken = reader.document(&document);
    match taken.filter(|_| reader.flaws.is_empty()) {
        Some(taken) => serde_json::from_value(taken).map_err(|_| vec!["it is not a kubeconfig".to_owned()]),
        None => Err(reader.flaws),
    }
}

#[derive(Default)]
struct Reader {
    flaws: Flaws,
}

/// One of `clusters`, `users` or `contexts`.
struct Entry<'n> {
    name: String,
    place: String,
    fields: Vec<(&'static str, &'n Node)>,
}

impl Reader {
    /// What is selected, written anew.
    fn document(&mut self, document: &Node) -> Option<serde_json::Value> {
        let top = self.fields(document, "", TOP);
        self.is(&top, "apiVersion", "v1");
        self.is(&top, "kind", "Config");
        if let Some(preferences) = field(&top, "preferences") {
            self.fields(preferences, "preferences", &[]);
        }
        let clusters = self.entries(field(&top, "clusters"), "clusters", "cluster", CLUSTER);
        let users = self.entries(field(&top, "users"), "users", "user", USER);
        let contexts = self.entries(field(&top, "contexts"), "contexts", "context", CONTEXT);
        let clusters: Vec<_> = clusters.iter().map(|entry| (&entry.name, self.cluster(entry))).collect();
        let users: Vec<_> = users.iter().map(|entry| (&entry.name, self.texts(entry))).collect();
        let contexts: Vec<_> = contexts.iter().map(|entry| (&entry.name, self.texts(entry))).collect();

        let current = self.text(field(&top, "current-context"), "current-context")?;
        let context = self.named(&contexts, &current, "current-context", "contexts")?;
        let cluster =
            self.named(&clusters, context["cluster"].as_str()?, "the current context", "clusters")?;
        let user = self.named(&users, context["user"].as_str()?, "the current context", "users")?;
        Some(json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "own",
            "clusters": [{"name": "own", "cluster": cluster}],
            "users": [{"name": "own", "user": user}],
            "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own", "namespace": context["namespace"]}}],
        }))
    }

    /// The allowed fields of a mapping; every other is a flaw.
    fn fields<'n>(
        &mut self,
        node: &'n Node,
        place: &str,
        allowed: &[&'static str],
    ) -> Vec<(&'static str, &'n Node)> {
        let Value::Map(entries) = &node.value else {
            if node.value != Value::Null {
                self.flaws.push(format!("{}: it is not a mapping", or_document(place)));
            }
            return Vec::new();
        };
        let mut fields = Vec::new();
        for (key, value) in entries {
            match allowed.iter().find(|name| **name == key.text) {
                Some(name) => fields.push((*name, value)),
                None => self.refuse(place, &key.text),
            }
        }
        fields
    }

    fn refuse(&mut self, place: &str, key: &str) {
        let dot = if place.is_empty() { "" } else { "." };
        let known = REFUSED.iter().find(|(name, _)| *name == key);
        let why = known.map_or("the field is not supported", |(_, why)| why);
        // Whoever wrote it chose the name.
        let key: String = key.chars().take(60).flat_map(char::escape_debug).collect();
        self.flaws.push(format!("{place}{dot}{key}: {why}"));
    }

    fn entries<'n>(
        &mut self,
        list: Option<&'n Node>,
        place: &str,
        noun: &'static str,
        allowed: &[&'static str],
    ) -> Vec<Entry<'n>> {
        let Some(Value::List(items)) = list.map(|list| &list.value) else {
            self.flaws.push(format!("{place}: the list is missing"));
            return Vec::new();
        };
        let (mut entries, mut names) = (Vec::new(), BTreeSet::new());
        for (n, item) in items.iter().enumerate() {
            let place = format!("{place}[{n}]");
            let fields = self.fields(item, &place, &["name", noun]);
            let Some(name) = self.text(field(&fields, "name"), &format!("{place}.name")) else { continue };
            if !names.insert(name.clone()) {
                self.flaws.push(format!("{place}.name: duplicate name"));
            }
            let place = format!("{place}.{noun}");
            let fields = match field(&fields, noun) {
                Some(inner) => self.fields(inner, &place, allowed),
                None => Vec::new(),
            };
            entries.push(Entry { name, place, fields });
        }
        entries
    }

    fn cluster(&mut self, entry: &Entry<'_>) -> serde_json::Value {
        let mut fields = entry.fields.clone();
        fields.retain(|(name, _)| *name != "disable-compression");
        let texts = self.texts(&Entry { name: entry.name.clone(), place: entry.place.clone(), fields });
        let place = format!("{}.server", entry.place);
        match texts.get("server") {
            None => self.flaws.push(format!("{place}: it is missing")),
            Some(server) if server.as_str().is_some_and(|server| !is_plain_https(server)) => {
                self.flaws.push(format!("{place}: not https://HOST:PORT with nothing else in it"));
            }
            Some(_) => {}
        }
        texts
    }

    /// Fields of text, all of them.
    fn texts(&mut self, entry: &Entry<'_>) -> serde_json::Value {
        let mut texts = serde_json::Map::new();
        for (name, node) in &entry.fields {
            let text = self.text(Some(node), &format!("{}.{name}", entry.place));
            texts.insert((*name).to_owned(), text.into());
        }
        texts.into()
    }

    fn text(&mut self, node: Option<&Node>, place: &str) -> Option<String> {
        match node.map(|node| &node.value) {
            Some(Value::String(text)) if !text.chars().any(char::is_control) => return Some(text.clone()),
            None => self.flaws.push(format!("{place}: it is missing")),
            Some(_) => self.flaws.push(format!("{place}: it is not a string")),
        }
        None
    }

    fn is(&mut self, fields: &[(&str, &Node)], name: &str, word: &str) {
        let is_other = field(fields, name).is_some_and(|node| node.value != Value::String(word.to_owned()));
        if is_other {
            self.flaws.push(format!("{name}: it is not {word}"));
        }
    }

    fn named(
        &mut self,
        entries: &[(&String, serde_json::Value)],
        name: &str,
        by: &str,
        list: &str,
    ) -> Option<serde_json::Value> {
        let found = entries.iter().find(|(entry, _)| entry.as_str() == name);
        if found.is_none() {
            self.flaws.push(format!("{list}: no entry has the name in {by}"));
        }
        found.map(|(_, value)| value.clone())
    }
}

fn field<'n>(fields: &[(&str, &'n Node)], name: &str) -> Option<&'n Node> {
    fields.iter().find(|(key, _)| *key == name).map(|(_, node)| *node)
}

fn or_document(place: &str) -> &str {
    if place.is_empty() { "the document" } else { place }
}

/// No user, no path, no query: nothing but whom to connect to.
fn is_plain_https(server: &str) -> bool {
    let Some(rest) = server.strip_prefix("https://") else { return false };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    !rest.is_empty() && rest.chars().all(is_plain) && server.parse::<http::Uri>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;

    /// As HyperShift writes an administrator's.
    fn good() -> Json {
        json!({
            "apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": "admin",
            "clusters": [
                {"name": "cluster", "cluster": {"server": "https://api.demo.example.com:30443", "certificate-authority-data": "Q0E="}},
                {"name": "other", "cluster": {"server": "https://[2001:db8::1]:6443"}},
            ],
            "users": [
                {"name": "admin", "user": {"client-certificate-data": "Q1JU", "client-key-data": "S0VZ"}},
                {"name": "other", "user": {"token": "abc"}},
            ],
            "contexts": [
                {"name": "admin", "context": {"cluster": "cluster", "user": "admin", "namespace": "default"}},
                {"name": "other", "context": {"cluster": "other", "user": "other"}},
            ],
        })
    }

    fn flaws(change: impl FnOnce(&mut Json)) -> Vec<String> {
        let mut config = good();
        change(&mut config);
        read(&yaml::write(&config)).map(drop).err().unwrap_or_default()
    }

    #[test]
    fn what_it_brings_with_it_is_taken_over_and_nothing_else_of_it() {
        let read = read(&yaml::write(&good())).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        assert!(
            ["api.demo.example.com", "Q0E=", "Q1JU", "S0VZ"].iter().all(|part| written.contains(part)),
            "{written}"
        );
        assert!(!written.contains("2001:db8") && !written.contains("abc"), "{written}");
        assert_eq!((read.clusters.len(), read.auth_infos.len(), read.contexts.len()), (1, 1, 1));
        let mut token = good();
        token["current-context"] = "other".into();
        assert!(super::read(&token.to_string()).is_ok(), "JSON is YAML");
    }

    /// In entries that are used, and in those that are not.
    #[test]
    fn every_dangerous_field_is_refused_by_name_wherever_it_stands() {
        let exec = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": ["/tmp/pwned"]});
        let users = [
            ("exec", exec),
            ("auth-provider", json!({"name": "gcp", "config": {"cmd-path": "/bin/sh"}})),
            ("tokenFile", json!("/etc/shadow")),
            ("client-certificate", json!("/etc/passwd")),
            ("client-key", json!("../secrets/bmc")),
            ("username", json!("root")),
            ("password", json!("hunter2")),
            ("as", json!("system:admin")),
            ("as-uid", json!("0")),
            ("as-groups", json!(["system:masters"])),
            ("as-user-extra", json!({"a": ["b"]})),
            ("extensions", json!([])),
        ];
        let clusters = [
            ("certificate-authority", json!("/etc/ssl/own.pem")),
            ("proxy-url", json!("http://attacker.example.com:8080")),
            ("insecure-skip-tls-verify", json!(true)),
            ("insecure-skip-tls-verify", json!(false)),
            ("tls-server-name", json!("attacker.example.com")),
            ("extensions", json!([{"name": "x", "extension": {}}])),
        ];
        let rows = users.into_iter().map(|row| ("users", "user", row));
        for (list, noun, (field, value)) in rows.chain(clusters.map(|row| ("clusters", "cluster", row))) {
            for n in [0, 1] {
                let found = flaws(|config| config[list][n][noun][field] = value.clone());
                let place = format!("{list}[{n}].{noun}.{field}: ");
                assert!(found.len() == 1 && found[0].starts_with(&place), "{place}: {found:?}");
                let value = value.to_string();
                assert!(
                    value.len() < 4 || !found[0].contains(value.trim_matches('"')),
                    "no value is told: {found:?}"
                );
            }
        }
        for place in ["", "contexts[1].context."] {
            let found = flaws(|config| match place {
                "" => config["extensions"] = json!([]),
                _ => config["contexts"][1]["context"]["extensions"] = json!([]),
            });
            assert_eq!(found, [format!("{place}extensions: its content is unknown")]);
        }
    }

    #[test]
    fn all_of_it_is_told_at_once_and_in_one_line_each() {
        let found = flaws(|config| {
            config["users"][0]["user"]["exec"] = json!({});
            config["users"][1]["user"]["tokenFile"] = json!("/x");
            config["clusters"][0]["cluster"]["proxy-url"] = json!("socks5://x");
            config["clusters"][1]["cluster"]["server"] = json!("http://api.demo.example.com");
            config["users"][1]["user"]["new\u{1b}[2J\nfield"] = json!("x");
            config["preferences"]["colors"] = json!(true);
        });
        assert_eq!(found.len(), 6, "{found:#?}");
        assert!(found.iter().all(|flaw| !flaw.contains(char::is_control)), "{found:?}");
    }

    #[test]
    fn the_server_is_an_https_address_and_nothing_more() {
        for server in [
            "http://api:6443",
            "https://user@api:6443",
            "https://api:6443/path",
            "https://api:6443?x=y",
            "https://api:6443#x",
            "https://",
            "unix:///run/x.sock",
            "file:///etc/passwd",
            "https://api:6443\nHost: x",
            "https://a%2fb",
        ] {
            assert_eq!(
                flaws(|config| config["clusters"][0]["cluster"]["server"] = json!(server)).len(),
                1,
                "{server}"
            );
        }
        assert_eq!(
            flaws(|config| config["clusters"][0]["cluster"]["server"] = json!("https://api.demo:6443/"))
                .len(),
            0
        );
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let twice = "users:\n- name: a\n  user: {token: x}\n  user: {exec: {}}\n";
        assert!(!read(twice).unwrap_err().is_empty());
        assert!(flaws(|config| config["users"][1]["name"] = "admin".into())[0].contains("duplicate name"));
        assert!(
            flaws(|config| config["current-context"] = "nobody".into())[0]
                .contains("no entry has the name in")
        );
        assert!(
            flaws(|config| config["users"][0]["user"]["token"] = json!(["a"]))[0].contains("not a string")
        );
        assert!(flaws(|config| config["kind"] = "Secret".into())[0].contains("not Config"));
        assert!(!read(&format!("{}\n---\n{}", good(), good())).unwrap_err().is_empty());
        assert_eq!(read(&" ".repeat(LARGEST + 1)).unwrap_err().len(), 1);
        for text in ["", "[]", "x", "users: 7", "\0", "a: &a [*a]", "token: {"] {
            assert!(!read(text).unwrap_err().is_empty(), "{text}");
        }
        // A merged mapping is looked at like any other.
        let merged = yaml::write(&good()).replace("token: abc", "<<: {exec: {command: id}}");
        assert!(
            read(&merged).unwrap_err().iter().any(|flaw| flaw.contains("users[1].user.exec")),
            "{merged}"
        );
    }

    proptest! {
        /// Whatever stands in a user or a cluster under whatever name: only what is taken over gets through.
        #[test]
        fn no_other_field_gets_through(name in "[a-zA-Z-]{1,24}", user in any::<bool>(), value in "[ -~]{0,12}") {
            let (list, noun, allowed) = if user { ("users", "user", USER) } else { ("clusters", "cluster", CLUSTER) };
            let found = flaws(|config| config[list][1][noun][&name] = value.clone().into());
            prop_assert_eq!(found.is_empty(), allowed.contains(&name.as_str()) && (name != "server" || is_plain_https(&value)), "{:?}", found);
        }
    }
}
