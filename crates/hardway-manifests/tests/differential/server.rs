//! The real kube-apiserver: every object is tried with a dry run and strict field validation.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use fs_err as fs;
use hardway_testing::{ControlPlane, run, succeed};
use serde_json::{Value, json};

/// What it said to an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) is_refused: bool,
    pub(crate) message: String,
    /// Fields that it named, none where it could not even decode.
    pub(crate) fields: Vec<String>,
}

pub(crate) struct ApiServer {
    plane: Arc<ControlPlane>,
    /// Where an object is posted, by apiVersion and kind.
    places: std::collections::BTreeMap<(String, String), (String, bool)>,
}

impl ApiServer {
    /// With these CRDs, established.
    pub(crate) fn with(crds: &[Value]) -> Self {
        let plane = Arc::new(ControlPlane::start());
        for crd in crds {
            let mut crd = crd.clone();
            // Some are named as nobody may, or converted by somebody who is not here.
            crd["metadata"]["annotations"] =
                json!({"api-approved.kubernetes.io": "https://example.com/pull/1"});
            crd["spec"]["conversion"] = json!({"strategy": "None"});
            plane.apply(&crd);
        }
        if !crds.is_empty() {
            let wait = ["wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"];
            succeed(plane.kubectl().args(wait));
        }
        for namespace in ["openshift-config", "test"] {
            run(plane.kubectl().args(["create", "namespace", namespace]));
        }
        let mut server = Self { plane, places: std::collections::BTreeMap::new() };
        for attempt in 0.. {
            server.find_places();
            let all_there = crds.iter().all(|crd| {
                server
                    .places
                    .keys()
                    .any(|(_, kind)| crd.pointer("/spec/names/kind").and_then(Value::as_str) == Some(kind))
            });
            if all_there {
                break;
            }
            assert!(attempt < 100, "CRDs are not served");
            std::thread::sleep(Duration::from_millis(300));
        }
        server
    }

    fn find_places(&mut self) {
        let raw = |path: &str| -> Value {
            let (is_there, text) = run(self.plane.kubectl().args(["get", "--raw", path]));
            if is_there { serde_json::from_str(&text).unwrap_or_default() } else { Value::Null }
        };
        let mut versions = vec![("v1".to_owned(), "/api/v1".to_owned())];
        for group in raw("/apis")["groups"].as_array().into_iter().flatten() {
            for version in group["versions"].as_array().into_iter().flatten() {
                let version = version["groupVersion"].as_str().unwrap();
                versions.push((version.to_owned(), format!("/apis/{version}")));
            }
        }
        for (version, root) in versions {
            for resource in raw(&root)["resources"].as_array().into_iter().flatten() {
                let name = resource["name"].as_str().unwrap();
                if !name.contains('/') {
                    let key = (version.clone(), resource["kind"].as_str().unwrap().to_owned());
                    let is_namespaced = resource["namespaced"] == true;
                    self.places.insert(key, (format!("{root}|{name}"), is_namespaced));
                }
            }
        }
    }

    /// Tries all of them. Those of a kind that it does not serve are refused with 404.
    pub(crate) fn try_all(&self, objects: &[Value]) -> Vec<Answer> {
        let folder = tempfile::tempdir().unwrap();
        let mut config = String::new();
        for (number, object) in objects.iter().enumerate() {
            let file = |end: &str| folder.path().join(format!("{number}.{end}")).display().to_string();
            fs::write(file("json"), object.to_string()).unwrap();
            let own = |name: &str| self.plane.folder().join(name).display().to_string();
            let line = |config: &mut String, key: &str, value: &str| {
                writeln!(config, "{key} = \"{value}\"").unwrap()
            };
            line(
                &mut config,
                "url",
                &format!("{}{}?dryRun=All&fieldValidation=Strict", self.plane.url(), self.place(object)),
            );
            line(&mut config, "request", "POST");
            line(&mut config, "header", "Content-Type: application/json");
            line(&mut config, "header", "Expect:");
            line(&mut config, "data-binary", &format!("@{}", file("json")));
            line(&mut config, "output", &file("out"));
            line(&mut config, "cacert", &own("ca.crt"));
            line(&mut config, "cert", &own("admin.crt"));
            line(&mut config, "key", &own("admin.key"));
            config.push_str("silent\nshow-error\nnext\n");
        }
        let config_file = folder.path().join("curl");
        fs::write(&config_file, config.trim_end_matches("next\n")).unwrap();
        succeed(Command::new("curl").arg("-K").arg(&config_file));
        let answer = |number: usize| {
            let text = fs::read_to_string(folder.path().join(format!("{number}.out"))).unwrap_or_default();
            answer(&serde_json::from_str(&text).unwrap_or(Value::String(text)))
        };
        (0..objects.len()).map(answer).collect()
    }

    fn place(&self, object: &Value) -> String {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let key = (text("/apiVersion").to_owned(), text("/kind").to_owned());
        let Some((place, is_namespaced)) = self.places.get(&key) else { return "/no-such-kind".to_owned() };
        let (root, name) = place.split_once('|').unwrap();
        match (is_namespaced, text("/metadata/namespace")) {
            (true, namespace) if !namespace.is_empty() => format!("{root}/namespaces/{namespace}/{name}"),
            _ => format!("{root}/{name}"),
        }
    }
}

fn answer(response: &Value) -> Answer {
    let is_refused = response["kind"] == "Status" || !response.is_object();
    let message = response["message"].as_str().unwrap_or_default().to_owned();
    let causes = response["details"]["causes"].as_array().into_iter().flatten();
    let mut fields: Vec<String> = causes
        .filter_map(|cause| {
            let (field, message) = (cause["field"].as_str()?, cause["message"].as_str().unwrap_or_default());
            // Alternatives are told without a field; the path is in the sentence.
            let inner = || {
                message
                    .split_once("\"\": ")
                    .map(|(_, rest)| rest.split(' ').next().unwrap_or_default().replace('"', ""))
            };
            Some(if field == "<nil>" || field.is_empty() {
                inner().unwrap_or_default()
            } else {
                field.to_owned()
            })
        })
        .collect();
    if let Some((_, list)) = message.split_once("strict decoding error: ") {
        fields.extend(list.split(", ").filter_map(|part| part.split('"').nth(1)).map(str::to_owned));
    }
    Answer { is_refused, message, fields }
}
