//! Files judged together: each mistake at its line and column, all at once, and nothing secret shown.

use base64::Engine as _;
use hardway_manifests::{Findings, Kinds, ManifestFile};

fn told(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<ManifestFile<'_>> =
        files.iter().map(|(path, text)| ManifestFile { path, bytes: text.as_bytes() }).collect();
    let mut findings = Findings::of(&files, &mut Kinds::default());
    findings.found.sort_by_key(|finding| (finding.file.clone(), finding.line, finding.column));
    findings
        .found
        .iter()
        .map(|finding| {
            let fix = finding.mistake.fix.as_ref().map(|fix| format!(" [{fix}]")).unwrap_or_default();
            format!(
                "{}:{}:{} {} {}{fix}",
                finding.file,
                finding.line,
                finding.column,
                finding.severity.word(),
                finding.mistake
            )
        })
        .collect()
}

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: mine\n";

#[test]
fn every_mistake_has_its_place() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Bad_Name\n  namespace: nowhere\ndta:\n  a: b\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: mine}\ndata:\n  a.b/c: x\n  n: 5\n";
    assert_eq!(
        told(&[("a.yaml", text), ("n.yaml", NAMESPACE)]),
        [
            "a.yaml:4:9 error metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            "a.yaml:5:14 error metadata.namespace: Not found: \"nowhere\": nothing creates this namespace [add a Namespace of this name, or use an existing one]",
            "a.yaml:6:1 error dta: Unknown field: the API server would silently drop it [did you mean \"data\"?]",
            "a.yaml:14:6 error data[n]: Invalid value: 5: must be of type string: integer [write it in quotes: \"5\"]",
        ]
    );
    let broken = told(&[("a.yaml", "a: [\n"), ("b.yaml", "a: 1\na: 2\n")]);
    assert!(broken.len() == 2 && broken.iter().all(|line| line.contains("Syntax error")), "{broken:?}");
}

#[test]
fn objects_are_held_against_each_other() {
    let twice = told(&[("a.yaml", NAMESPACE), ("b.yaml", NAMESPACE)]);
    assert_eq!(
        twice,
        [
            "b.yaml:4:9 error metadata.name: Duplicate value: \"mine\": Namespace mine is already in a.yaml:1 [remove one of them]"
        ]
    );
    let proxy = "apiVersion: config.openshift.io/v1\nkind: Proxy\nmetadata:\n  name: mine\nspec:\n  trustedCA:\n    name: user-ca-bundle\n";
    assert_eq!(
        told(&[("p.yaml", proxy)]),
        [
            "p.yaml:4:9 error metadata.name: Invalid value: \"mine\": the only Proxy that is used has the name \"cluster\" [name it \"cluster\"]",
            "p.yaml:7:11 warning spec.trustedCA.name: Not found: ConfigMap openshift-config/user-ca-bundle is not in any of these files",
        ]
    );
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: mine}\nspec:\n  serviceAccountName: robot\n  containers:\n  - {name: a, image: b}\n  volumes:\n  - name: v\n    secret: {secretName: s}\n  - name: w\n    configMap: {name: c, optional: true}\n";
    assert_eq!(
        told(&[("n.yaml", NAMESPACE), ("p.yaml", pod)]),
        [
            "p.yaml:5:23 warning spec.serviceAccountName: Not found: ServiceAccount mine/robot is not in any of these files",
            "p.yaml:10:26 warning spec.volumes[0].secret.secretName: Not found: Secret mine/s is not in any of these files",
        ]
    );
}

#[test]
fn what_is_secret_is_not_shown() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\ndata:\n  password: hush!\n  number: 4711\nstringdata:\n  token: hush\n";
    let told = told(&[("s.yaml", secret)]);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|line| !line.contains("hush") && !line.contains("4711")), "{told:?}");
    assert!(
        told[0].starts_with("s.yaml:6:11 error data[number]: Invalid value: must be of type string: integer"),
        "{told:?}"
    );
}

#[test]
fn what_is_too_large_is_refused() {
    let large = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: default}}\ndata:\n  a: {}\n",
        "x".repeat(2_000_000)
    );
    let told = told(&[("l.yaml", &large)]);
    assert!(
        told[0].contains("etcd refuses it")
            && told[1].contains("data: Too long: may not be more than 1048576 bytes"),
        "{told:?}"
    );
}

#[test]
fn machine_configs_are_looked_into() {
    let config = |name: &str, spec: &str| {
        format!(
            "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: {name}\n  labels: {{machineconfiguration.openshift.io/role: worker}}\nspec:\n{spec}"
        )
    };
    let a = config(
        "99-a",
        "  kernelType: fast\n  kernelArguments: [mitigations=off, selinux=0]\n  config:\n    ignition: {version: 3.2.0}\n    storage:\n      files:\n      - path: etc/a\n      - path: /etc/b\n        mode: 644\n        contents: {source: 'hello'}\n      - path: /etc/b\n        contents: {source: 'data:;base64,!', compression: zip}\n    systemd:\n      units:\n      - name: a.servce\n      - name: b.service\n        enabled: true\n        contents: |\n          [Service]\n          ExecStart\n        dropins: [{name: x}]\n",
    );
    let b = config(
        "99-b",
        "  kernelArguments: [mitigations=auto]\n  config:\n    ignition: {version: 3.2.0}\n    storage:\n      files:\n      - path: /etc/b\n        contents: {source: 'data:,x'}\n",
    );
    let c = config("99-c", "  config:\n    ignition: {version: 4.0.0}\n");
    let d = config("99-d", "  config: {}\n");
    let found = told(&[("a.yaml", &a), ("b.yaml", &b), ("c.yaml", &c), ("d.yaml", &d)]);
    let expected = [
        "a.yaml:7:15 error spec.kernelType: Unsupported value: \"fast\"",
        "a.yaml:13:15 error spec.config.storage.files[0].path: Invalid value: \"etc/a\": path not absolute",
        "a.yaml:15:15 warning spec.config.storage.files[1].mode: Invalid value: 644: is 1204 in octal [write 0644 in YAML",
        "a.yaml:16:28 error spec.config.storage.files[1].contents.source: Invalid value: invalid url scheme",
        "a.yaml:17:15 error spec.config.storage.files[2].path: Duplicate value: \"/etc/b\"",
        "a.yaml:18:28 error spec.config.storage.files[2].contents.source: Invalid value: is not a data URL",
        "a.yaml:18:59 error spec.config.storage.files[2].contents.compression: Unsupported value: \"zip\"",
        "a.yaml:21:9 warning spec.config.systemd.units[0].contents: Required value: a unit without contents",
        "a.yaml:21:15 error spec.config.systemd.units[0].name: Invalid value: \"a.servce\"",
        "a.yaml:23:18 warning spec.config.systemd.units[1].enabled: Invalid value: unit \"b.service\" is enabled",
        "a.yaml:26:11 error spec.config.systemd.units[1].contents: Invalid value: invalid unit content: line 2",
        "a.yaml:27:20 warning spec.config.systemd.units[1].dropins[0].contents: Required value",
        "a.yaml:27:26 error spec.config.systemd.units[1].dropins[0].name: Invalid value: \"x\"",
        "b.yaml:7:21 error spec.kernelArguments[0]: Invalid value: \"mitigations=auto\": MachineConfig 99-a sets mitigations=off",
        "b.yaml:12:15 warning spec.config.storage.files[0].path: Duplicate value: \"/etc/b\": MachineConfig 99-a has this file too; only the one of 99-b is written",
        "c.yaml:8:25 error spec.config.ignition.version: Unsupported value: \"4.0.0\"",
        "d.yaml:7:3 error spec.config.ignition.version: Required value",
    ];
    for (number, line) in found.iter().enumerate() {
        let expected = expected.get(number).unwrap_or(&"nothing more");
        assert!(line.starts_with(expected), "{line}\nexpected: {expected}\nall: {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn texts_within_objects_are_read() {
    let pod =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: b\n    imge: c\n";
    let encoded = base64::engine::general_purpose::STANDARD.encode(pod);
    let config = |path: &str, source: &str| {
        format!(
            "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: 99-a\n  labels: {{machineconfiguration.openshift.io/role: worker}}\nspec:\n  config:\n    ignition: {{version: 3.2.0}}\n    storage:\n      files:\n      - path: {path}\n        contents:\n          source: {source:?}\n"
        )
    };
    let source = format!("data:;base64,{encoded}");
    let static_pod = config("/etc/kubernetes/manifests/a.yaml", &source);
    assert_eq!(
        told(&[("a.yaml", &static_pod)]),
        [
            "a.yaml:13:19 error spec.config.storage.files[0].contents.source: Invalid value: line 6, column 5 of the text in it: spec.containers[0].image: Required value",
            "a.yaml:13:19 error spec.config.storage.files[0].contents.source: Invalid value: line 7, column 11 of the text in it: spec.containers[0].imge: Unknown field: the API server would silently drop it [did you mean \"image\"?]"
        ]
    );
    let other = config("/etc/mine/a.yaml", &source);
    assert_eq!(told(&[("a.yaml", &other)]), Vec::<String>::new(), "no pod is looked for elsewhere");
    let broken = told(&[("a.yaml", &config("/etc/mine/a.json", "data:,%7B%22a%22:%0A%20%5B"))]);
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(
        broken[0].starts_with("a.yaml:13:19 warning") && broken[0].contains("of the text in it"),
        "{broken:?}"
    );

    let monitoring = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cluster-monitoring-config\n  namespace: openshift-monitoring\ndata:\n  config.yaml: |\n    prometheusK8s:\n      retention: [1d\n    telemeterClient: {}\n";
    let found = told(&[("m.yaml", monitoring)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("m.yaml:10:5 error data[config.yaml]: Invalid value: line 3, column "),
        "{found:?}"
    );

    let user_data = |text: &str| {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text);
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: worker-user-data, namespace: openshift-machine-api}}\ndata:\n  userData: {encoded}\n"
        );
        told(&[("s.yaml", &secret)])
    };
    assert_eq!(user_data("{\"ignition\":{\"version\":\"3.2.0\"}}"), Vec::<String>::new());
    assert_eq!(
        user_data("{\"ignition\":{\"version\":\"3.2.0\"},\"storage\":{\"files\":[{\"path\":\"etc/a\"}]}}"),
        [
            "s.yaml:5:13 error data[userData]: Invalid value: in the Ignition config that is encoded here: storage.files[0].path: Invalid value: \"etc/a\": path not absolute"
        ]
    );
    assert_eq!(
        user_data("{\n \"ignition\""),
        ["s.yaml:5:13 error data[userData]: Invalid value: line 2, column 11 of the text in it: is not JSON"]
    );
}

#[test]
fn what_the_machine_config_operator_refuses_is_refused() {
    let kubelet = "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata: {name: a}\nspec:\n  kubeletConfig:\n    maxPods: 5\n    clusterDomain: mine\n    clusterDNS: []\n";
    assert_eq!(
        told(&[("k.yaml", kubelet)]),
        [
            "k.yaml:7:20 error spec.kubeletConfig.clusterDomain: Forbidden: the machine-config-operator rejects a KubeletConfig that sets it [remove the field]"
        ]
    );
    let extension = "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: a\n  labels: {machineconfiguration.openshift.io/role: worker}\nspec: {extensions: [usbguard, ipsecc]}\n";
    let found = told(&[("e.yaml", extension)]);
    assert!(
        found.len() == 1
            && found[0].starts_with("e.yaml:6:31 warning spec.extensions[1]: Unsupported value: \"ipsecc\"")
            && found[0].ends_with("[did you mean \"ipsec\"?]"),
        "{found:?}"
    );
    let text = "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: a\n  labels: {machineconfiguration.openshift.io/role: worker}\nspec: {config: {ignition: {version: 3.5.0}}}\n";
    let file = ManifestFile { path: "m.yaml", bytes: text.as_bytes() };
    let count = |mut kinds: Kinds| Findings::of(&[file], &mut kinds).found.len();
    assert_eq!(count(Kinds::default().with_ignition("3.5.0")), 0);
    assert_eq!(count(Kinds::default().with_ignition("3.4.0")), 1, "4.18 reads 3.4.0");
}

#[test]
fn an_object_without_a_name_cannot_be_created_once() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: a-\n  namespace: default\n";
    assert_eq!(
        told(&[("a.yaml", text)]),
        [
            "a.yaml:4:17 error metadata.generateName: Forbidden: \"a-\": the bootstrap host creates objects by their names, and has none for this one [use metadata.name]"
        ]
    );
}

#[test]
fn a_status_is_judged_as_it_will_be_written() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.com\nspec:\n  group: example.com\n  scope: Cluster\n  names: {kind: Thing, plural: things}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    subresources: {status: {}}\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec: {type: object, properties: {size: {type: integer}}}\n          status:\n            type: object\n            required: [phase]\n            properties:\n              phase: {type: string, enum: [Up, Down]}\n              count: {type: integer}\n            x-kubernetes-validations:\n            - {rule: '!has(self.count) || self.count < 3', message: too many}\n";
    let thing = |status: &str| {
        let text =
            format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nstatus: {status}\n");
        told(&[("crd.yaml", crd), ("thing.yaml", &text)])
    };
    assert_eq!(thing("{phase: Up}"), Vec::<String>::new());
    assert_eq!(thing("{phase: '', count: null}"), Vec::<String>::new(), "nothing is written of it");
    let wrong = thing("{phase: Upp}");
    assert!(
        wrong.len() == 1
            && wrong[0].starts_with("thing.yaml:5:17 error status.phase: Unsupported value: \"Upp\""),
        "{wrong:?}"
    );
    assert_eq!(
        thing("{count: 2}"),
        ["thing.yaml:5:1 error status.phase: Required value [one of \"Up\", \"Down\"]"]
    );
    assert_eq!(thing("{phase: Up, count: 3}"), ["thing.yaml:5:1 error status: Invalid value: too many"]);
}

#[test]
fn kinds_that_nobody_knows_are_named_in_one_line() {
    let object = |kind: &str, name: &str| {
        format!("apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    };
    let texts = [object("Thing", "a"), object("Thing", "b"), object("Other", "c")];
    let files: Vec<ManifestFile<'_>> =
        texts.iter().map(|text| ManifestFile { path: "a.yaml", bytes: text.as_bytes() }).collect();
    let findings = Findings::of(&files, &mut Kinds::default());
    assert_eq!(findings.unchecked_line().unwrap(), "3 objects could not be checked: Other, Thing (2)");
    assert_eq!(findings.judged, 0);
}

#[test]
fn a_crd_among_the_files_counts_for_the_others() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.com\nspec:\n  group: example.com\n  scope: Cluster\n  names: {kind: Thing, plural: things}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n              size: {type: integer, maximum: 3}\n            x-kubernetes-validations:\n            - rule: has(self.size)\n              message: size is needed\n";
    let thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  size: 4\n---\napiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: b\nspec: {}\n---\napiVersion: example.com/v2\nkind: Thing\nmetadata:\n  name: c\n";
    assert_eq!(
        told(&[("crd.yaml", crd), ("thing.yaml", thing)]),
        [
            "thing.yaml:6:9 error spec.size: Invalid value: 4: should be less than or equal to 3",
            "thing.yaml:12:1 error spec: Invalid value: size is needed",
            "thing.yaml:14:13 error apiVersion: Not found: \"example.com/v2\": Thing is served as v1",
        ]
    );
}

#[test]
fn pipelines_get_junit_and_sarif() {
    let files = [ManifestFile {
        path: "a<b.yaml",
        bytes: b"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: UP\n",
    }];
    let findings = Findings::of(&files, &mut Kinds::default());
    let sarif = hardway_manifests::sarif("1.2.3", &findings.rows());
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["level"], "error");
    assert_eq!(result["ruleId"], "manifest/invalid-value");
    assert_eq!(
        result["locations"][0]["physicalLocation"]["region"],
        serde_json::json!({"startLine": 4, "startColumn": 9})
    );
    let junit = hardway_manifests::junit("manifests", &["a<b.yaml", "good.yaml"], &findings.rows());
    assert!(
        junit.contains("tests=\"2\" failures=\"1\"")
            && junit.contains("a&lt;b.yaml:4:9")
            && !junit.contains("a<b"),
        "{junit}"
    );
}

#[test]
fn a_kind_of_another_feature_set_is_a_mistake() {
    let crd = serde_json::json!({"kind": "CustomResourceDefinition", "spec": {"group": "example.com", "scope": "Cluster",
        "names": {"kind": "Thing", "plural": "things"}, "versions": []}});
    let mut kinds = Kinds::default();
    kinds.add_elsewhere(&crd, "the feature set TechPreviewNoUpgrade");
    let text = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n";
    let findings = Findings::of(&[ManifestFile { path: "a.yaml", bytes: text.as_bytes() }], &mut kinds);
    let told: Vec<String> = findings.found.iter().map(|finding| finding.mistake.to_string()).collect();
    let expected = "no CRD of this cluster defines it: it comes with the feature set TechPreviewNoUpgrade";
    assert_eq!(told, [format!("kind: Not found: \"Thing\": {expected}")]);
}
