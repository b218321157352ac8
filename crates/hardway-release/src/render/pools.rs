//! Pools and what is bound to them: the rules of the render about machine config pools.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fault::{Problem, RenderFault};
use super::objects::RenderedObject;

/// The API group of everything the machine-config-operator defines.
pub(super) const GROUP: &str = "machineconfiguration.openshift.io";
/// The label that says whose a MachineConfig is.
pub(super) const ROLE: &str = "machineconfiguration.openshift.io/role";
/// Pools that the operator makes itself.
const BUILT_IN: [&str; 2] = ["master", "worker"];
/// Kinds of which a pool may have one while it is rendered for the first time
/// (MCO `kubelet_config_bootstrap.go`, `container_runtime_config_bootstrap.go`).
const ONE_FOR_A_POOL: [&str; 2] = ["KubeletConfig", "ContainerRuntimeConfig"];

/// Checks the user's pools, and what selects pools. The kubelet and most files come with the configs that the controller
/// makes for the roles worker and master; for other pools it makes only kernel arguments and registries. It stops at a
/// pool that selects nothing at all.
pub(super) fn check(objects: &[RenderedObject]) -> Vec<RenderFault> {
    let pools = pools(objects);
    let mut faults: Vec<RenderFault> =
        ONE_FOR_A_POOL.iter().flat_map(|kind| second_ones(kind, objects, &pools)).collect();
    for pool in objects.iter().filter(|object| object.is(GROUP, "MachineConfigPool")) {
        let selector = &pool.value["spec"]["machineConfigSelector"];
        if !BUILT_IN.iter().any(|role| selects(selector, &[(ROLE.to_owned(), (*role).to_owned())].into())) {
            faults.push(RenderFault::new(&pool.path, Problem::PoolWithoutBase(pool.name().to_owned())));
        }
    }
    faults
}

/// Labels of every pool by name: the operator's own and the user's.
pub(super) fn pools(objects: &[RenderedObject]) -> BTreeMap<String, Labels> {
    let mut pools: BTreeMap<String, Labels> = BUILT_IN.iter().map(|pool| built_in(pool)).collect();
    for pool in objects.iter().filter(|object| object.is(GROUP, "MachineConfigPool")) {
        pools.insert(pool.name().to_owned(), labels(&pool.value));
    }
    pools
}

/// A pool with the labels that the operator gives it (MCO `manifests/*.machineconfigpool.yaml`).
fn built_in(pool: &str) -> (String, Labels) {
    let mut all = vec![
        (format!("{GROUP}/mco-built-in"), String::new()),
        (format!("pools.operator.{GROUP}/{pool}"), String::new()),
    ];
    if pool == "master" {
        all.push((format!("operator.{GROUP}/required-for-upgrade"), String::new()));
    }
    (pool.to_owned(), all.into_iter().collect())
}

fn second_ones(
    kind: &'static str,
    objects: &[RenderedObject],
    pools: &BTreeMap<String, Labels>,
) -> Vec<RenderFault> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut faults = Vec::new();
    for object in objects.iter().filter(|object| object.is(GROUP, kind)) {
        let selector = &object.value["spec"]["machineConfigPoolSelector"];
        for (pool, _) in pools.iter().filter(|(_, labels)| selects(selector, labels)) {
            match first.get(pool.as_str()) {
                Some(other) => {
                    let (pool, other) = (pool.clone(), (*other).to_owned());
                    faults.push(RenderFault::new(&object.path, Problem::TwoForPool { kind, pool, other }));
                }
                None => {
                    first.insert(pool, &object.path);
                }
            }
        }
    }
    faults
}

/// Labels of an object.
pub(super) type Labels = BTreeMap<String, String>;

/// `metadata.labels`.
pub(super) fn labels(object: &Value) -> Labels {
    let entries = object["metadata"]["labels"].as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

/// Whether the selector picks these labels. An empty or absent one picks nothing, as the controllers of the
/// machine-config-operator have it; elsewhere in Kubernetes an empty one picks everything.
pub(super) fn selects(selector: &Value, labels: &Labels) -> bool {
    let exact: Vec<_> = selector["matchLabels"].as_object().into_iter().flatten().collect();
    let expressions: Vec<_> = selector["matchExpressions"].as_array().into_iter().flatten().collect();
    if exact.is_empty() && expressions.is_empty() {
        return false;
    }
    exact.iter().all(|(key, value)| labels.get(*key).map(String::as_str) == value.as_str())
        && expressions.iter().all(|expression| agrees(expression, labels))
}

fn agrees(expression: &Value, labels: &Labels) -> bool {
    let found = expression["key"].as_str().and_then(|key| labels.get(key));
    let listed = |found: &String| {
        expression["values"].as_array().into_iter().flatten().any(|value| value.as_str() == Some(found))
    };
    match expression["operator"].as_str().unwrap_or_default() {
        "In" => found.is_some_and(listed),
        "NotIn" => !found.is_some_and(listed),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardway_assets::Tree;
    use serde_json::json;

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let mut tree = Tree::default();
        files.iter().for_each(|(path, text)| tree.insert(*path, *text));
        let (objects, _) = super::super::objects::read(&tree);
        check(&objects).iter().map(ToString::to_string).collect()
    }

    fn bound(kind: &str, name: &str, label: &str) -> String {
        format!(
            "apiVersion: {GROUP}/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n\
             spec: {{machineConfigPoolSelector: {{matchLabels: {{{label:?}: \"\"}}}}}}\n"
        )
    }

    #[test]
    fn a_pool_takes_one_kubelet_config() {
        let worker = format!("pools.operator.{GROUP}/worker");
        let one = bound("KubeletConfig", "a", &worker);
        let two = bound("KubeletConfig", "b", &format!("{GROUP}/mco-built-in"));
        let other = bound("ContainerRuntimeConfig", "c", &worker);
        assert!(faults(&[("manifests/a.yaml", &one), ("manifests/c.yaml", &other)]).is_empty());
        assert_eq!(
            faults(&[("manifests/a.yaml", &one), ("openshift/b.yaml", &two)]),
            [
                "openshift/b.yaml: a second KubeletConfig for pool worker, after manifests/a.yaml; only one is used \
              during the install (fix: merge both into one object)"
            ]
        );
    }

    #[test]
    fn a_pool_must_select_a_base() {
        let pool = |roles: &str| {
            format!(
                "apiVersion: {GROUP}/v1\nkind: MachineConfigPool\nmetadata: {{name: infra}}\n\
                 spec: {{machineConfigSelector: {{matchExpressions: [{{key: {ROLE}, operator: In, values: [{roles}]}}]}}}}\n"
            )
        };
        assert!(faults(&[("manifests/p.yaml", &pool("worker, infra"))]).is_empty());
        let texts = faults(&[("manifests/p.yaml", &pool("infra"))]);
        assert!(
            texts[0].starts_with(
                "manifests/p.yaml: pool infra selects the MachineConfigs of neither worker nor master: "
            ),
            "{texts:?}"
        );
    }

    #[test]
    fn selectors_pick_as_kubernetes_does_except_the_empty_one() {
        let labels: Labels = [("role".to_owned(), "worker".to_owned())].into();
        let rows = [
            (json!(null), false),
            (json!({}), false),
            (json!({"matchLabels": {"role": "worker"}}), true),
            (json!({"matchLabels": {"role": "master"}}), false),
            (json!({"matchLabels": {"role": "worker", "x": "y"}}), false),
            (
                json!({"matchExpressions": [{"key": "role", "operator": "In", "values": ["worker", "infra"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "role", "operator": "NotIn", "values": ["worker"]}]}),
                false,
            ),
            (json!({"matchExpressions": [{"key": "role", "operator": "Exists"}]}), true),
            (json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}), true),
            (json!({"matchExpressions": [{"key": "x", "operator": "Odd"}]}), false),
        ];
        for (selector, expected) in rows {
            assert_eq!(selects(&selector, &labels), expected, "{selector}");
        }
    }
}
