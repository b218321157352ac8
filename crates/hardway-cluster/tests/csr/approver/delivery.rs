//! The next identity of a host, put in place through a real sshd by the script that its owner would run.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt};

use fs_err as fs;
use hardway_base::Secret;
use hardway_cluster::recovery::{deliver, put_in_place};
use hardway_testing::{free_port, sshd, until_found};

use crate::bootstrap_host::ssh::{draw_host_key, draw_key, known};

#[tokio::test(flavor = "multi_thread")]
async fn real_an_identity_is_put_in_place_whole_and_the_kubelet_begins_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    draw_key(folder.path());
    fs::create_dir_all(path("bin")).unwrap();
    let systemctl = format!("#!/bin/sh\necho \"$@\" >>{}\n", path("systemctl.log").display());
    fs::write(path("bin/systemctl"), systemctl).unwrap();
    fs::set_permissions(path("bin/systemctl"), PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(path("kubeconfig"), "of the install").unwrap();
    fs::set_permissions(path("kubeconfig"), PermissionsExt::from_mode(0o644)).unwrap();
    let port = free_port();
    let search = format!("SetEnv PATH={}:/usr/sbin:/usr/bin:/sbin:/bin\n", path("bin").display());
    draw_host_key(folder.path(), "worker-0");
    let _server = sshd(folder.path(), port, "worker-0", &search);
    let remote = known(folder.path(), "worker-0", port);
    until_found("an ssh server", async || remote.run("true").await.ok()).await;

    let script = put_in_place(&Secret::new("apiVersion: v1\nit's \"$HOME\" `id`\n"));
    let target = path("kubeconfig");
    // Here it is another host's file.
    let here = script.expose_text().replace("/etc/kubernetes/kubeconfig", target.to_str().unwrap());
    deliver(&remote, &Secret::new(here.clone())).await.unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "apiVersion: v1\nit's \"$HOME\" `id`\n");
    let written = fs::metadata(&target).unwrap();
    assert_eq!((written.mode() & 0o777, written.uid()), (0o600, fs::metadata(path("bin")).unwrap().uid()));
    assert_eq!(fs::read_to_string(path("systemctl.log")).unwrap(), "restart kubelet\n");

    // Cut off in the middle of the text: what was there stays, nothing lies about, and the kubelet is left alone.
    let cut = here.split("END\nchmod").next().unwrap().replace("YXBp", "!!!!");
    deliver(&remote, &Secret::new(format!("{cut}END\nexit 1\n"))).await.unwrap_err();
    assert!(fs::read_to_string(&target).unwrap().starts_with("apiVersion"));
    let left = fs::read_dir(folder.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("kubeconfig."));
    assert_eq!(left.count(), 0);
    assert_eq!(fs::read_to_string(path("systemctl.log")).unwrap(), "restart kubelet\n");
}
