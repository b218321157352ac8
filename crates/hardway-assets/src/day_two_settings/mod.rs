//! `day2` of the inventory, and the steps that it can ask for. Secrets are named by their files, so nothing here has to be hidden.
//!
//! ```text
//! DayTwoSettings   what is wanted                        mod.rs
//! DayTwoStep       the catalogue: a row for each step    step.rs
//! ```
//!
//! What a step makes of its settings is `day_two`, which the inventory knows nothing of.

mod step;

use serde::{Deserialize, Serialize};

pub use step::{DayTwoStep, NodeEffect, StepRow};

use crate::input_tables::INVENTORY;

/// Everything that is wanted on day two. What is left out is not touched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DayTwoSettings {
    /// Who may log in.
    pub identity: Option<IdentitySettings>,
    /// Certificates of the organisation.
    pub certificates: Option<CertificateSettings>,
    /// CAs of the organisation.
    pub trust: Option<TrustSettings>,
    /// The way out.
    pub proxy: Option<ProxySettings>,
    /// Who tells the time.
    pub time: Option<TimeSettings>,
    /// Who may log in to nodes.
    pub ssh_keys: Option<FileSettings>,
    /// Credentials for registries.
    pub pull_secret: Option<FileSettings>,
    /// The image registry.
    pub registry: Option<RegistrySettings>,
    /// Metrics.
    pub monitoring: Option<MonitoringSettings>,
}

/// `day2.identity`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentitySettings {
    /// Who becomes cluster-admin.
    pub admin: String,
    /// Users with passwords that are kept in the cluster.
    pub htpasswd: Option<HtpasswdSettings>,
    /// Users of a directory.
    pub ldap: Option<LdapSettings>,
    /// Users of a single sign-on.
    #[serde(rename = "openID")]
    pub open_id: Option<OpenIdSettings>,
}

/// `day2.identity.htpasswd`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HtpasswdSettings {
    /// All of them.
    pub users: Vec<HtpasswdUser>,
}

/// `day2.identity.htpasswd.users[]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HtpasswdUser {
    /// As they log in.
    pub name: String,
    /// Holds the password, and a line end at most.
    pub password_file: String,
}

/// `day2.identity.ldap`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LdapSettings {
    /// RFC 2255: server, base, attribute, scope, filter.
    pub url: String,
    /// As whom the directory is searched; anonymously if nobody is named.
    #[serde(rename = "bindDN")]
    pub bind_dn: Option<String>,
    /// That one's password.
    pub bind_password_file: Option<String>,
    /// Who signed the server's certificate.
    pub ca_file: Option<String>,
}

/// `day2.identity.openID`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenIdSettings {
    /// Its URL, as tokens carry it.
    pub issuer: String,
    /// What the cluster is called there.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// The cluster's password there.
    pub client_secret_file: String,
    /// Who signed the server's certificate.
    pub ca_file: Option<String>,
}

/// `day2.certificates`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateSettings {
    /// For `api.<domain>`.
    pub api: Option<ServingPair>,
    /// For everything below `apps.<domain>`.
    pub ingress: Option<ServingPair>,
}

/// A certificate with its chain, and its key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServingPair {
    /// PEM: the server's own first, then who signed it, and so on.
    pub certificate_file: String,
    /// PEM.
    pub key_file: String,
}

/// `day2.trust`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustSettings {
    /// PEM: certificates of CAs.
    pub bundle_file: String,
}

/// `day2.proxy`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxySettings {
    /// For plain HTTP.
    pub http_proxy: Option<String>,
    /// For HTTPS.
    pub https_proxy: Option<String>,
    /// Destinations that bypass the proxy, comma-separated; the cluster adds its own.
    pub no_proxy: Option<String>,
}

/// `day2.time`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSettings {
    /// Names or addresses.
    pub servers: Vec<String>,
}

/// A step that is a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSettings {
    /// Its path.
    pub file: String,
}

/// `day2.registry`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrySettings {
    /// Of its volume.
    #[serde(rename = "sizeGiB")]
    pub size_gib: u32,
    /// The default one if none is named.
    pub storage_class: Option<String>,
}

/// `day2.monitoring`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitoringSettings {
    /// How long metrics are kept.
    #[serde(default = "retention_days")]
    pub retention_days: u32,
    /// Of each Prometheus.
    #[serde(rename = "sizeGiB")]
    pub size_gib: u32,
    /// The default one if none is named.
    pub storage_class: Option<String>,
    /// Whether workloads of users are watched too.
    #[serde(default)]
    pub user_workloads: bool,
}

/// A file that a setting names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The setting: `day2.trust.bundleFile`.
    pub field: String,
    /// The path, below the working folder unless it begins with `/`.
    pub path: String,
    /// Whether nobody else may read it.
    pub is_secret: bool,
}

impl DayTwoSettings {
    /// Whether a step was asked for. One without settings can always be.
    pub fn has(&self, step: DayTwoStep) -> bool {
        match step {
            DayTwoStep::Identity => self.identity.is_some(),
            DayTwoStep::KubeadminGone => true,
            DayTwoStep::Certificates => self.certificates.is_some(),
            DayTwoStep::Trust => self.trust.is_some(),
            DayTwoStep::Proxy => self.proxy.is_some(),
            DayTwoStep::Time => self.time.is_some(),
            DayTwoStep::SshKeys => self.ssh_keys.is_some(),
            DayTwoStep::PullSecret => self.pull_secret.is_some(),
            DayTwoStep::Registry => self.registry.is_some(),
            DayTwoStep::Monitoring => self.monitoring.is_some(),
        }
    }

    /// The files that a step is made from.
    pub fn files(&self, step: DayTwoStep) -> Vec<NamedFile> {
        let mut files = Files::default();
        match step {
            DayTwoStep::Identity => self.identity.iter().for_each(|identity| identity.files(&mut files)),
            DayTwoStep::Certificates => {
                let pairs = self.certificates.iter();
                for (name, pair) in pairs.flat_map(|both| [("api", &both.api), ("ingress", &both.ingress)]) {
                    let Some(pair) = pair else { continue };
                    files.public(format!("certificates.{name}.certificateFile"), &pair.certificate_file);
                    files.secret(format!("certificates.{name}.keyFile"), &pair.key_file);
                }
            }
            DayTwoStep::Trust => {
                self.trust.iter().for_each(|trust| files.public("trust.bundleFile", &trust.bundle_file));
            }
            DayTwoStep::SshKeys => {
                self.ssh_keys.iter().for_each(|keys| files.public("sshKeys.file", &keys.file));
            }
            DayTwoStep::PullSecret => {
                self.pull_secret.iter().for_each(|secret| files.secret("pullSecret.file", &secret.file));
            }
            _ => {}
        }
        files.0
    }
}

fn retention_days() -> u32 {
    INVENTORY.default("day2.monitoring.retentionDays").parse().unwrap_or_default()
}

impl IdentitySettings {
    fn files(&self, files: &mut Files) {
        let users = self.htpasswd.iter().flat_map(|htpasswd| &htpasswd.users);
        for (i, user) in users.enumerate() {
            files.secret(format!("identity.htpasswd.users[{i}].passwordFile"), &user.password_file);
        }
        if let Some(ldap) = &self.ldap {
            ldap.bind_password_file
                .iter()
                .for_each(|path| files.secret("identity.ldap.bindPasswordFile", path));
            ldap.ca_file.iter().for_each(|path| files.public("identity.ldap.caFile", path));
        }
        if let Some(open_id) = &self.open_id {
            files.secret("identity.openID.clientSecretFile", &open_id.client_secret_file);
            open_id.ca_file.iter().for_each(|path| files.public("identity.openID.caFile", path));
        }
    }
}

#[derive(Default)]
struct Files(Vec<NamedFile>);

impl Files {
    fn public(&mut self, field: impl AsRef<str>, path: &str) {
        self.push(field.as_ref(), path, false);
    }

    fn secret(&mut self, field: impl AsRef<str>, path: &str) {
        self.push(field.as_ref(), path, true);
    }

    fn push(&mut self, field: &str, path: &str, is_secret: bool) {
        self.0.push(NamedFile { field: format!("day2.{field}"), path: path.to_owned(), is_secret });
    }
}
