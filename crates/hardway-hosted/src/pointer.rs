//! The pointer that a worker boots with: HyperShift's own user-data, checked, and made one machine's.
//!
//! Facts: openshift/hypershift `hypershift-operator/controllers/nodepool/token.go` (ignConfig). The Secret always holds the current token;
//! it is read just before each machine is made, and never kept.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::node_name::is_node_name;
use hardway_base::Secret;
use serde_json::{Value, json};

use crate::token::TokenSecret;

/// HyperShift's pointer.
#[derive(Clone)]
pub struct Pointer {
    config: Value,
}

/// Something in a pointer that keeps a machine from its config.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerFlaw {
    /// It is no config.
    #[error("it is not a JSON object with one `ignition.config.merge` entry")]
    NotAPointer,
    /// A plain address, or another path.
    #[error("its source is not https://…/ignition")]
    WrongSource,
    /// The server would answer 401, which ends the boot.
    #[error(
        "its Authorization is not `Bearer ` and standard base64: the server answers 401, and the boot fails"
    )]
    BadAuthorization,
    /// The server answers 511, and the machine asks for ever.
    #[error(
        "its token is none of those in Secret {0}: the server answers 511, and the machine retries forever"
    )]
    UnknownToken(String),
    /// It boots, but the Secret is never marked as reached.
    #[error(
        "its headers NodePool and TargetConfigVersionHash do not match Secret {0}: the pool never counts as reached"
    )]
    WrongHeaders(String),
    /// The machine does not trust the server.
    #[error("its CA is not the one in Secret ignition-server-ca-cert")]
    WrongAuthority,
}

/// Why a machine's own pointer cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachinePointerError {
    /// Kubelets wait for a better name.
    #[error(
        "{0:?} is not a valid machine name: use at most 63 lower-case letters, digits and dashes, and not localhost"
    )]
    BadHostname(String),
    /// What hands it to the machine takes less.
    #[error("the pointer has {bytes} bytes, but the machine accepts at most {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// What fits.
        limit: usize,
    },
}

/// A place to fetch from instead of HyperShift's own server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnServer {
    /// Host and port.
    pub address: String,
    /// Who signed its certificate, in PEM.
    pub authority: String,
}

/// What makes a pointer one machine's.
#[derive(Clone, Copy, Debug)]
pub struct OwnConfig<'c> {
    /// Its name, so that its kubelet need not wait for one.
    pub hostname: &'c str,
    /// What its kubelet starts with, in place of the one that every worker gets.
    pub kubeconfig: &'c Secret,
    /// Where it fetches from instead of HyperShift's own server, where one is named.
    pub server: Option<&'c OwnServer>,
}

/// Where the kubelet looks for it (openshift/machine-config-operator `templates/worker/01-worker-kubelet`), and where the
/// machine-config-server puts everybody's.
const BOOTSTRAP_KUBECONFIG: &str = "/etc/kubernetes/kubeconfig";

/// The least that any way of handing a config to a machine takes: the metadata of Google Compute Engine.
pub const SMALLEST_LIMIT: usize = 256 << 10;

impl Pointer {
    /// From the value of a user-data Secret.
    ///
    /// # Errors
    /// When it is no pointer.
    pub fn read(value: &[u8]) -> Result<Self, PointerFlaw> {
        let config: Value = serde_json::from_slice(value).map_err(|_| PointerFlaw::NotAPointer)?;
        let pointer = Self { config };
        pointer.merge().map(|_| pointer.clone()).ok_or(PointerFlaw::NotAPointer)
    }

    /// Everything that is wrong with it, against the Secrets as they are.
    pub fn flaws(&self, token: &TokenSecret, authority: Option<&str>) -> Vec<PointerFlaw> {
        let mut flaws = Vec::new();
        let source = self.merge().and_then(|merge| merge["source"].as_str()).unwrap_or_default();
        if !(source.starts_with("https://") && source.ends_with("/ignition")) {
            flaws.push(PointerFlaw::WrongSource);
        }
        match self.token() {
            None => flaws.push(PointerFlaw::BadAuthorization),
            Some(shown) if !token.has_token(shown.expose()) => {
                flaws.push(PointerFlaw::UnknownToken(token.name.clone()));
            }
            Some(_) => {}
        }
        let header = |name| self.header(name).unwrap_or_default();
        if header("NodePool") != token.node_pool || header("TargetConfigVersionHash") != token.config_hash {
            flaws.push(PointerFlaw::WrongHeaders(token.name.clone()));
        }
        if authority
            .is_some_and(|authority| self.authority().as_deref().map(str::trim) != Some(authority.trim()))
        {
            flaws.push(PointerFlaw::WrongAuthority);
        }
        flaws
    }

    /// For one machine.
    ///
    /// # Errors
    /// When the name is not valid, or the result is too large.
    pub fn for_machine(&self, own: &OwnConfig<'_>, limit: usize) -> Result<Secret, MachinePointerError> {
        let OwnConfig { hostname, kubeconfig, server } = *own;
        if !is_hostname(hostname) {
            return Err(MachinePointerError::BadHostname(hostname.to_owned()));
        }
        let mut config = self.config.clone();
        let file = json!({"path": "/etc/hostname", "mode": 0o644, "overwrite": true,
            "contents": {"source": format!("data:,{hostname}%0A")}});
        match config["storage"]["files"].as_array_mut() {
            Some(files) => files.push(file),
            None => config["storage"]["files"] = json!([file]),
        }
        if let Some(server) = server {
            config["ignition"]["config"]["merge"][0]["source"] =
                json!(format!("https://{}/ignition", server.address));
            let authority = format!("data:text/plain;base64,{}", STANDARD.encode(&server.authority));
            config["ignition"]["security"]["tls"]["certificateAuthorities"] = json!([{"source": authority}]);
        }
        // What a pointer says itself, the config that it points to overrides; and that, the next one in the list.
        let last = identity_config(&config["ignition"]["version"], kubeconfig);
        let last = json!({"source": format!("data:;base64,{}", STANDARD.encode(last.to_string()))});
        if let Some(merge) = config["ignition"]["config"]["merge"].as_array_mut() {
            merge.push(last);
        }
        let bytes = config.to_string().into_bytes();
        match bytes.len() <= limit {
            true => Ok(Secret::new(bytes)),
            false => Err(MachinePointerError::TooLarge { bytes: bytes.len(), limit }),
        }
    }

    /// Host and port it is fetched from.
    pub fn address(&self) -> Option<&str> {
        self.merge()?["source"].as_str()?.strip_prefix("https://")?.split('/').next()
    }

    /// The token, if the server would understand it.
    fn token(&self) -> Option<Secret> {
        let text = self.header("Authorization")?.strip_prefix("Bearer ")?;
        STANDARD.decode(text).ok().map(Secret::new)
    }

    fn authority(&self) -> Option<String> {
        let source = &self.config["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"];
        let bytes = STANDARD.decode(source.as_str()?.split_once(";base64,")?.1).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let headers = self.merge()?["httpHeaders"].as_array()?;
        headers.iter().find(|header| header["name"] == name)?["value"].as_str()
    }

    fn merge(&self) -> Option<&Value> {
        match self.config["ignition"]["config"]["merge"].as_array().map(Vec::as_slice) {
            Some([merge]) => Some(merge),
            _ => None,
        }
    }
}

/// A config with nothing but the bootstrap kubeconfig. Every field that the machine-config-server's may have is said: what is not stays
/// as it is there.
fn identity_config(version: &Value, kubeconfig: &Secret) -> Value {
    let source = format!("data:;base64,{}", STANDARD.encode(kubeconfig.expose()));
    let file = json!({"path": BOOTSTRAP_KUBECONFIG, "mode": 0o600, "overwrite": true,
        "contents": {"source": source, "compression": ""}});
    json!({"ignition": {"version": version}, "storage": {"files": [file]}})
}

/// What a machine's node can be called. Longer names are cut somewhere, and then no certificate fits.
pub fn is_hostname(name: &str) -> bool {
    name.len() <= 63 && is_node_name(name) && name != "localhost" && !name.starts_with("localhost.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "550e8400-e29b-41d4-a716-446655440000";

    fn secret() -> TokenSecret {
        let object = json!({"metadata": {"name": "token-a-b2c3d4e5", "annotations": {
            "hypershift.openshift.io/ignition-config": "true", "hypershift.openshift.io/nodePool": "clusters/a"}},
            "data": {"token": STANDARD.encode(TOKEN)}});
        TokenSecret::read(&serde_json::from_value(object).unwrap()).unwrap()
    }

    fn pointer(authorization: &str, hash: &str, source: &str) -> Pointer {
        let ca = STANDARD.encode("-----BEGIN CERTIFICATE-----\n");
        let config = json!({"ignition": {"config": {"merge": [{"source": source, "httpHeaders": [
            {"name": "Authorization", "value": authorization}, {"name": "NodePool", "value": "clusters/a"},
            {"name": "TargetConfigVersionHash", "value": hash}]}]},
            "security": {"tls": {"certificateAuthorities": [{"source": format!("data:text/plain;base64,{ca}")}]}},
            "version": "3.2.0"}});
        Pointer::read(config.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn every_flaw_is_seen() {
        let good = format!("Bearer {}", STANDARD.encode(TOKEN));
        let url = "https://10.0.0.5:31234/ignition";
        let ca = "-----BEGIN CERTIFICATE-----";
        let unknown = PointerFlaw::UnknownToken("token-a-b2c3d4e5".into());
        let headers = PointerFlaw::WrongHeaders("token-a-b2c3d4e5".into());
        for (authorization, hash, source, authority, flaws) in [
            (good.as_str(), "b2c3d4e5", url, ca, vec![]),
            (&format!("Bearer {TOKEN}"), "b2c3d4e5", url, ca, vec![PointerFlaw::BadAuthorization]),
            ("Bearer -_-_", "b2c3d4e5", url, ca, vec![PointerFlaw::BadAuthorization]),
            (&good.replace("Bearer", "bearer"), "b2c3d4e5", url, ca, vec![PointerFlaw::BadAuthorization]),
            (
                &format!("Bearer {}", STANDARD.encode(format!("{TOKEN}\n"))),
                "b2c3d4e5",
                url,
                ca,
                vec![unknown],
            ),
            (&good, "00000000", url, ca, vec![headers]),
            (&good, "b2c3d4e5", "http://10.0.0.5:30080/config/worker", ca, vec![PointerFlaw::WrongSource]),
            (&good, "b2c3d4e5", url, "another", vec![PointerFlaw::WrongAuthority]),
        ] {
            assert_eq!(
                pointer(authorization, hash, source).flaws(&secret(), Some(authority)),
                flaws,
                "{source} {hash}"
            );
        }
        assert_eq!(Pointer::read(b"{}").err(), Some(PointerFlaw::NotAPointer));
    }

    #[test]
    fn a_machine_gets_its_name_and_its_identity_and_nothing_is_lost() {
        let pointer = pointer("Bearer YQ==", "b2c3d4e5", "https://ign.example.com:31234/ignition");
        assert_eq!(pointer.address(), Some("ign.example.com:31234"));
        let kubeconfig = Secret::new("its own");
        let of = |hostname, server| OwnConfig { hostname, kubeconfig: &kubeconfig, server };
        let own = pointer.for_machine(&of("worker-0", None), SMALLEST_LIMIT).unwrap();
        let mut own: Value = serde_json::from_slice(own.expose()).unwrap();
        assert_eq!(own["storage"]["files"][0]["contents"]["source"], "data:,worker-0%0A");
        let merge = own["ignition"]["config"]["merge"].as_array_mut().unwrap();
        let last = merge.pop().unwrap()["source"].as_str().unwrap().to_owned();
        let last = STANDARD.decode(last.strip_prefix("data:;base64,").unwrap()).unwrap();
        let last: Value = serde_json::from_slice(&last).unwrap();
        assert_eq!(last["ignition"], json!({"version": "3.2.0"}));
        let [file] = last["storage"]["files"].as_array().unwrap().as_slice() else { panic!("{last}") };
        assert_eq!((&file["path"], &file["mode"]), (&json!("/etc/kubernetes/kubeconfig"), &json!(0o600)));
        assert_eq!(file["contents"]["source"], json!(format!("data:;base64,{}", STANDARD.encode("its own"))));
        assert_eq!(own["ignition"], pointer.config["ignition"], "and nothing else");
        let server = OwnServer { address: "10.1.1.1:22624".into(), authority: "pem".into() };
        let own = pointer.for_machine(&of("worker-0", Some(&server)), SMALLEST_LIMIT).unwrap();
        assert!(
            own.expose_text().contains("https://10.1.1.1:22624/ignition")
                && own.expose_text().contains("cGVt")
        );
        let long = "a".repeat(64);
        for bad in ["localhost", "A", "", "a_b", &long, "localhost.localdomain"] {
            assert_eq!(
                pointer.for_machine(&of(bad, None), SMALLEST_LIMIT).err(),
                Some(MachinePointerError::BadHostname(bad.to_owned()))
            );
        }
        assert!(matches!(
            pointer.for_machine(&of("a", None), 10),
            Err(MachinePointerError::TooLarge { limit: 10, .. })
        ));
    }
}
