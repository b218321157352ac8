//! Bringing a host its next identity: a script that its owner runs there, or that is run there over ssh.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::ignition::KUBECONFIG_PATH;
use hardway_base::Secret;

use crate::remote::{Remote, RemoteError};

/// What puts a kubeconfig in place, as root on the host: whole or not at all, for root alone, with the label that SELinux wants for
/// that path. The kubelet reads it when it starts.
pub fn put_in_place(kubeconfig: &Secret) -> Secret {
    let encoded = STANDARD.encode(kubeconfig.expose());
    Secret::new(format!(
        r#"#!/usr/bin/env bash
# Installs the next identity of this host, and restarts the kubelet to use it. Run it on the host, as root.
set -euo pipefail
target={KUBECONFIG_PATH}
umask 077
new=$(mktemp "$target.XXXXXX")
trap 'rm -f "$new"' EXIT
base64 -d >"$new" <<'END'
{encoded}
END
chmod 600 "$new"
sync "$new"
mv -f "$new" "$target"
sync "${{target%/*}}"
if command -v restorecon >/dev/null; then restorecon "$target"; fi
systemctl restart kubelet
"#
    ))
}

/// Runs that on the host.
///
/// # Errors
/// When nobody can log in there, or the script fails.
pub async fn deliver(remote: &Remote, script: &Secret) -> Result<(), RemoteError> {
    remote.run(script.expose_text()).await.map(drop)
}
