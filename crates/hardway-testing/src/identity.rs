//! Somebody the control plane knows by a client certificate.

use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use fs_err as fs;

use crate::tools::succeed;

/// A user with a kubeconfig.
#[derive(Clone, Debug)]
pub struct Identity {
    kubeconfig: PathBuf,
}

impl Identity {
    /// Signs a certificate for a user of these groups; `name` is what its files are called.
    pub(crate) fn issue(folder: &Path, url: &str, name: &str, user: &str, groups: &[&str]) -> Self {
        let organizations: String = groups.iter().map(|group| format!("/O={group}")).collect();
        let script = r#"set -euo pipefail
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"
            openssl req -new -key "$1.key" -subj "$2" -addext extendedKeyUsage=clientAuth -out "$1.csr"
            openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -days 2 -copy_extensions copyall -out "$1.crt""#;
        let subject = format!("{organizations}/CN={user}");
        succeed(Command::new("bash").args(["-c", script, "bash", name, &subject]).current_dir(folder));
        let data = |end: &str| data(&folder.join(format!("{name}{end}")));
        let user =
            serde_json::json!({"client-certificate-data": data(".crt"), "client-key-data": data(".key")});
        Self::with(folder, url, name, &user)
    }

    /// Somebody who has a token.
    pub(crate) fn with_token(folder: &Path, url: &str, name: &str, token: &str) -> Self {
        Self::with(folder, url, name, &serde_json::json!({"token": token}))
    }

    /// Whoever the user of a kubeconfig is that was made elsewhere.
    pub fn of(kubeconfig: impl Into<PathBuf>) -> Self {
        Self { kubeconfig: kubeconfig.into() }
    }

    /// Where its kubeconfig lies.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    fn with(folder: &Path, url: &str, name: &str, user: &serde_json::Value) -> Self {
        let kubeconfig =
            folder.join(if name == "admin" { "kubeconfig".into() } else { format!("{name}.kubeconfig") });
        let authority = data(&folder.join("ca.crt"));
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority-data": authority}}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        });
        fs::write(&kubeconfig, config.to_string()).unwrap();
        Self { kubeconfig }
    }
}

/// A file, as a kubeconfig holds it: a working folder's may not name files.
fn data(file: &Path) -> String {
    base64::engine::general_purpose::STANDARD.encode(fs::read(file).unwrap())
}
