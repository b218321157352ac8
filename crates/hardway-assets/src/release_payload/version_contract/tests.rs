//! Where each answer turns, and which texts are versions.

use super::*;

fn contract(version: &str) -> VersionContract {
    VersionContract::new(version).unwrap()
}

/// A question, and the first of the versions tried here that answers yes.
type Question = (&'static str, fn(&VersionContract) -> bool, &'static str);

const VERSIONS: [&str; 7] = ["4.18.3", "4.19.0-rc.1", "4.20.1", "4.21.0", "4.22.7", "4.23.0", "5.0.0-ec.2"];

#[test]
fn every_answer_turns_at_its_version() {
    let rows: [Question; 29] = [
        ("mcs ca", VersionContract::ships_machine_config_server_ca, "4.19.0-rc.1"),
        ("mcs tls", VersionContract::mcs_tls_secret_is_typed, "4.19.0-rc.1"),
        ("etcd gates", VersionContract::etcd_uses_feature_gate_flags, "4.21.0"),
        ("etcd http", VersionContract::etcd_serves_http_apart, "4.23.0"),
        ("both families listen", VersionContract::listens_on_both_families, "4.22.7"),
        ("image volumes", VersionContract::has_image_volumes, "4.20.1"),
        ("selinux", VersionContract::warns_of_selinux_labels, "4.19.0-rc.1"),
        ("ipv6 first", VersionContract::ipv6_may_be_first, "4.19.0-rc.1"),
        ("ovn overlap", VersionContract::ovn_subnets_are_reserved, "4.19.0-rc.1"),
        ("host prefix", VersionContract::wants_one_host_prefix, "4.19.0-rc.1"),
        ("fencing", VersionContract::two_masters_need_fencing, "4.19.0-rc.1"),
        ("ssh lines", VersionContract::every_ssh_line_is_a_key, "4.20.1"),
        ("both families", VersionContract::dual_stack_asks_for_both_families, "4.20.1"),
        ("credentials", VersionContract::mirrors_need_credentials, "4.22.7"),
        ("okd set", VersionContract::knows_okd_feature_set, "4.22.7"),
        ("stream", VersionContract::checks_os_image_stream, "4.22.7"),
        ("dual replica", VersionContract::dual_replica_is_default, "4.22.7"),
        ("os streams", VersionContract::os_streams_is_default, "4.23.0"),
        ("stream default", VersionContract::fills_in_os_image_stream, "4.23.0"),
        ("stream object", VersionContract::writes_os_image_stream, "4.22.7"),
        ("pki object", VersionContract::writes_pki_config, "4.23.0"),
        ("ignition 3.5", VersionContract::serves_ignition_3_5, "4.19.0-rc.1"),
        ("first pivot", VersionContract::annotates_first_pivot_config, "4.22.7"),
        ("blocked", VersionContract::registries_conf_has_blocked, "4.21.0"),
        ("image-references", VersionContract::node_render_reads_image_references, "4.21.0"),
        ("streams", VersionContract::node_render_looks_for_streams, "4.21.0"),
        ("registry", VersionContract::node_render_contacts_registry, "4.23.0"),
        ("gates", VersionContract::filters_manifests_by_feature_gate, "4.22.7"),
        ("cluster api", VersionContract::has_cluster_api_capabilities, "4.23.0"),
    ];
    for (name, question, since) in rows {
        let first = VERSIONS.iter().position(|v| *v == since).unwrap();
        for (i, version) in VERSIONS.iter().enumerate() {
            assert_eq!(question(&contract(version)), i >= first, "{name} at {version}");
        }
    }
}

#[test]
fn what_was_dropped_is_gone_from_its_version_on() {
    let rows: [Question; 3] = [
        ("role binding plug-ins", VersionContract::names_role_binding_plugins, "4.20.1"),
        ("user kube-apiserver", VersionContract::has_plain_api_server_user, "4.22.7"),
        ("external clouds", VersionContract::tells_of_external_clouds, "4.21.0"),
    ];
    for (name, question, until) in rows {
        let first = VERSIONS.iter().position(|v| *v == until).unwrap();
        for (i, version) in VERSIONS.iter().enumerate() {
            assert_eq!(question(&contract(version)), i < first, "{name} at {version}");
        }
    }
}

#[test]
fn words_follow_the_version() {
    let channels = VERSIONS.map(|v| contract(v).update_channel());
    assert_eq!(channels[0], "stable-4.18");
    assert_eq!(channels[6], "stable-5.0");
    assert_eq!(contract("4.18.3").ignition_version(), "3.4.0");
    assert_eq!(contract("4.19.0").ignition_version(), "3.5.0");
    assert_eq!(contract("5.0.0").major(), 5);
    let kubernetes =
        ["4.18.3", "4.22.7", "4.23.0", "5.0.0-ec.2", "5.1.0"].map(|v| contract(v).kubernetes_minor());
    assert_eq!(kubernetes, [31, 35, 36, 36, 37]);
    assert_eq!(contract("4.23.0").default_os_image_stream(), "rhel-9");
    assert_eq!(contract("5.0.0").default_os_image_stream(), "rhel-10");
    assert_eq!(contract("4.23.0").bootstrap_image_name(), "rhel-coreos");
    assert_eq!(contract("5.0.0").bootstrap_image_name(), "rhel-coreos-10");
    assert_eq!(contract("5.0.0-okd-scos.1").bootstrap_image_name(), "stream-coreos");
    assert_eq!(VersionContract::oldest(), contract("4.18.0"));
}

#[test]
fn okd_is_known_by_its_version() {
    for version in ["4.18.0-okd-scos.3", "4.20.0-okd-scos.ec.1", "4.18.0-0.okd-scos-2025-01-28-060038"] {
        let okd = contract(version);
        assert_eq!(
            (okd.update_channel().as_str(), okd.node_image_name()),
            ("stable-scos-4", "stream-coreos")
        );
    }
    assert_eq!(contract("4.18.0-rc.1").node_image_name(), "rhel-coreos");
}

#[test]
fn older_releases_are_refused() {
    assert_eq!(contract("4.17.30").supports(), Err(VersionError::TooOld("4.17.30".to_owned())));
    assert!(contract("3.11.0").supports().is_err());
    for version in VERSIONS {
        assert_eq!(contract(version).supports(), Ok(()));
    }
}

#[test]
fn what_is_no_version_is_refused() {
    for text in [
        "",
        "4.18",
        "v4.18.1",
        "4.18.1.2",
        "4.018.1",
        "4.18.-1",
        "4.18.1-",
        "4.18.1-rc..1",
        "4.18.1-01",
        "4.18.x",
        "4.18.1 ",
        "99999999999999999999.1.1",
    ] {
        let error = VersionContract::new(text).unwrap_err();
        assert_eq!(error, VersionError::NotSemantic(text.to_owned()), "{text:?}");
    }
    assert!(VersionContract::new("4.18.0-0.nightly-2026-01-02-030405+build.007").is_ok());
}
