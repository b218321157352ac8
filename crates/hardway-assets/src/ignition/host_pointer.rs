//! `ignition/pointers/<host>.ign`: a few lines that make a host fetch its own config from the ignition server.

use hardway_base::hex;
use sha2::{Digest as _, Sha512};

use super::config::{Config, Remote};
use super::host_token::{ConfigDigest, TokenKey};
use super::node::NodeConfig;
use super::pointer::Pointer;
use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::inventory::{Host, Role, ServerUrl};
use crate::secrets::TOKEN_KEY;
use crate::{Cluster, Phase, pki};

/// The header that names the config a pointer was made for. Not a generation of the host's identity: the word is older.
pub const GENERATION_HEADER: &str = "Hardway-Generation";

/// The config that a host boots from, in the working directory: the bootstrap host's and a self-installing node's are not
/// named after the host, and a stock pointer is the same for a whole pool.
pub fn first_boot_config(cluster: &Cluster, host: &Host) -> String {
    match host.role {
        Role::Bootstrap => "bootstrap.ign".to_owned(),
        _ if cluster.is_bootstrap_in_place() && host.name == cluster.bootstrap_host().name => {
            "bootstrap-in-place-for-live-iso.ign".to_owned()
        }
        role if host.stock_pointer => Pointer(role).path(),
        _ => NodeConfig::path(host),
    }
}

/// A pointer to `config`, which the server at `url` gives to `host`. `ca` signs the server's certificate; there is none
/// over plain HTTP. The hash is checked by Ignition in both cases.
pub fn host_pointer(
    url: &ServerUrl,
    host: &str,
    config: &[u8],
    key: &TokenKey,
    ca: Option<&[u8]>,
) -> Vec<u8> {
    let digest = ConfigDigest::of(config);
    let token = key.token(host, &digest);
    let hash = hex::encode(Sha512::digest(config));
    let mut pointer = Config::default();
    pointer.merge_remote(&Remote {
        url: &format!("{url}/ignition/{host}"),
        headers: &[
            ("Authorization", &format!("Bearer {}", token.expose_text())),
            (GENERATION_HEADER, digest.as_str()),
        ],
        hash: Some(&format!("sha512-{hash}")),
        ca,
    });
    pointer.write()
}

/// The pointer of one host.
pub struct HostPointer {
    host: String,
    config: String,
    is_https: bool,
}

impl HostPointer {
    /// For a host whose config is made; `None` where no server is named.
    pub fn new(cluster: &Cluster, host: &Host) -> Option<Self> {
        let url = cluster.inventory.ignition_server.url.as_ref()?;
        let config = first_boot_config(cluster, host);
        Some(Self { host: host.name.clone(), config, is_https: url.is_https })
    }

    /// The working-directory path of a host's pointer. In a folder of its own: a host may be called anything that a name
    /// allows, so no suffix would be free.
    pub fn path(host: &Host) -> String {
        format!("ignition/pointers/{}.ign", host.name)
    }
}

impl Asset for HostPointer {
    fn id(&self) -> String {
        format!("host-pointer-{}", self.host)
    }

    fn phase(&self) -> Phase {
        Phase::MakeIgnition
    }

    fn sources(&self) -> Vec<Source> {
        let mut sources = vec![
            Source::file(&self.config),
            Source::inventory("ignitionServer"),
            Source::Secret(TOKEN_KEY.to_owned()),
        ];
        if self.is_https {
            sources.push(Source::file(pki::path("root-ca")));
        }
        sources
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::secret(format!("ignition/pointers/{}.ign", self.host))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let url = inputs.cluster.inventory.ignition_server.url.as_ref();
        let url = url.ok_or_else(|| MakeError::Internal("a pointer without a server".to_owned()))?;
        let ca = if self.is_https { Some(inputs.file(&pki::path("root-ca"))?) } else { None };
        let key = TokenKey::new(inputs.secrets.get(TOKEN_KEY)?);
        Ok(vec![host_pointer(url, &self.host, inputs.file(&self.config)?, &key, ca)])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use hardway_base::Secret;

    #[test]
    fn it_says_who_asks_where_for_what() {
        let key = TokenKey::new(&Secret::new("k"));
        let url = ServerUrl::parse("https://[fd00::1]:443").unwrap();
        let pointer: Value =
            serde_json::from_slice(&host_pointer(&url, "a.b", b"{}", &key, Some(b"CA"))).unwrap();
        let merge = &pointer["ignition"]["config"]["merge"][0];
        assert_eq!(merge["source"], "https://[fd00::1]:443/ignition/a.b");
        assert_eq!(merge["httpHeaders"][0]["name"], "Authorization");
        assert_eq!(merge["httpHeaders"][1]["value"], ConfigDigest::of(b"{}").as_str());
        let hash = merge["verification"]["hash"].as_str().unwrap();
        assert_eq!((&hash[..7], hash.len()), ("sha512-", 135));
        assert!(pointer["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"].is_string());
        let plain: Value = serde_json::from_slice(&host_pointer(&url, "a.b", b"{}", &key, None)).unwrap();
        assert!(plain["ignition"]["security"].is_null());
    }
}
