//! Good and bad objects, judged here and by a real kube-apiserver: the same verdict, the same field.
//!
//! Bad ones are drawn from the CRDs themselves: an object is grown from each schema and spoilt in every way that the schema
//! can notice. `DIFFERENCES` lists where the two disagree, and why.

mod bench;
mod mutation;
mod own_crds;
mod reach;
mod server;

use std::collections::{BTreeMap, BTreeSet};

use hardway_manifests::{Judgement, Kinds, Verdict};
use serde_json::{Value, json};

use self::mutation::{Mutant, grow, spoil};
use self::reach::{creation_rules, reach};
use self::server::{Answer, ApiServer};
use crate::real_data;

/// Where the two name other fields of an object that both refuse: a part of what the server says, and why.
const DIFFERENCES: [(&str, &str); 5] = [
    (
        "must validate at least one schema",
        "of alternatives that all fail, the server tells the best match by its own count",
    ),
    (
        "must validate one and only one schema",
        "of alternatives that all fail, the server tells the best match by its own count",
    ),
    (
        "Namespace \"",
        "a namespace's name that is no label value is told once more, for the label that the server makes of it",
    ),
    ("targetPort: Invalid value", "a target port that nobody gives is the port, and is refused with it"),
    ("volumeMounts[0].name: Not found", "a mount of a volume that is refused is refused too"),
];

/// As many of each sort as a server answers in half a minute on two cores.
const MUTANTS: usize = 1000;
/// With fewer ways to be refused, the same is tried in several objects.
const FEW: usize = 300;
/// As many rules may be met in one way only, or not at all: they are printed with the reason. Half of them are about status, which
/// creation drops.
const MISSED: usize = 40;
/// Objects of each CRD, with other choices where there are several.
const CHOICES: usize = 5;

#[test]
fn real_server_and_hardway_agree_on_objects_of_crds() {
    let crds = all_crds();
    let mut kinds = Kinds::default();
    crds.iter().for_each(|crd| assert!(kinds.add(crd)));
    let grown: Vec<(Value, Value)> =
        crds.iter().flat_map(|crd| (0..CHOICES).filter_map(|choice| grow(crd, &kinds, choice))).collect();
    let barren: Vec<&Value> = crds
        .iter()
        .map(|crd| &crd["spec"]["names"]["kind"])
        .filter(|kind| !grown.iter().any(|(object, _)| object["kind"] == **kind))
        .collect();
    let server = ApiServer::with(&crds);
    let good: Vec<Value> = grown.iter().map(|(object, _)| object.clone()).collect();
    let refused: Vec<String> = server
        .try_all(&good)
        .iter()
        .zip(&good)
        .filter(|(answer, _)| answer.is_refused)
        .map(|(answer, object)| format!("{}: {}", object["kind"], answer.message))
        .collect();
    eprintln!("{} CRDs, {} good objects grown, none of {barren:?}", crds.len(), good.len());
    assert!(refused.is_empty(), "good here, refused there:\n{}", refused.join("\n"));
    let mut mutants =
        sample(grown.iter().flat_map(|(object, schema)| spoil(object, schema)).collect(), &kinds);
    let missed = meet_rules(&crds, &kinds, &mut mutants);
    let count = compare(&server, &kinds, &mutants, &crds);
    assert!(count >= 200, "only {count} bad objects");
    assert!(missed <= MISSED, "{missed} rules were not met in both ways");
}

/// An object for each rule that none of the others meets, in both ways. How many rules remain.
fn meet_rules(crds: &[Value], kinds: &Kinds, mutants: &mut Vec<Mutant>) -> usize {
    let mut done = BTreeSet::new();
    for mutant in mutants.iter() {
        if let Judgement::Judged(verdict) = kinds.judge(&mutant.object) {
            done.extend(verdict.tried_rules);
        }
    }
    let mut missed: BTreeMap<String, String> = BTreeMap::new();
    for crd in crds {
        let reached = reach(crd, kinds, &mut done);
        mutants.extend(reached.mutants);
        missed.extend(reached.missed);
    }
    // The same rule may stand in several places, and be met in one of them only.
    missed.retain(|rule, _| [true, false].iter().any(|held| !done.contains(&(rule.clone(), *held))));
    for (rule, why) in &missed {
        let rule: String = rule.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect();
        eprintln!("  not met in both ways: {rule}: {why}");
    }
    missed.len()
}

#[test]
fn real_server_and_hardway_agree_on_built_in_kinds() {
    let kinds = Kinds::default();
    let server = ApiServer::with(&[]);
    let mutants = built_in_objects();
    let count = compare(&server, &kinds, &mutants, &[]);
    assert!(count >= 40, "only {count} bad objects");
}

fn all_crds() -> Vec<Value> {
    let real = ["crds-4.18", "crds-hypershift"].into_iter().flat_map(real_data::objects);
    own_crds::own_crds().into_iter().chain(real).collect()
}

/// Of those that are refused here, one for each way to be refused, and more where there are few ways; of the others, every n-th.
fn sample(mutants: Vec<Mutant>, kinds: &Kinds) -> Vec<Mutant> {
    let mut seen = BTreeSet::new();
    let (mut refused, mut again) = (Vec::new(), Vec::new());
    let mut taken = Vec::new();
    for mutant in mutants {
        let Judgement::Judged(verdict) = kinds.judge(&mutant.object) else { continue };
        let signature: Vec<String> = verdict
            .mistakes
            .iter()
            .map(|mistake| format!("{} {:?} {}", mistake.path, mistake.kind, mistake.detail))
            .collect();
        match signature.is_empty() {
            true => taken.push(mutant),
            false => {
                if seen.insert(format!(
                    "{} {} {}",
                    mutant.object["kind"],
                    mutant.keyword,
                    signature.join("; ")
                )) {
                    refused.push(mutant);
                } else {
                    again.push(mutant);
                }
            }
        }
    }
    refused.extend(again.into_iter().take(FEW.saturating_sub(refused.len())));
    // Rules are what is hardest to get right: all of them stay, and at least one of every keyword.
    let mut by_keyword: BTreeMap<String, Vec<Mutant>> = BTreeMap::new();
    let (refused_count, taken_count) = (refused.len(), taken.len());
    for mutant in refused {
        by_keyword.entry(mutant.keyword.clone()).or_default().push(mutant);
    }
    let rules = by_keyword.remove("x-kubernetes-validations").unwrap_or_default();
    let step = |count: usize| count.div_ceil(MUTANTS).max(1);
    let (some, more) = (step(refused_count - rules.len()), step(taken_count));
    eprintln!(
        "{} refused by rules, {} otherwise (every {some}.), {taken_count} taken (every {more}.)",
        rules.len(),
        refused_count - rules.len()
    );
    let others = by_keyword.into_values().flat_map(|list| list.into_iter().step_by(some));
    rules.into_iter().chain(others).chain(taken.into_iter().step_by(more)).collect()
}

/// Asks both about all of them; how many the server refused.
fn compare(server: &ApiServer, kinds: &Kinds, mutants: &[Mutant], crds: &[Value]) -> usize {
    let objects: Vec<Value> = mutants.iter().map(|mutant| mutant.object.clone()).collect();
    let answers = server.try_all(&objects);
    let mut wrong = Vec::new();
    let mut excused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hit: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut rules: BTreeSet<(String, bool)> = BTreeSet::new();
    for (mutant, answer) in mutants.iter().zip(&answers) {
        let verdict = match kinds.judge(&mutant.object) {
            Judgement::Judged(verdict) => verdict,
            Judgement::Unchecked(why) => panic!("{why}"),
        };
        let (all, bad) = hit.entry(&mutant.keyword).or_default();
        *all += 1;
        *bad += usize::from(answer.is_refused);
        if let Some((is_verdict, why)) = disagreement(answer, &verdict) {
            let difference =
                DIFFERENCES.iter().find(|(part, _)| !is_verdict && answer.message.contains(part));
            match difference {
                Some((_, reason)) => *excused.entry(reason).or_default() += 1,
                None => wrong.push(format!("{} ({}): {why}", mutant.object["kind"], mutant.keyword)),
            }
        }
        rules.extend(verdict.tried_rules);
    }
    let bad = answers.iter().filter(|answer| answer.is_refused).count();
    eprintln!(
        "{} objects tried, {bad} refused by the server, {} judged otherwise here",
        mutants.len(),
        wrong.len()
    );
    for (keyword, (all, bad)) in &hit {
        eprintln!("  {keyword}: {bad} refused of {all}");
    }
    let (keywords, all_rules) = keywords_of(crds);
    let held = rules.iter().filter(|(_, held)| *held).count();
    let texts: BTreeSet<&String> = rules.iter().map(|(rule, _)| rule).collect();
    let (tried, broken) = (texts.len(), rules.len() - held);
    eprintln!(
        "  rules that creation tries: {tried} of {} tried, {held} held once, {broken} broken once",
        all_rules.len()
    );
    let missed: Vec<&String> =
        keywords.iter().filter(|keyword| !hit.keys().any(|hit| hit.starts_with(keyword.as_str()))).collect();
    eprintln!("  keywords of these schemas that no object was spoilt by: {missed:?}");
    excused.iter().for_each(|(reason, count)| eprintln!("  {count} excused: {reason}"));
    assert!(
        wrong.is_empty(),
        "{} of {} judged otherwise:\n{}",
        wrong.len(),
        mutants.len(),
        wrong[..wrong.len().min(60)].join("\n")
    );
    bad
}

/// What they disagree about, and whether it is the verdict itself.
fn disagreement(answer: &Answer, verdict: &Verdict) -> Option<(bool, String)> {
    let told: Vec<String> = verdict.mistakes.iter().map(ToString::to_string).collect();
    if answer.is_refused == verdict.mistakes.is_empty() {
        return Some((true, format!("the server: {:?}; here: {told:?}", answer.message)));
    }
    let ours: BTreeSet<String> =
        verdict.mistakes.iter().map(|mistake| plain(&mistake.path.to_string())).collect();
    let missing: Vec<&String> =
        answer.fields.iter().filter(|field| !is_named(&plain(field), &ours)).collect();
    (!missing.is_empty())
        .then(|| (false, format!("the server names {missing:?}: {:?}; here: {told:?}", answer.message)))
}

/// In metadata the server names the list or map, and here it is the element. What is told of nothing in particular is
/// not compared.
fn is_named(field: &str, ours: &BTreeSet<String>) -> bool {
    let without_index = |path: &str| -> String {
        path.split('.').filter(|step| !step.bytes().all(|b| b.is_ascii_digit())).collect::<Vec<_>>().join(".")
    };
    field.is_empty()
        || ours.contains(field)
        || (field.starts_with("metadata.")
            && ours.iter().any(|path| without_index(path).starts_with(&without_index(field))))
}

/// Keys of maps are written `.key` by some of the server's checks, and `[key]` by others.
fn plain(path: &str) -> String {
    path.replace('[', ".").replace(']', "").trim_start_matches('.').to_owned()
}

/// Keywords that say something about values, and rules that do not compare with what was before.
fn keywords_of(crds: &[Value]) -> (BTreeSet<String>, BTreeSet<String>) {
    const SILENT: [&str; 12] = [
        "description",
        "properties",
        "items",
        "additionalProperties",
        "default",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-map-type",
        "anyOf",
        "x-kubernetes-list-type",
        "oneOf",
        "allOf",
        "not",
    ];
    let (mut found, mut rules) = (BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<&Value> =
        crds.iter().filter_map(|crd| crd.pointer("/spec/versions/0/schema/openAPIV3Schema")).collect();
    while let Some(schema) = open.pop() {
        rules.extend(creation_rules(schema));
        for (key, value) in schema.as_object().into_iter().flatten() {
            match key.as_str() {
                "properties" => open.extend(value.as_object().into_iter().flat_map(|fields| fields.values())),
                "items" | "additionalProperties" => open.push(value),
                key if SILENT.contains(&key) => {}
                key => {
                    found.insert(key.to_owned());
                }
            }
        }
    }
    (found, rules)
}

/// Objects of Kubernetes' own kinds, good and spoilt.
fn built_in_objects() -> Vec<Mutant> {
    let metadata = json!({"name": "a", "namespace": "test"});
    let bases = [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}, "binaryData": {"c": "aGk="}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"a": "aGk="}, "stringData": {"b": "x"}, "type": "Opaque"}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other", "labels": {"a": "b"}, "annotations": {"c/d": "e"}}}),
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "system:a"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "system:a"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "test"}]}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {"ports": [{"port": 80, "targetPort": "http", "protocol": "TCP"}], "selector": {"a": "b"}, "type": "ClusterIP"}}),
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
                "containers": [{"name": "a", "image": "b", "imagePullPolicy": "Always", "ports": [{"containerPort": 80}],
                    "resources": {"requests": {"cpu": "10m", "memory": "1Gi"}},
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
                "volumes": [{"name": "v", "emptyDir": {}}], "hostNetwork": true, "priorityClassName": "system-node-critical"}}}}),
    ];
    let mut mutants: Vec<Mutant> =
        bases.iter().map(|object| Mutant { keyword: "good".to_owned(), object: object.clone() }).collect();
    for base in &bases {
        let mut spoil = |keyword: &str, pointer: &str, value: Value| {
            let mut object = base.clone();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match object.pointer_mut(parent) {
                Some(Value::Object(fields)) => {
                    fields.insert(name.replace("~1", "/"), value);
                }
                Some(Value::Array(items)) => items[0] = value,
                _ => return,
            }
            mutants.push(Mutant { keyword: keyword.to_owned(), object });
        };
        spoil("unknown field", "/zzz", json!(1));
        spoil("unknown field", "/metadata/zzz", json!(1));
        spoil("metadata.name", "/metadata/name", json!("UPPER"));
        spoil("metadata.name", "/metadata/name", json!("a/b"));
        spoil("metadata.name", "/metadata/name", json!("1a"));
        spoil("metadata.name", "/metadata/name", json!("a.b"));
        spoil("type", "/metadata/name", json!(5));
        spoil("type", "/metadata/labels", json!({"a": 5}));
        spoil("labels", "/metadata/labels", json!({"-a": "b"}));
        spoil("labels", "/metadata/labels", json!({"a": "b c"}));
        spoil("annotations", "/metadata/annotations", json!({"a b": "c"}));
        spoil("annotations", "/metadata/annotations", json!({"a": "c".repeat(300 * 1024)}));
        spoil(
            "ownerReferences",
            "/metadata/ownerReferences",
            json!([{"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "x"}]),
        );
        spoil("finalizers", "/metadata/finalizers", json!(["a b"]));
    }
    let container = |more: Value| {
        let mut one = json!({"name": "a", "image": "b"});
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        one
    };
    const CONTAINER: &str = "/spec/template/spec/containers/0";
    let more: [(usize, &str, Value); 46] = [
        (0, "/data/a b", json!("c")),
        (0, "/data/c", json!("in both")),
        (0, "/data/n", json!(5)),
        (0, "/binaryData/d", json!("not base64!")),
        (0, "/data/big", json!("x".repeat(1_100_000))),
        (1, "/data/b", json!("not base64!")),
        (1, "/type", json!("kubernetes.io/tls")),
        (1, "/type", json!("kubernetes.io/dockerconfigjson")),
        (1, "/immutable", json!("yes")),
        (4, "/rules/0", json!({"apiGroups": [""], "resources": ["pods"]})),
        (4, "/rules/0", json!({"apiGroups": [""], "resources": ["pods"], "verbs": []})),
        (4, "/rules/0", json!({"resources": ["pods"], "verbs": ["get"]})),
        (4, "/rules/0", json!({"apiGroups": [""], "verbs": ["get"]})),
        (5, "/roleRef/kind", json!("Role")),
        (5, "/subjects/0", json!({"kind": "ServiceAccount", "name": "a"})),
        (5, "/subjects/0", json!({"kind": "Robot", "name": "a"})),
        (6, "/spec/type", json!("LoadBalanced")),
        (6, "/spec/ports", json!([{"port": "80"}])),
        (6, "/spec/ports", json!([{"targetPort": 80}])),
        (6, "/spec/port", json!([1])),
        (6, "/spec/ports", json!([{"port": 80, "protocol": "tcp"}])),
        (7, "/spec/template/spec/containers/0", json!({"image": "b"})),
        (
            7,
            "/spec/template/spec/containers/0",
            json!({"name": "a", "image": "b", "imagePullPolicy": "Sometimes"}),
        ),
        (
            7,
            "/spec/template/spec/containers/0",
            json!({"name": "a", "image": "b", "resources": {"requests": {"cpu": true}}}),
        ),
        (
            7,
            "/spec/template/spec/containers/0",
            json!({"name": "a", "image": "b", "ports": [{"containerPort": 3_000_000_000_u64}]}),
        ),
        (
            7,
            "/spec/template/spec/containers/0",
            json!({"name": "a", "image": "b", "env": [{"nam": "x", "name": "y"}]}),
        ),
        (7, "/spec/template/spec/hostNetwork", json!("true")),
        (7, "/spec/template/spec/volumes", json!([{"name": "v", "hostPath": {}}])),
        (6, "/spec/ports", json!([{"port": 0}])),
        (6, "/spec/ports", json!([{"port": 70_000}])),
        (6, "/spec/ports", json!([{"port": 80}, {"port": 81}])),
        (6, "/spec/ports", json!([{"port": 80, "name": "a"}, {"port": 81, "name": "b"}])),
        (7, CONTAINER, container(json!({"name": "A"}))),
        (7, CONTAINER, container(json!({"image": ""}))),
        (7, CONTAINER, container(json!({"ports": [{"containerPort": 0}]}))),
        (7, CONTAINER, container(json!({"ports": [{"containerPort": 99_999}]}))),
        (7, CONTAINER, container(json!({"resources": {"limits": {"cpu": "1x"}}}))),
        (7, CONTAINER, container(json!({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}))),
        (7, CONTAINER, container(json!({"resources": {"limits": {"cpu": 2}, "requests": {"cpu": "1500m"}}}))),
        (7, CONTAINER, container(json!({"volumeMounts": [{"name": "w", "mountPath": "/w"}]}))),
        (
            7,
            "/spec/template/spec/containers",
            json!([{"name": "a", "image": "b"}, {"name": "a", "image": "c"}]),
        ),
        (7, "/spec/template/spec/containers", json!([])),
        (7, "/spec/template/metadata/labels", json!({"a": "c"})),
        (7, "/spec/selector", json!({})),
        (
            7,
            "/spec/selector",
            json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}),
        ),
        (7, "/spec/template/spec/restartPolicy", json!("Never")),
    ];
    for (base, pointer, value) in more {
        let mut object = bases[base].clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match object.pointer_mut(parent).unwrap() {
            Value::Object(fields) => {
                fields.insert(name.to_owned(), value);
            }
            Value::Array(items) => items[0] = value,
            _ => unreachable!(),
        }
        mutants.push(Mutant { keyword: "of a kind".to_owned(), object });
    }
    mutants
}
