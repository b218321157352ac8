//! Certificates and requests for them, as OpenSSL makes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::succeed;

/// A key of the kind that everything here has.
pub const NEW_KEY: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/// A certificate that signs itself, and its key: `NAME.crt` and `NAME.key` in the folder. `names` are as OpenSSL has
/// them: `IP:127.0.0.1,DNS:localhost`. It calls itself an authority, as those of management controllers do.
///
/// # Panics
/// When OpenSSL cannot make it.
pub fn self_signed(folder: &Path, name: &str, names: &str) -> (PathBuf, PathBuf) {
    sign(folder, name, names, &[])
}

/// The same of a server and nothing else, as webpki wants it.
///
/// # Panics
/// When OpenSSL cannot make it.
pub fn self_signed_leaf(folder: &Path, name: &str, names: &str) -> (PathBuf, PathBuf) {
    sign(folder, name, names, &["-addext", "basicConstraints=critical,CA:FALSE"])
}

/// A kubelet's request for a certificate, in PEM: of a node, and for these names, if any. Nobody keeps the key.
///
/// # Panics
/// When OpenSSL cannot make it.
pub fn node_request(node: &str, names: &str) -> String {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-new", "-keyout", "/dev/null"]).args(NEW_KEY);
    openssl.args(["-subj", &format!("/O=system:nodes/CN=system:node:{node}")]);
    if !names.is_empty() {
        openssl.args(["-addext", &format!("subjectAltName={names}")]);
    }
    let output = openssl.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn sign(folder: &Path, name: &str, names: &str, more: &[&str]) -> (PathBuf, PathBuf) {
    let (certificate, key) = (folder.join(format!("{name}.crt")), folder.join(format!("{name}.key")));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-days", "2"]).args(NEW_KEY);
    openssl.args(["-subj", "/CN=hardway-test", "-addext", &format!("subjectAltName={names}")]).args(more);
    succeed(openssl.arg("-keyout").arg(&key).arg("-out").arg(&certificate));
    (certificate, key)
}
