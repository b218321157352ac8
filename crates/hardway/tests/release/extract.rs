//! Files and programs out of a release.

use std::os::unix::fs::PermissionsExt as _;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran};
use serde_json::Value;

use super::site::Site;
use crate::fixture::world::{MIXED, PROGRAM};

const TECH_PREVIEW: &str = "0000_10_config-operator_01_nodes-TechPreviewNoUpgrade.crd.yaml";

#[test]
fn all_files_make_a_folder_that_create_reads() {
    let site = Site::new();
    let ran = site.plain(&["extract", &site.tag(), "--to", "rel"]).expect(0);
    assert_eq!(ran.stdout, "");
    ran.says("11 files written to rel").says("--release-dir rel");
    assert_eq!(site.work.read("rel/release-image").trim(), site.digest());
    assert_eq!(site.work.read("rel/0000_50_mixed.yaml"), MIXED);
    assert!(site.work.exists("rel/manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml"));
    hardway_release::read_folder(&site.path("rel")).unwrap();
    site.plain(&["extract", &site.tag(), "--to", "rel"])
        .expect(2)
        .says("error[usage]")
        .says("rel is not empty");
    site.plain(&["extract", &site.tag()]).expect(2).says("--to <DIR>");
}

fn told(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn included_leaves_out_what_the_version_operator_would() {
    let site = Site::new();
    let ran = site.plain(&["extract", &site.tag(), "--to", "rel", "--included", "-o", "json"]).expect(0);
    let json = told(&ran);
    ran.says("no install-config.yaml: using the defaults");
    let reason = |file: &str| {
        let excluded = json["excluded"].as_array().unwrap();
        let of_file: Vec<_> = excluded.iter().filter(|entry| entry["file"] == file).collect();
        assert_eq!(of_file.len(), 1, "{json:#}");
        format!("{} {}", of_file[0]["object"].as_str().unwrap(), of_file[0]["reason"].as_str().unwrap())
    };
    assert_eq!(
        reason(TECH_PREVIEW),
        "CustomResourceDefinition nodes.config.openshift.io feature set Default, but it is for TechPreviewNoUpgrade"
    );
    assert_eq!(
        reason("0000_50_mixed.yaml"),
        "ConfigMap hosted not for profile self-managed-high-availability"
    );
    assert!(!site.work.exists(&format!("rel/{TECH_PREVIEW}")));
    let mixed = site.work.read("rel/0000_50_mixed.yaml");
    assert!(mixed.contains("name: kept") && !mixed.contains("name: hosted"), "{mixed}");
    let written: Vec<_> =
        json["written"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(written.contains(&"image-references") && !written.contains(&TECH_PREVIEW), "{written:?}");
}

#[test]
fn the_install_config_says_what_is_included() {
    let site = Site::new();
    let args = |to: &'static str| ["extract", "", "--to", to, "--included", "--log-level", "debug"];
    let run = |to: &'static str, more: &[&str]| {
        let tag = site.tag();
        let mut args = args(to).to_vec();
        args[1] = &tag;
        site.plain(&[&args[..], more].concat())
    };
    // The rest of the file may be unfinished.
    site.work.write("install-config.yaml", "apiVersion: v1\nfeatureSet: TechPreviewNoUpgrade\n");
    run("a", &[]).expect(0).says("left out: 0000_50_mixed.yaml ConfigMap hosted").does_not_say(TECH_PREVIEW);
    assert!(site.work.exists(&format!("a/{TECH_PREVIEW}")));
    site.work.write("other.yaml", INSTALL_CONFIG);
    run("b", &["--install-config", "other.yaml"]).expect(0).says(&format!("left out: {TECH_PREVIEW}"));

    site.work.write(
        "other.yaml",
        "apiVersion: v1\nfeatureSet: Sometimes\ncapabilities: {baselineCapabilitySet: v4}\n",
    );
    let ran = run("c", &["--install-config", "other.yaml"]).expect(3);
    ran.says("error[config-invalid]").says("featureSet").says("capabilities.baselineCapabilitySet");
    assert!(!site.work.exists("c"));
    site.work.write("other.yaml", "pullSecret: hush-hush: [");
    run("c", &["--install-config", "other.yaml"]).expect(3).says("other.yaml is not YAML");
    run("c", &["--install-config", "gone.yaml"]).expect(2).says("gone.yaml");
}

#[test]
fn capabilities_that_are_off_are_left_out() {
    let extra = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop\n  annotations:\n    \
                 include.release.openshift.io/self-managed-high-availability: \"true\"\n    \
                 capability.openshift.io/name: Console+marketplace\n";
    let site = Site::new();
    let mut release = crate::fixture::release::ReleaseImage::default();
    release.extra.push(("0000_50_shop.yaml".to_owned(), extra.into()));
    site.world.registry.pusher("ocp/release").image(&release.build(), Some("shop"));
    let image = site.world.registry.image("ocp/release:shop").to_string();
    let extract =
        |to: &str| site.plain(&["extract", &image, "--to", to, "--included", "-o", "json"]).expect(0);
    let off = |json: &Value| {
        let excluded = json["excluded"].as_array().unwrap();
        excluded
            .iter()
            .find(|entry| entry["file"] == "0000_50_shop.yaml")
            .map(|entry| entry["reason"].clone())
    };
    assert_eq!(off(&told(&extract("all"))), None);
    let config = "apiVersion: v1\ncapabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Console, Ingress]}\n";
    site.work.write("install-config.yaml", config);
    assert_eq!(off(&told(&extract("some"))).unwrap(), "capabilities turned off: marketplace");
}

#[test]
fn single_files_are_exact_to_the_byte() {
    let bytes = b"\xff\x00not text\r\n".to_vec();
    let site = Site::new();
    let mut release = crate::fixture::release::ReleaseImage::default();
    release.extra.push(("blob.bin".to_owned(), bytes.clone()));
    site.world.registry.pusher("ocp/release").image(&release.build(), Some("odd"));
    let image = site.world.registry.image("ocp/release:odd").to_string();
    let args = ["extract", &image, "--file", "blob.bin", "--file", "release-metadata", "--plain-http"];
    let output = site.command(&args).output().unwrap();
    assert!(output.status.success());
    let metadata = output.stdout.strip_prefix(&bytes[..]).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(metadata).unwrap()["version"], "4.18.99");
    site.plain(&[&args[..6], &["--to", "some"]].concat()).expect(0).says("2 files written to some");
    assert_eq!(fs_err::read(site.path("some/blob.bin")).unwrap(), bytes);

    let ran = site.plain(&["extract", &image, "--file", "metadata"]).expect(2);
    ran.says("error[usage]").says("no file \"metadata\"; near: release-metadata");
}

#[test]
fn programs_come_out_ready_to_run() {
    let site = Site::new();
    site.plain(&["extract", &site.tag(), "--command", "oc"]).expect(0).says("oc of release 4.18.99 written");
    let oc = fs_err::read(site.path("oc")).unwrap();
    assert!(oc.starts_with(b"program4.18.99\0") && oc.len() == PROGRAM.len());
    assert_eq!(fs_err::metadata(site.path("oc")).unwrap().permissions().mode() & 0o777, 0o755);
    site.plain(&["extract", &site.tag(), "--command", "oc", "--to", "bin"]).expect(0);
    assert!(site.work.exists("bin/oc"));

    let ran = site.plain(&["extract", &site.tag(), "--command", "kubectl"]).expect(2);
    ran.says("error[usage]")
        .says("releases have no program \"kubectl\"; choose one of oc, openshift-install, ");
    let ran = site.plain(&["extract", &site.tag(), "--command", "openshift-install"]).expect(1);
    ran.says("error[release-unusable]").says("installer");
    let both = ["extract", &site.tag(), "--command", "oc", "--file", "image-references"];
    site.plain(&both).expect(2).says("cannot be used with");
}

#[test]
fn an_extracted_release_makes_a_cluster() {
    let site = Site::new();
    site.plain(&["extract", &site.tag(), "--to", "rel"]).expect(0);
    site.work.write("install-config.yaml", INSTALL_CONFIG);
    site.work.write("inventory.yaml", INVENTORY);
    // The fixture lacks the images that a cluster is made of: what is missing is told by name.
    let ran = site.work.run(&["create", "manifests", "--release-dir", "rel"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    ran.says("error[release-unusable]");
}
