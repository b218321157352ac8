//! The variables of the environment that count, below the help of the program and in its manual page.

use std::fmt::Write as _;

/// A variable, and what it does. Where a flag says the same, the flag wins.
const VARIABLES: [(&str, &str); 12] = [
    ("HARDWAY_DIR", "folder of the cluster; used when --dir is not given"),
    ("HARDWAY_KEYRING", "keyring for release signatures; used when --keyring is not given"),
    ("HARDWAY_LAB_FILES", "path of the lab/ folder of hardway's sources, if it is not next to the program"),
    ("HARDWAY_NOW", "fixed time for rehearsals, such as 2026-11-15T12:00:00Z"),
    ("HARDWAY_PODMAN_OPTIONS", "extra options for the containers that render node configs"),
    (
        "KUBECONFIG",
        "management cluster of the `hosted` commands; all others use auth/kubeconfig or --kubeconfig",
    ),
    ("NO_COLOR", "disables colours when --color is auto"),
    ("REGISTRY_AUTH_FILE", "registry logins; read before those of podman and docker"),
    ("DOCKER_CONFIG", "folder of docker's config.json"),
    ("HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxy for registries; overrides the proxy in install-config.yaml"),
    ("XDG_CACHE_HOME", "cache folder; downloads are kept in hardway/ below it"),
    (
        "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION",
        "allow keys for a FIPS cluster to be made on a host without FIPS",
    ),
];

/// The names of all.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    VARIABLES.iter().flat_map(|(names, _)| names.split(", "))
}

/// What a variable does.
pub(crate) fn variable(name: &str) -> Option<&'static str> {
    let row = VARIABLES.iter().find(|(names, _)| names.split(", ").any(|known| known == name));
    row.map(|(_, meaning)| *meaning)
}

pub(super) fn text() -> String {
    let mut text = "Environment variables (the matching flag takes precedence):\n".to_owned();
    for (name, meaning) in VARIABLES {
        let _ = writeln!(text, "  {name}\n      {meaning}");
    }
    text
}
