//! What a change of manifests does to the rendered config of each pool, told without rendering.
//!
//! The controller reads the kinds below and nothing else (machine-config-operator `pkg/controller/bootstrap/bootstrap.go`,
//! `pkg/operator/bootstrap.go`). What people put into MachineConfigs goes into the result as it is, and so do mirrors; what the
//! operator's templates make of the rest is known once they have run.

use std::collections::{BTreeMap, BTreeSet};

use hardway_assets::Tree;
use serde_json::Value;

use super::objects::{self, RenderedObject};
use super::pools::{GROUP, Labels, ROLE, labels, pools, selects};
use crate::node_images::NodeRegistries;

/// What becomes of one pool's rendered config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolEffect {
    /// The pool.
    pub pool: String,
    /// Whether its config differs.
    pub verdict: Verdict,
    /// What differs, or what reads it.
    pub parts: BTreeSet<String>,
}

/// Whether a rendered config is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is the same.
    Same,
    /// Templates of the operator read what changed: whether it makes a difference is known when nodes are rendered.
    MayDiffer,
    /// It is another one.
    Differs,
}

/// For each pool of either state, in the order of their names.
pub fn pool_effects(before: &Tree, after: &Tree) -> Vec<PoolEffect> {
    let (before, after) = (State::of(before), State::of(after));
    let names: BTreeSet<&String> = before.pools.keys().chain(after.pools.keys()).collect();
    let shared = shared(&before, &after);
    let effect = |pool: &String| {
        let mut found = shared.clone();
        found.extend(differing(&before.parts(pool), &after.parts(pool), Verdict::Differs));
        found.extend(differing(&before.bound(pool), &after.bound(pool), Verdict::Differs));
        if before.selector(pool) != after.selector(pool) {
            found.push((Verdict::MayDiffer, format!("MachineConfigPool {pool}")));
        }
        let verdict = found.iter().map(|(verdict, _)| *verdict).max().unwrap_or(Verdict::Same);
        PoolEffect { pool: pool.clone(), verdict, parts: found.into_iter().map(|(_, part)| part).collect() }
    };
    names.into_iter().map(effect).collect()
}

/// Objects as the controller reads them.
struct State {
    objects: Vec<RenderedObject>,
    pools: BTreeMap<String, Labels>,
}

/// Something of a config, by what it is called.
type Parts = BTreeMap<String, Value>;

const CONFIG: &str = "config.openshift.io";
/// Of these, the templates of the operator make files of every pool.
const READ_BY_TEMPLATES: [(&str, &str); 7] = [
    (CONFIG, "APIServer"),
    (CONFIG, "DNS"),
    (CONFIG, "FeatureGate"),
    (CONFIG, "Infrastructure"),
    (CONFIG, "Network"),
    (CONFIG, "Node"),
    (CONFIG, "Proxy"),
];
/// Objects of `v1` that are read by name: kind, namespace, name, and whether they go into a file as they are.
const READ_BY_NAME: [(&str, &str, &str, Verdict); 3] = [
    ("ConfigMap", "kube-system", "cluster-config-v1", Verdict::MayDiffer),
    ("ConfigMap", "openshift-config", "user-ca-bundle", Verdict::Differs),
    ("Secret", "openshift-config", "pull-secret", Verdict::Differs),
];
const POLICIES: [&str; 2] = ["ClusterImagePolicy", "ImagePolicy"];
const BOUND: [&str; 2] = ["ContainerRuntimeConfig", "KubeletConfig"];

impl State {
    fn of(tree: &Tree) -> Self {
        let (objects, _) = objects::read(tree);
        let pools = pools(&objects);
        Self { objects, pools }
    }

    /// What selects the MachineConfigs of a pool that somebody wrote.
    fn selector(&self, pool: &str) -> Option<&Value> {
        let own = self.objects.iter().find(|o| o.is(GROUP, "MachineConfigPool") && o.name() == pool);
        own.map(|own| &own.value["spec"]["machineConfigSelector"])
    }

    /// What the MachineConfigs in the folder put into a pool's config: merged in the order of their names, the last one wins.
    fn parts(&self, pool: &str) -> Parts {
        let of_pool = |object: &&RenderedObject| {
            let labels = labels(&object.value);
            match self.selector(pool) {
                Some(selector) => selects(selector, &labels),
                None => labels.get(ROLE).is_some_and(|role| role == pool),
            }
        };
        let mut configs: Vec<&RenderedObject> =
            self.objects.iter().filter(|object| object.is(GROUP, "MachineConfig")).filter(of_pool).collect();
        configs.sort_by_key(|config| config.name());
        let mut merged = Parts::new();
        for config in configs {
            for (name, value) in parts_of(&config.value["spec"]) {
                match (value, merged.get_mut(&name)) {
                    // Lists of words are put one behind the other.
                    (Value::Array(more), Some(Value::Array(words))) => words.extend(more),
                    (value, _) => drop(merged.insert(name, value)),
                }
            }
        }
        merged
    }

    /// What selects the pool by its labels.
    fn bound(&self, pool: &str) -> Parts {
        let Some(labels) = self.pools.get(pool) else { return Parts::new() };
        let is_bound = |object: &&RenderedObject| {
            BOUND.iter().any(|kind| object.is(GROUP, kind))
                && selects(&object.value["spec"]["machineConfigPoolSelector"], labels)
        };
        self.objects.iter().filter(is_bound).map(named).collect()
    }

    /// What a list of kinds says.
    fn of_kinds(&self, is_one: impl Fn(&RenderedObject) -> bool) -> Parts {
        self.objects.iter().filter(|object| is_one(object)).map(named).collect()
    }

    fn registries(&self) -> NodeRegistries {
        let mut registries = NodeRegistries::default();
        self.objects.iter().for_each(|object| registries.add(&object.value, &object.path, &|_| 1));
        registries
    }
}

/// What concerns all pools alike.
fn shared(before: &State, after: &State) -> Vec<(Verdict, String)> {
    let mut found = Vec::new();
    let (mirrors, now) = (before.registries(), after.registries());
    if mirrors.conf() != now.conf() {
        found.push((Verdict::Differs, "file /etc/containers/registries.conf".to_owned()));
    }
    if mirrors.allowed != now.allowed {
        found.push((Verdict::Differs, "file /etc/containers/policy.json".to_owned()));
    }
    let is_policy = |object: &RenderedObject| POLICIES.iter().any(|kind| object.is(CONFIG, kind));
    let policies = differing(&before.of_kinds(is_policy), &after.of_kinds(is_policy), Verdict::Differs);
    found.extend(
        policies
            .into_iter()
            .map(|(verdict, who)| (verdict, format!("file /etc/containers/policy.json, by {who}"))),
    );
    let is_template =
        |object: &RenderedObject| READ_BY_TEMPLATES.iter().any(|(group, kind)| object.is(group, kind));
    found.extend(differing(&before.of_kinds(is_template), &after.of_kinds(is_template), Verdict::MayDiffer));
    for (kind, namespace, name, verdict) in READ_BY_NAME {
        let is_it = |object: &RenderedObject| {
            object.value["apiVersion"] == "v1"
                && object.kind() == kind
                && object.value["metadata"]["namespace"] == namespace
                && object.name() == name
        };
        found.extend(differing(&before.of_kinds(is_it), &after.of_kinds(is_it), verdict));
    }
    found
}

/// An object by its kind and name, with what it says: labels and comments make no difference.
fn named(object: &RenderedObject) -> (String, Value) {
    let says =
        ["spec", "status", "data", "stringData", "binaryData"].map(|field| object.value[field].clone());
    (format!("{} {}", object.kind(), object.name()), says.to_vec().into())
}

/// Names of what is there only once, or not the same twice.
fn differing(before: &Parts, after: &Parts, verdict: Verdict) -> Vec<(Verdict, String)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    changed.map(|name| (verdict, name.clone())).collect()
}

/// What a MachineConfig brings, each by its name.
fn parts_of(spec: &Value) -> Parts {
    let mut parts = Parts::new();
    let entries = |value: &Value| value.as_object().cloned().unwrap_or_default();
    for (field, value) in entries(spec).into_iter().filter(|(field, _)| field != "config") {
        parts.insert(field, value);
    }
    for (section, value) in entries(&spec["config"]).into_iter().filter(|(section, _)| section != "ignition")
    {
        for (list, value) in entries(&value) {
            let (word, key) = match list.as_str() {
                "directories" => ("directory", "path"),
                "files" => ("file", "path"),
                "groups" => ("group", "name"),
                "links" => ("link", "path"),
                "units" => ("unit", "name"),
                "users" => ("user", "name"),
                _ => ("", ""),
            };
            match value {
                Value::Array(items) if !word.is_empty() => parts.extend(
                    items
                        .into_iter()
                        .map(|item| (format!("{word} {}", item[key].as_str().unwrap_or_default()), item)),
                ),
                value => drop(parts.insert(format!("{section}.{list}"), value)),
            }
        }
    }
    parts.retain(|_, value| !is_nothing(value));
    parts
}

/// Fields that openshift-install writes out without saying anything.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "openshift/99-x.yaml";

    fn tree(texts: &[(&str, String)]) -> Tree {
        let mut tree = Tree::default();
        texts.iter().for_each(|(path, text)| tree.insert(*path, text.clone()));
        tree
    }

    fn machine_config(name: &str, role: &str, spec: &str) -> String {
        format!(
            "apiVersion: {GROUP}/v1\nkind: MachineConfig\nmetadata: {{name: {name}, labels: {{{ROLE}: {role}}}}}\nspec: {spec}\n"
        )
    }

    fn object(api_version: &str, kind: &str, rest: &str) -> String {
        format!("apiVersion: {api_version}\nkind: {kind}\n{rest}\n")
    }

    /// `master same; worker differs: file /etc/x`
    fn told(before: &[(&str, String)], after: &[(&str, String)]) -> String {
        let effects = pool_effects(&tree(before), &tree(after));
        let one = |effect: &PoolEffect| {
            let verdict = match effect.verdict {
                Verdict::Same => "same",
                Verdict::MayDiffer => "may differ",
                Verdict::Differs => "differs",
            };
            let parts: Vec<&str> = effect.parts.iter().map(String::as_str).collect();
            match parts.is_empty() {
                true => format!("{} {verdict}", effect.pool),
                false => format!("{} {verdict}: {}", effect.pool, parts.join(", ")),
            }
        };
        effects.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    fn added(text: String) -> String {
        told(&[], &[(FILE, text)])
    }

    #[test]
    fn a_machine_config_changes_the_pool_of_its_role() {
        let spec = "{kernelArguments: [nosmt], fips: false, config: {ignition: {version: 3.2.0}, \
                    storage: {files: [{path: /etc/x}]}, systemd: {units: [{name: y.service}]}}}";
        let worker = machine_config("99-x", "worker", spec);
        assert_eq!(
            added(worker.clone()),
            "master same; worker differs: file /etc/x, kernelArguments, unit y.service"
        );
        // Under another name, in another file, and with another label besides, nodes get the same.
        let renamed = machine_config("99-z", "worker, mine: yes", spec);
        assert_eq!(told(&[(FILE, worker)], &[("manifests/z.yaml", renamed)]), "master same; worker same");
        let nothing =
            machine_config("99-x", "worker", "{config: {ignition: {version: 3.2.0}}, osImageURL: ''}");
        assert_eq!(added(nothing), "master same; worker same");
    }

    #[test]
    fn a_pool_of_ones_own_takes_what_it_selects() {
        let pool = object(
            &format!("{GROUP}/v1"),
            "MachineConfigPool",
            &format!(
                "metadata: {{name: infra}}\nspec: {{machineConfigSelector: {{matchExpressions: \
                 [{{key: {ROLE}, operator: In, values: [worker, infra]}}]}}}}"
            ),
        );
        let infra = machine_config("99-i", "infra", "{kernelType: realtime}");
        let before = [("manifests/pool.yaml", pool.clone())];
        let after = [("manifests/pool.yaml", pool.clone()), (FILE, infra)];
        assert_eq!(told(&before, &after), "infra differs: kernelType; master same; worker same");
        assert_eq!(told(&[], &before), "infra may differ: MachineConfigPool infra; master same; worker same");
    }

    #[test]
    fn what_selects_pools_changes_those() {
        let kubelet = object(
            &format!("{GROUP}/v1"),
            "KubeletConfig",
            &format!(
                "metadata: {{name: k}}\nspec: {{maxPods: 5, machineConfigPoolSelector: {{matchLabels: \
                 {{pools.operator.{GROUP}/master: \"\"}}}}}}"
            ),
        );
        assert_eq!(added(kubelet), "master differs: KubeletConfig k; worker same");
    }

    #[test]
    fn mirrors_change_the_file_that_they_are_in_if_they_are_any() {
        let mirrors = |mirror: &str| {
            let entry = format!("{{source: quay.io/a, mirrors: [{mirror}]}}");
            object(
                "config.openshift.io/v1",
                "ImageDigestMirrorSet",
                &format!("metadata: {{name: m}}\nspec: {{imageDigestMirrors: [{entry}]}}"),
            )
        };
        let conf = "file /etc/containers/registries.conf";
        assert_eq!(
            added(mirrors("m.example.com/a")),
            format!("master differs: {conf}; worker differs: {conf}")
        );
        assert_eq!(added(mirrors("quay.io/a")), "master same; worker same");
    }

    #[test]
    fn what_templates_read_may_make_a_difference_and_the_rest_makes_none() {
        let proxy =
            object("config.openshift.io/v1", "Proxy", "metadata: {name: cluster}\nspec: {noProxy: a}");
        assert_eq!(added(proxy), "master may differ: Proxy cluster; worker may differ: Proxy cluster");
        let secret = |name: &str| {
            object(
                "v1",
                "Secret",
                &format!("metadata: {{name: {name}, namespace: openshift-config}}\ndata: {{a: Yg==}}"),
            )
        };
        assert_eq!(added(secret("mine")), "master same; worker same");
        assert_eq!(
            added(secret("pull-secret")),
            "master differs: Secret pull-secret; worker differs: Secret pull-secret"
        );
        let seed = ("operator-seeds/x.yaml", machine_config("a", "worker", "{kernelType: realtime}"));
        assert_eq!(told(&[], &[seed]), "master same; worker same", "the controller does not see that folder");
    }
}
