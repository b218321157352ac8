//! Real etcd members that know each other, each at an address of its own.

use std::path::Path;

use crate::{Server, tools};

/// Members to be. `tls.crt` and `tls.key` of their folder are everybody's: what is tested is etcd, not who may ask it.
#[derive(Debug)]
pub struct EtcdMembers<'m> {
    /// Where they have their data, each in a folder with its name.
    pub folder: &'m Path,
    /// Name and address of each.
    pub members: &'m [(String, String)],
    /// The same for all.
    pub client_port: u16,
    /// The same for all.
    pub peer_port: u16,
}

impl EtcdMembers<'_> {
    /// Starts one.
    ///
    /// # Panics
    /// When etcd cannot be built.
    pub fn start(&self, number: usize) -> Server {
        let (name, address) = &self.members[number];
        let home = self.folder.join(name);
        fs_err::create_dir_all(&home).unwrap();
        let client = format!("https://{address}:{}", self.client_port);
        let peer = |address: &str| format!("http://{address}:{}", self.peer_port);
        let all: Vec<String> =
            self.members.iter().map(|(name, address)| format!("{name}={}", peer(address))).collect();
        let tls = |name: &str| self.folder.join(name).display().to_string();
        let flags = [
            format!("--name={name}"),
            "--data-dir=data".to_owned(),
            "--unsafe-no-fsync".to_owned(),
            format!("--cert-file={}", tls("tls.crt")),
            format!("--key-file={}", tls("tls.key")),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={}", peer(address)),
            format!("--initial-advertise-peer-urls={}", peer(address)),
            format!("--initial-cluster={}", all.join(",")),
        ];
        Server::start(&tools(&["etcd"]).join("etcd"), &flags, &home)
    }
}
