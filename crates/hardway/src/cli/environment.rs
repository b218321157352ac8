//! The variables of the environment that count, below the help of the program and in its manual page.

use std::fmt::Write as _;

/// A variable, and what it does. Where a flag says the same, the flag wins.
const VARIABLES: [(&str, &str); 12] = [
    ("HARDWAY_DIR", "the folder of the cluster, where --dir is not given"),
    ("HARDWAY_KEYRING", "keys that sign releases, where --keyring is not given"),
    ("HARDWAY_LAB_FILES", "the folder lab/ of hardway's sources, where it is not beside the program"),
    ("HARDWAY_NOW", "a time such as 2026-11-15T12:00:00Z to rehearse with: the clock stands there"),
    ("HARDWAY_PODMAN_OPTIONS", "more options for the containers that render node configs"),
    (
        "KUBECONFIG",
        "not used for the folder's own cluster, which auth/kubeconfig or --kubeconfig leads to; used by hosted",
    ),
    ("NO_COLOR", "no colours, where --color is auto"),
    ("REGISTRY_AUTH_FILE", "logins of registries, before those of podman and docker"),
    ("DOCKER_CONFIG", "the folder of docker's config.json"),
    ("HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "the proxy to registries; before that of install-config.yaml"),
    ("XDG_CACHE_HOME", "where what was fetched is kept, in hardway/"),
    ("OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION", "make keys of a FIPS cluster on a host without FIPS"),
];

pub(super) fn text() -> String {
    let mut text = "Environment variables; a flag that says the same wins:\n".to_owned();
    for (name, meaning) in VARIABLES {
        let _ = writeln!(text, "  {name}\n      {meaning}");
    }
    text
}
