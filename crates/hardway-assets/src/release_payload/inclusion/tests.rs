//! Every row of the operator's tests, as a table.

use super::*;

const PROFILE: (&str, &str) = ("include.release.openshift.io/self-managed-high-availability", "true");

fn head(annotations: &[(&str, &str)]) -> ManifestHead {
    ManifestHead {
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        name: "dnses.config.openshift.io".to_owned(),
        namespace: String::new(),
        annotations: annotations.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
    }
}

fn rules(version: &str, feature_set: &str) -> InclusionRules {
    let gates = FeatureGates { enabled: vec!["NewOLM".to_owned(), "KMSv1".to_owned()], disabled: Vec::new() };
    InclusionRules::for_version(version, feature_set, Some(&gates))
}

/// With the profile's annotation beside those given.
fn exclusion(rules: &InclusionRules, annotations: &[(&str, &str)]) -> Option<Exclusion> {
    rules.exclusion(&head(&[&[PROFILE], annotations].concat()))
}

#[test]
fn row_1_annotations_are_needed() {
    assert_eq!(rules("4.18.1", "").exclusion(&head(&[])), Some(Exclusion::NoAnnotations));
}

#[test]
fn row_2_an_identifier_excludes() {
    let mut rules = rules("4.18.1", "");
    let annotations = [("exclude.release.openshift.io/internal-openshift-hosted", "true")];
    assert_eq!(exclusion(&rules, &annotations), None);
    rules.exclude_id = Some("internal-openshift-hosted".to_owned());
    assert_eq!(
        exclusion(&rules, &annotations),
        Some(Exclusion::Identifier("internal-openshift-hosted".to_owned()))
    );
    assert_eq!(
        exclusion(&rules, &[("exclude.release.openshift.io/internal-openshift-hosted", "false")]),
        None
    );
    assert_eq!(exclusion(&rules, &[("exclude.release.openshift.io/other", "true")]), None);
}

#[test]
fn row_3_sets_and_gates_exclude_each_other_from_4_22() {
    let both = [(FEATURE_SET, "Default"), (FEATURE_GATE, "NewOLM")];
    assert_eq!(exclusion(&rules("4.21.3", ""), &both), None);
    assert_eq!(exclusion(&rules("4.22.0", ""), &both), Some(Exclusion::SetsAndGates));
}

#[test]
fn row_4_feature_sets() {
    let tech = "TechPreviewNoUpgrade";
    for (version, cluster, annotation, expected) in [
        ("4.18.1", "", "Default", None),
        ("4.18.1", "", "CustomNoUpgrade,Default", None),
        ("4.18.1", tech, "CustomNoUpgrade,TechPreviewNoUpgrade", None),
        ("4.18.1", "CustomNoUpgrade", "CustomNoUpgrade", None),
        ("4.18.1", "DevPreviewNoUpgrade", "DevPreviewNoUpgrade", None),
        (
            "4.18.1",
            "",
            tech,
            Some(Exclusion::FeatureSet { wanted: "Default".to_owned(), allowed: tech.to_owned() }),
        ),
        (
            "4.18.1",
            tech,
            "Default",
            Some(Exclusion::FeatureSet { wanted: tech.to_owned(), allowed: "Default".to_owned() }),
        ),
        ("4.18.1", "", "Default,Nonsense", Some(Exclusion::UnknownFeatureSet("Nonsense".to_owned()))),
        ("4.18.1", "", "", Some(Exclusion::UnknownFeatureSet(String::new()))),
        ("4.18.1", "", "Default,OKD", Some(Exclusion::UnknownFeatureSet("OKD".to_owned()))),
        ("4.22.0", "", "Default,OKD", None),
        ("4.22.0", "OKD", "Default,OKD", None),
    ] {
        let found = exclusion(&rules(version, cluster), &[(FEATURE_SET, annotation)]);
        assert_eq!(found, expected, "{version} {cluster:?} {annotation:?}");
    }
    assert_eq!(exclusion(&rules("4.18.1", tech), &[]), None, "no annotation means any set");
}

#[test]
fn row_5_feature_gates_from_4_22() {
    for (annotation, expected) in [
        ("NewOLM", None),
        ("NewOLM, KMSv1", None),
        ("-Other", None),
        ("NewOLM,-Other,", None),
        ("Other", Some(Exclusion::GateOff("Other".to_owned()))),
        ("NewOLM,-KMSv1", Some(Exclusion::GateOn("KMSv1".to_owned()))),
    ] {
        assert_eq!(exclusion(&rules("4.22.0", ""), &[(FEATURE_GATE, annotation)]), expected, "{annotation}");
        assert_eq!(exclusion(&rules("4.21.9", ""), &[(FEATURE_GATE, annotation)]), None, "{annotation}");
    }
}

#[test]
fn row_6_major_versions_from_4_22() {
    let other = |allowed: &str| Some(Exclusion::MajorVersion { major: 4, allowed: allowed.to_owned() });
    let malformed = |text: &str| Some(Exclusion::MajorVersionMalformed(text.to_owned()));
    for (annotation, expected) in [
        ("4", None),
        ("4,5", None),
        ("-5", None),
        ("", None),
        ("5", other("5")),
        ("-4", other("-4")),
        ("5,-6", other("5,-6")),
        ("4,-4", malformed("4,-4")),
        ("four", malformed("four")),
        ("-x", malformed("-x")),
    ] {
        assert_eq!(exclusion(&rules("4.22.0", ""), &[(MAJOR_VERSION, annotation)]), expected, "{annotation}");
        assert_eq!(exclusion(&rules("4.21.9", ""), &[(MAJOR_VERSION, annotation)]), None, "{annotation}");
    }
    let mut map = head(&[PROFILE, (MAJOR_VERSION, "4")]);
    (map.api_version, map.kind) = ("v1".to_owned(), "ConfigMap".to_owned());
    assert_eq!(rules("4.22.0", "").exclusion(&map), Some(Exclusion::MajorVersionMisplaced));
    (map.api_version, map.kind) = ("config.openshift.io/v1".to_owned(), "FeatureGate".to_owned());
    assert_eq!(rules("4.22.0", "").exclusion(&map), None);
}

#[test]
fn row_7_the_profile_must_be_named() {
    let rules = rules("4.18.1", "");
    let found = |annotations: &[(&str, &str)]| rules.exclusion(&head(annotations));
    assert_eq!(found(&[PROFILE]), None);
    assert_eq!(
        found(&[("include.release.openshift.io/ibm-cloud-managed", "true")]),
        Some(Exclusion::Profile(SELF_MANAGED.to_owned()))
    );
    let value = "false-except-for-the-config-operator".to_owned();
    assert_eq!(
        found(&[(PROFILE.0, &value)]),
        Some(Exclusion::ProfileValue { profile: SELF_MANAGED.to_owned(), value })
    );
    let mut hosted = rules.clone();
    hosted.profile = Some("ibm-cloud-managed".to_owned());
    assert_eq!(hosted.exclusion(&head(&[("include.release.openshift.io/ibm-cloud-managed", "true")])), None);
}

#[test]
fn row_8_capabilities_must_be_known_and_on() {
    let mut rules = rules("4.18.1", "");
    assert_eq!(exclusion(&rules, &[(CAPABILITY, "Console+Ingress")]), None);
    assert_eq!(
        exclusion(&rules, &[(CAPABILITY, "Console+Nonsense")]),
        Some(Exclusion::UnknownCapabilities(vec!["Nonsense".to_owned()]))
    );
    if let Some(capabilities) = &mut rules.capabilities {
        capabilities.enabled.retain(|name| name != "Console" && name != "Storage");
    }
    assert_eq!(
        exclusion(&rules, &[(CAPABILITY, "Storage+Ingress+Console")]),
        Some(Exclusion::DisabledCapabilities(vec!["Storage".to_owned(), "Console".to_owned()]))
    );
    assert_eq!(exclusion(&rules, &[(CAPABILITY, "")]), None);
    rules.capabilities = None;
    assert_eq!(exclusion(&rules, &[(CAPABILITY, "Nonsense")]), None);
}

#[test]
fn row_9_what_is_unmanaged_is_left_alone() {
    let mut rules = rules("4.18.1", "");
    let id = |namespace: &str| ObjectId {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: namespace.to_owned(),
        name: "etcd-operator".to_owned(),
    };
    let mut deployment = head(&[PROFILE]);
    deployment.api_version = "apps/v1".to_owned();
    deployment.kind = "Deployment".to_owned();
    deployment.name = "etcd-operator".to_owned();
    deployment.namespace = "openshift-etcd-operator".to_owned();
    assert_eq!(rules.exclusion(&deployment), None);
    rules.unmanaged = vec![id("elsewhere")];
    assert_eq!(rules.exclusion(&deployment), None);
    rules.unmanaged = vec![id("openshift-etcd-operator")];
    assert_eq!(rules.exclusion(&deployment), Some(Exclusion::Unmanaged));
    deployment.namespace = String::new();
    rules.unmanaged = vec![id("whatever")];
    assert_eq!(rules.exclusion(&deployment), Some(Exclusion::Unmanaged), "a namespace means nothing there");
}

#[test]
fn the_first_test_that_fails_decides() {
    let found = rules("4.22.0", "").exclusion(&head(&[
        (FEATURE_SET, "TechPreviewNoUpgrade"),
        (MAJOR_VERSION, "5"),
        (CAPABILITY, "Nonsense"),
    ]));
    assert!(matches!(found, Some(Exclusion::FeatureSet { .. })), "{found:?}");
}
