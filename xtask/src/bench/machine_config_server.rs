//! A real machine-config-server (openshift/machine-config-operator `cmd/machine-config-server`), as it runs on a bootstrap
//! host: `HARDWAY_PEER_MCS` says where the program is.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::serve::{Running, free_port};

const NAME: &str = "rendered-master-0123456789abcdef0123456789abcdef";
const FILES: usize = 60;
const LINE: &str = "%23%20a%20line%20of%20a%20file%20as%20nodes%20have%20them,%20with%20spaces%20and%20quotes%3A%20%22x%22%20%3D%20y%0A";

/// Starts it with the certificate of a working folder and a pool whose config is this large as it is served.
pub(super) fn start(dir: &Path, bytes: usize) -> Result<Running> {
    let program = std::env::var_os("HARDWAY_PEER_MCS").map(PathBuf::from);
    let program = program.context("HARDWAY_PEER_MCS names none")?;
    let base = dir.join("mcs");
    write_pool(&base, bytes)?;
    let (secure, insecure) = (free_port()?, free_port()?);
    let child = Command::new(program)
        .args(["bootstrap", "--secure-port", &secure.to_string(), "--insecure-port", &insecure.to_string()])
        .arg("--server-basedir")
        .arg(&base)
        .arg("--bootstrap-kubeconfig")
        .arg(base.join("kubeconfig"))
        .arg("--cert")
        .arg(dir.join("pki/ignition-server.crt"))
        .arg("--key")
        .arg(dir.join("secrets/ignition-server.key"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let request = "GET /config/master HTTP/1.1\r\nHost: bench\r\n\
                   Accept: application/vnd.coreos.ignition+json;version=3.4.0\r\n\r\n";
    let request = Some(request.as_bytes().to_vec());
    Running { child, address: format!("127.0.0.1:{secure}"), request }.once_up()
}

/// What it reads at every request. A byte of a file is served a little more than twice: in the config and, encoded once
/// more, in the copy of the MachineConfig that comes along.
fn write_pool(base: &Path, bytes: usize) -> Result<()> {
    let lines = bytes.saturating_sub(SERVED_WITHOUT_LINES) / (FILES * SERVED_FOR_A_LINE);
    let source = format!("data:,{}", LINE.repeat(lines));
    let files: Vec<Value> = (0..FILES)
        .map(|i| json!({"path": format!("/etc/bench/{i}.conf"), "mode": 0o644, "overwrite": true, "contents": {"source": source}}))
        .collect();
    let config = json!({"ignition": {"version": "3.4.0"}, "storage": {"files": files}});
    let object = |kind: &str, name: &str, rest: Value| {
        let mut object = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": kind, "metadata": {"name": name}});
        rest.as_object().into_iter().flatten().for_each(|(key, value)| object[key] = value.clone());
        object
    };
    let now = json!({"configuration": {"name": NAME}});
    let cluster = json!({"name": "local", "cluster": {"server": "https://api-int.example.com:6443"}});
    for (path, object) in [
        (
            format!("machine-configs/{NAME}.yaml"),
            object("MachineConfig", NAME, json!({"spec": {"config": config}})),
        ),
        (
            "machine-pools/master.yaml".to_owned(),
            object("MachineConfigPool", "master", json!({"spec": now, "status": now})),
        ),
        (
            "controller-config/machine-config-controller.yaml".to_owned(),
            object("ControllerConfig", "machine-config-controller", json!({"spec": {}})),
        ),
        ("kubeconfig".to_owned(), json!({"apiVersion": "v1", "kind": "Config", "clusters": [cluster]})),
    ] {
        let path = base.join(path);
        fs_err::create_dir_all(path.parent().context("no folder")?)?;
        fs_err::write(path, hardway_assets::yaml::write(&object))?;
    }
    Ok(())
}

/// Measured once: what the server of 4.18 sends for a pool with empty files, and for each line of a file.
const SERVED_WITHOUT_LINES: usize = 55_941;
const SERVED_FOR_A_LINE: usize = 276;
