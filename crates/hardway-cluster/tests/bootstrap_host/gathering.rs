//! A bundle, made by the bootstrap host's own script and fetched through a real sshd.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use fs_err as fs;
use hardway_assets::ignition::bootstrap_files::scripts;
use hardway_base::Secret;
use hardway_base::redaction::Redactor;
use hardway_cluster::diagnosis::{BundleLimits, first_broken, from_bundle};
use hardway_cluster::gather::{self, GatherError, Master};
use hardway_testing::{free_port, sshd, succeed};

use super::ssh::{answers, draw_host_key, draw_key, known};

const RECORD: &str = r#"{"service":"bootkube","phase":"service start"}
{"service":"bootkube","phase":"stage start","stage":"wait-for-etcd"}
{"service":"bootkube","phase":"stage end","stage":"wait-for-etcd","result":"failure","errorMessage":"login with aaaaa-bbbbb-ccccc-ddddd failed"}
"#;

/// The scripts and a record, as Ignition and bootkube leave them.
fn lay_out(folder: &Path) {
    for name in ["bin", "records", "openshift"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for file in scripts() {
        let path = folder.join("bin").join(Path::new(file.path).file_name().unwrap());
        fs::write(&path, file.text).unwrap();
        fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(folder.join("records/bootkube.stream.jsonl"), RECORD).unwrap();
    fs::write(folder.join("openshift/pull.json"), r#"{"auth":"bWU6aHVzaC1odXNo"}"#).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_a_bundle_comes_over_ssh_without_secrets_and_is_diagnosed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    lay_out(folder.path());
    draw_key(folder.path());
    let environment = format!(
        "SetEnv INSTALLER_GATHER={} GATHER_UNPRIVILEGED=1 OPENSHIFT_DIR={} KUBERNETES_DIR={} SERVICE_RECORDS_DIR={} GATHERED_CLUSTER={} EARLIER_BUNDLE={}\n",
        path("bin/installer-gather.sh"),
        path("openshift"),
        path("kubernetes"),
        path("records"),
        path("gathered"),
        path("none"),
    );
    let port = free_port();
    draw_host_key(folder.path(), "host");
    let _server = sshd(folder.path(), port, "host", &environment);
    let remote = known(folder.path(), "host", port).as_the_user_itself();
    answers(&remote).await;

    let id = format!("test{port}");
    let redactor = Arc::new(Redactor::new([Secret::new("aaaaa-bbbbb-ccccc-ddddd")]));
    let target = fs::File::create(folder.path().join("bundle")).unwrap();
    // A master is asked from here; the same server will do. Another is not who it should be.
    draw_host_key(folder.path(), "other");
    let master = |server: &str| Master {
        name: format!("{server}.example.com"),
        remote: known(folder.path(), server, port).as_the_user_itself(),
    };
    let masters = [master("other"), master("host")];
    let gathered = gather::bootstrap(&remote, &id, &masters, &redactor, target).await.unwrap();
    assert_eq!(gathered.missing.len(), 1, "{gathered:?}");
    assert!(
        gathered.missing[0]
            .starts_with("other.example.com: refusing to connect to 127.0.0.1 (other.example.com)")
    );
    let bundle = fs::read(folder.path().join("bundle")).unwrap();
    let list = succeed(Command::new("tar").arg("-tzf").arg(folder.path().join("bundle")));
    let journals = "log-bundle/control-plane/host.example.com/journals/kubelet.log";
    assert!(list.lines().any(|line| line == journals) && !list.contains("other.example.com"), "{list}");
    let error = gather::bootstrap(&remote, "a; rm -rf /", &[], &redactor, Vec::new()).await.unwrap_err();
    assert!(matches!(error, GatherError::Host(_)), "{error}");
    assert!(gathered.files > 3 && gathered.redacted >= 2, "{gathered:?}");
    let first = first_broken(&from_bundle(bundle.as_slice(), BundleLimits::default()).unwrap()).unwrap();
    assert_eq!(first.code, "E-B25", "{first:?}");
    assert!(first.evidence[0].contains("login with <redacted> failed"), "{first:?}");
    assert!(!Path::new(&format!("/tmp/artifacts-test{port}")).exists(), "nothing stays behind");
}
