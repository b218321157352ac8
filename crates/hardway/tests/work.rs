//! Working folders of the program that is tested here.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use hardway_assets::Cluster;
use hardway_assets::install_config::Rules;
use hardway_assets::inventory::read_both;
use hardway_testing::{ControlPlane, INSTALL_CONFIG, INVENTORY, Snapshot, Work};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_hardway");

/// An empty folder.
pub(crate) fn empty() -> Work {
    Work::new(PROGRAM)
}

/// With both files, and nothing made yet.
pub(crate) fn with_inputs(config: &str, inventory: &str) -> Work {
    empty().with_inputs(config, inventory)
}

/// Both files and everything that `create ignition-configs` makes of them.
pub(crate) fn made() -> Work {
    static MADE: LazyLock<Snapshot> = LazyLock::new(|| {
        let work = with_inputs(INSTALL_CONFIG, INVENTORY);
        work.ok(&["create", "ignition-configs"]);
        Snapshot::of(work.root())
    });
    empty().with(&MADE)
}

/// What the files of a folder say.
pub(crate) fn cluster(folder: &Work) -> Cluster {
    let (config, inventory) = (folder.read("install-config.yaml"), folder.read("inventory.yaml"));
    let both = read_both(&config, &inventory, Rules::for_version("4.18.1"));
    let (config, inventory) = both.map_err(|_| "a file is wrong").unwrap();
    let identity = serde_json::from_str(&folder.read("secrets/identity.json")).unwrap();
    Cluster { config: config.value, inventory: inventory.value, identity }
}

/// The program of somebody with this home and nothing in it: no logins, no cache, no proxy, no keys of the host's own.
pub(crate) fn at_home(command: &mut Command, home: &Path) {
    let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
    for name in proxies.into_iter().chain(["REGISTRY_AUTH_FILE", "DOCKER_CONFIG", "HARDWAY_KEYRING"]) {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command.env("HOME", home).env("XDG_CACHE_HOME", home.join("cache"));
    command.env("XDG_RUNTIME_DIR", home.join("run")).env("XDG_CONFIG_HOME", home.join("config"));
}

/// Makes this control plane the cluster of a folder that has everything made: it says so itself.
pub(crate) fn lead_to(folder: &Work, plane: &ControlPlane) {
    plane.say_infra_id(&cluster(folder).identity.infra_id);
    folder.write("auth/kubeconfig", plane.read("kubeconfig"));
}
