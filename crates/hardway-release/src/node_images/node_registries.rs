//! What objects of the cluster say about where images come from, and the `registries.conf` that nodes get from it, as the
//! machine-config-operator makes it (openshift/runtime-utils `pkg/registries`, machine-config-operator
//! `pkg/controller/container-runtime-config`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::registries_conf::{MirrorRule, Pulls, RegistriesConf, RegistryRule};

/// Everything that ImageDigestMirrorSets, ImageTagMirrorSets, ImageContentSourcePolicies, image policies and the object
/// `Image cluster` say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeRegistries {
    /// In the order they were added.
    pub mappings: Vec<MirrorMapping>,
    /// Scopes whose signatures are asked for.
    pub signed: Vec<SignedScope>,
    /// Registries whose images alone may run, where that is said.
    pub allowed: Option<Vec<String>>,
    /// Name of the ConfigMap in `openshift-config` with the CAs of registries.
    pub trusted_ca: Option<String>,
    insecure: Vec<String>,
    blocked: Vec<String>,
    search: Vec<String>,
}

/// Mirrors of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorMapping {
    /// What names of images begin with.
    pub source: String,
    /// In order.
    pub mirrors: Vec<String>,
    /// Images by digest, or by tag.
    pub pulls: Pulls,
    /// Whether the source itself may not be asked.
    pub is_blocking: bool,
    /// Who says so.
    pub origin: MappingOrigin,
}

/// Where something is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingOrigin {
    /// The file.
    pub file: String,
    /// From one.
    pub line: usize,
    /// The field in it, such as `imageDigestSources[0]`.
    pub field: String,
}

/// A name, or the beginning of names, that must be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedScope {
    /// Such as `quay.io/openshift-release-dev/ocp-release`.
    pub scope: String,
    /// The policy.
    pub policy: String,
    /// Who says so.
    pub origin: MappingOrigin,
}

/// What nodes search when nobody says otherwise (machine-config-operator `templates/*/files/registries.yaml`).
const SEARCH: [&str; 2] = ["registry.access.redhat.com", "docker.io"];

impl NodeRegistries {
    /// Takes what an object says; one of another kind says nothing. `line_of` finds a field of it in its file.
    pub fn add(&mut self, object: &Value, file: &str, line_of: &dyn Fn(&str) -> usize) {
        let kind = object["kind"].as_str().unwrap_or_default();
        let origin = |field: String| MappingOrigin { file: file.to_owned(), line: line_of(&field), field };
        match kind {
            "ImageDigestMirrorSet" => self.mirrors(object, "imageDigestMirrors", Pulls::DigestOnly, &origin),
            "ImageTagMirrorSet" => self.mirrors(object, "imageTagMirrors", Pulls::TagOnly, &origin),
            "ImageContentSourcePolicy" => {
                self.mirrors(object, "repositoryDigestMirrors", Pulls::DigestOnly, &origin);
            }
            "ClusterImagePolicy" | "ImagePolicy" => self.policy(object, kind, &origin),
            "Image" if is_of_config(object) => self.image_config(&object["spec"]),
            _ => {}
        }
    }

    /// The file that nodes get, out of these objects.
    pub fn conf(&self) -> RegistriesConf {
        let search =
            if self.search.is_empty() { SEARCH.map(str::to_owned).to_vec() } else { self.search.clone() };
        let mut conf = RegistriesConf { registries: Vec::new(), search };
        let mut mirrored = Vec::new();
        for pulls in [Pulls::DigestOnly, Pulls::TagOnly] {
            let of_kind: Vec<&MirrorMapping> =
                self.mappings.iter().filter(|mapping| mapping.pulls == pulls && mapping.is_real()).collect();
            let sources: BTreeSet<&str> = of_kind.iter().map(|mapping| mapping.source.as_str()).collect();
            for source in sources {
                let same: Vec<&MirrorMapping> =
                    of_kind.iter().copied().filter(|mapping| mapping.source == source).collect();
                let rule = entry(&mut conf, source);
                rule.is_blocked |= same.iter().any(|mapping| mapping.is_blocking);
                let mirrors = merged(source, &same).into_iter();
                rule.mirrors.extend(mirrors.map(|location| MirrorRule {
                    location,
                    is_insecure: false,
                    pulls,
                }));
                mirrored.push(source.to_owned());
            }
        }
        for scope in &self.blocked {
            entry(&mut conf, scope);
        }
        for scope in &self.insecure {
            entry(&mut conf, scope);
            for rule in &mut conf.registries {
                rule.is_insecure |= is_inside(&rule.prefix, scope);
                for mirror in &mut rule.mirrors {
                    mirror.is_insecure |= is_inside(&mirror.location, scope);
                }
            }
        }
        for scope in &self.blocked {
            for rule in &mut conf.registries {
                rule.is_blocked |= is_inside(&rule.prefix, scope);
            }
        }
        hand_down(&mut conf, &mirrored);
        conf
    }

    /// The scope that asks for a signature of an image of this name: the longest that fits.
    pub fn signature_asked_of(&self, name: &str) -> Option<&SignedScope> {
        self.signed
            .iter()
            .filter(|signed| is_inside(name, &signed.scope))
            .max_by_key(|signed| signed.scope.len())
    }

    /// Whether images of this name may run at all.
    pub fn is_allowed(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|scope| is_inside(name, scope)))
    }

    fn mirrors(
        &mut self,
        object: &Value,
        field: &str,
        pulls: Pulls,
        origin: &dyn Fn(String) -> MappingOrigin,
    ) {
        for (i, entry) in object["spec"][field].as_array().into_iter().flatten().enumerate() {
            self.mappings.push(MirrorMapping {
                source: text(&entry["source"]),
                mirrors: texts(&entry["mirrors"]),
                pulls,
                is_blocking: entry["mirrorSourcePolicy"] == "NeverContactSource",
                origin: origin(format!("spec.{field}[{i}]")),
            });
        }
    }

    fn policy(&mut self, object: &Value, kind: &str, origin: &dyn Fn(String) -> MappingOrigin) {
        let policy = format!("{kind} {}", text(&object["metadata"]["name"]));
        for (i, scope) in texts(&object["spec"]["scopes"]).into_iter().enumerate() {
            let origin = origin(format!("spec.scopes[{i}]"));
            self.signed.push(SignedScope { scope, policy: policy.clone(), origin });
        }
    }

    fn image_config(&mut self, spec: &Value) {
        let sources = &spec["registrySources"];
        self.insecure.extend(texts(&sources["insecureRegistries"]));
        self.blocked.extend(texts(&sources["blockedRegistries"]));
        self.search.extend(texts(&sources["containerRuntimeSearchRegistries"]));
        let allowed = texts(&sources["allowedRegistries"]);
        if !allowed.is_empty() {
            self.allowed.get_or_insert_default().extend(allowed);
        }
        self.trusted_ca =
            spec["additionalTrustedCA"]["name"].as_str().map(str::to_owned).or(self.trusted_ca.take());
    }
}

impl MirrorMapping {
    /// One that names only its own source is none.
    fn is_real(&self) -> bool {
        self.mirrors.iter().any(|mirror| *mirror != self.source)
    }
}

fn is_of_config(object: &Value) -> bool {
    object["apiVersion"].as_str().is_some_and(|version| version.starts_with("config.openshift.io/"))
}

fn entry<'c>(conf: &'c mut RegistriesConf, scope: &str) -> &'c mut RegistryRule {
    let at = conf.registries.iter().position(|rule| rule.prefix == scope).unwrap_or_else(|| {
        let location = if scope.starts_with("*.") { String::new() } else { scope.to_owned() };
        conf.registries.push(RegistryRule { prefix: scope.to_owned(), location, ..RegistryRule::default() });
        conf.registries.len() - 1
    });
    &mut conf.registries[at]
}

/// Only the longest prefix counts on a node, so an entry that only blocks, or only says that a part is insecure, gets the
/// mirrors of what it is a part of.
fn hand_down(conf: &mut RegistriesConf, mirrored: &[String]) {
    for source in mirrored {
        let mirrors = entry(conf, source).mirrors.clone();
        for rule in &mut conf.registries {
            if rule.prefix != *source && is_inside(&rule.prefix, source) && rule.mirrors.is_empty() {
                let rest = &rule.prefix[source.len()..];
                let deeper = |mirror: &MirrorRule| MirrorRule {
                    location: format!("{}{rest}", mirror.location),
                    ..mirror.clone()
                };
                rule.mirrors = mirrors.iter().map(deeper).collect();
            }
        }
    }
}

/// Whether a scope, or a name, is the other or a part of it.
fn is_inside(scope: &str, outer: &str) -> bool {
    if let Some(domain) = outer.strip_prefix('*') {
        let host = scope.split(['/', ':']).next().unwrap_or_default();
        return scope == outer || host.ends_with(domain);
    }
    scope.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// One order out of several lists that each name some mirrors of a source. Where lists contradict each other, names decide.
fn merged(source: &str, mappings: &[&MirrorMapping]) -> Vec<String> {
    let mut after: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut follows = |first, then| {
        after.entry(first).or_default().insert(then);
        before.entry(then).or_default().insert(first);
        after.entry(then).or_default();
        before.entry(first).or_default();
    };
    for mapping in mappings {
        let mirrors: Vec<&str> = mapping.mirrors.iter().map(String::as_str).collect();
        mirrors.windows(2).for_each(|pair| follows(pair[0], pair[1]));
        if let Some(last) = mirrors.last().filter(|_| !mirrors.contains(&source)) {
            follows(last, source);
        }
    }
    let mut ready: VecDeque<&str> =
        before.iter().filter(|(_, b)| b.is_empty()).map(|(name, _)| *name).collect();
    let mut all = after.keys().copied().collect::<Vec<_>>().into_iter();
    let mut order: Vec<&str> = Vec::new();
    while let Some(next) = ready.pop_front().or_else(|| all.next()) {
        if order.contains(&next) {
            continue;
        }
        order.push(next);
        for then in &after[next] {
            let waits = before.entry(then).or_default();
            waits.remove(next);
            if waits.is_empty() && !order.contains(then) {
                ready.push_back(then);
            }
        }
    }
    // It is asked last anyway.
    if order.last() == Some(&source) {
        order.pop();
    }
    order.into_iter().map(str::to_owned).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(objects: &[Value]) -> RegistriesConf {
        let mut registries = NodeRegistries::default();
        objects.iter().for_each(|object| registries.add(object, "manifests/x.yaml", &|_| 1));
        registries.conf()
    }

    fn set(kind: &str, field: &str, entries: &[(&str, &[&str], &str)]) -> Value {
        let entries: Vec<Value> = entries
            .iter()
            .map(|(source, mirrors, policy)| json!({"source": source, "mirrors": mirrors, "mirrorSourcePolicy": policy}))
            .collect();
        json!({"kind": kind, "spec": {field: entries}})
    }

    fn shown(conf: &RegistriesConf) -> Vec<String> {
        let rule = |rule: &RegistryRule| {
            let mirrors: Vec<String> = rule
                .mirrors
                .iter()
                .map(|mirror| {
                    let insecure = if mirror.is_insecure { "!" } else { "" };
                    format!(
                        "{insecure}{}{}",
                        mirror.location,
                        if mirror.pulls == Pulls::TagOnly { " by tag" } else { "" }
                    )
                })
                .collect();
            let marks = [(rule.is_blocked, " blocked"), (rule.is_insecure, " insecure")];
            let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
            format!("{}{marks}: {}", rule.prefix, mirrors.join(", "))
        };
        conf.registries.iter().map(rule).collect()
    }

    #[test]
    fn sets_become_entries_by_source_digests_first() {
        let conf = of(&[
            set("ImageTagMirrorSet", "imageTagMirrors", &[("quay.io/a", &["t.lab/a"], "")]),
            set(
                "ImageDigestMirrorSet",
                "imageDigestMirrors",
                &[
                    ("quay.io/b", &["m.lab/b"], "NeverContactSource"),
                    ("quay.io/a", &["z.lab/a", "b.lab/a"], ""),
                    ("quay.io/c", &["quay.io/c"], "NeverContactSource"),
                ],
            ),
            set(
                "ImageContentSourcePolicy",
                "repositoryDigestMirrors",
                &[("quay.io/a", &["y.lab/a", "z.lab/a"], "")],
            ),
        ]);
        assert_eq!(
            shown(&conf),
            ["quay.io/a: y.lab/a, z.lab/a, b.lab/a, t.lab/a by tag", "quay.io/b blocked: m.lab/b"],
            "lists of one source are put in one order, and what names no mirror is no mapping"
        );
        assert_eq!(conf.search, SEARCH);
    }

    #[test]
    fn lists_that_contradict_each_other_are_settled_by_name() {
        let lists = |a: &[&str], b: &[&str]| {
            let conf =
                of(&[set("ImageDigestMirrorSet", "imageDigestMirrors", &[("s", a, ""), ("s", b, "")])]);
            conf.registries[0].mirrors.iter().map(|mirror| mirror.location.clone()).collect::<Vec<_>>()
        };
        assert_eq!(lists(&["b", "c"], &["a", "b"]), ["a", "b", "c"]);
        assert_eq!(lists(&["b", "a"], &["a", "b"]), ["a", "b"]);
        assert_eq!(lists(&["s", "a"], &["a"]), ["a"], "a source among its own mirrors that would come last");
    }

    #[test]
    fn parts_of_what_is_mirrored_blocked_or_insecure_are_so_too() {
        let conf = of(&[
            set("ImageDigestMirrorSet", "imageDigestMirrors", &[("quay.io", &["lab:5000/quay"], "")]),
            json!({"apiVersion": "config.openshift.io/v1", "kind": "Image", "metadata": {"name": "cluster"}, "spec": {"registrySources": {
                "insecureRegistries": ["lab:5000", "*.corp.example"],
                "blockedRegistries": ["quay.io/bad", "x.corp.example"],
                "containerRuntimeSearchRegistries": ["q.example"],
            }}}),
        ]);
        assert_eq!(
            shown(&conf),
            [
                "quay.io: !lab:5000/quay",
                "quay.io/bad blocked: !lab:5000/quay/bad",
                "x.corp.example blocked insecure: ",
                "lab:5000 insecure: ",
                "*.corp.example insecure: ",
            ]
        );
        assert_eq!(conf.search, ["q.example"]);
    }

    #[test]
    fn policies_say_what_is_signed_and_what_may_run() {
        let mut registries = NodeRegistries::default();
        registries.add(&json!({"kind": "ClusterImagePolicy", "metadata": {"name": "p"}, "spec": {"scopes": ["quay.io/a", "*.example.com"]}}), "f", &|_| 1);
        assert_eq!(registries.signature_asked_of("quay.io/a/b").unwrap().policy, "ClusterImagePolicy p");
        assert!(registries.signature_asked_of("x.example.com/b").is_some());
        assert!(registries.signature_asked_of("quay.io/ab").is_none());
        assert!(registries.is_allowed("quay.io/ab"));
        registries.add(
            &json!({"apiVersion": "config.openshift.io/v1", "kind": "Image", "spec": {"registrySources": {"allowedRegistries": ["quay.io"]}, "additionalTrustedCA": {"name": "cas"}}}),
            "f",
            &|_| 1,
        );
        assert!(registries.is_allowed("quay.io/ab") && !registries.is_allowed("docker.io/library/x"));
        assert_eq!(registries.trusted_ca.as_deref(), Some("cas"));
    }
}
