//! What can go wrong with a registry, each with what was seen and what to do.

use std::fmt;
use std::io;
use std::time::Duration;

use hardway_base::one_line;

use super::realm::RealmFault;
use crate::archive::LayerError;
use crate::digest::Digest;
use crate::mirrors::MirrorError;
use crate::pull_spec::PullSpec;

/// A registry, or what it gave, could not be used. Never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No connection.
    #[error("{registry} cannot be reached: {detail}")]
    Unreachable {
        /// Host and port.
        registry: String,
        /// What the system said.
        detail: String,
    },
    /// A connection, but no answer in time.
    #[error("{registry} did not answer in time: {detail}")]
    Timeout {
        /// Host and port.
        registry: String,
        /// What was waited for.
        detail: String,
    },
    /// An answer that ended early.
    #[error("the connection to {registry} broke off: {detail}")]
    BrokeOff {
        /// Host and port.
        registry: String,
        /// What the system said.
        detail: String,
    },
    /// The certificate is signed by a stranger.
    #[error("the certificate of {registry} is signed by a CA that is not trusted here")]
    UnknownCa {
        /// Host and port.
        registry: String,
    },
    /// Expired, for another host, and the like.
    #[error("the certificate of {registry} is not valid: {detail}")]
    Certificate {
        /// Host and port.
        registry: String,
        /// Why.
        detail: String,
    },
    /// The server does not speak TLS.
    #[error("{registry} does not use TLS")]
    PlainHttp {
        /// Host and port.
        registry: String,
    },
    /// 401.
    #[error("{registry} requires a login for {repository} ({identity}): 401 Unauthorized{}", said(.detail))]
    Unauthorized {
        /// Host and port.
        registry: String,
        /// Without the registry.
        repository: String,
        /// Which credentials were used.
        identity: Box<RegistryUser>,
        /// The registry's or token server's own words.
        detail: String,
    },
    /// 403.
    #[error("{registry} does not allow {identity} to read {repository}: 403 Forbidden{}", said(.detail))]
    Denied {
        /// Host and port.
        registry: String,
        /// Without the registry.
        repository: String,
        /// Which credentials were used.
        identity: Box<RegistryUser>,
        /// The registry's own words.
        detail: String,
    },
    /// The repository is there, the tag is not.
    #[error("{image}: no such tag{}", near(.tags))]
    NoSuchTag {
        /// What was asked for.
        image: Box<PullSpec>,
        /// Tags that look alike.
        tags: Vec<String>,
    },
    /// The repository is not there.
    #[error("{image}: the registry has no repository {:?}", .image.repository)]
    NoSuchRepository {
        /// What was asked for.
        image: Box<PullSpec>,
    },
    /// Nothing with this digest.
    #[error("{image}: the repository has no image with this digest")]
    NoSuchDigest {
        /// What was asked for.
        image: Box<PullSpec>,
    },
    /// A manifest names a blob that is not there.
    #[error("{repository} does not have the blob {digest}")]
    NoSuchBlob {
        /// With the registry.
        repository: String,
        /// Of the blob.
        digest: Digest,
    },
    /// A list without the architecture asked for.
    #[error("{image} is not built for {wanted}; it is for {}", .there.join(", "))]
    NoSuchPlatform {
        /// What was asked for.
        image: Box<PullSpec>,
        /// `linux/arm64`.
        wanted: String,
        /// Those in the list.
        there: Vec<String>,
    },
    /// Not what was asked for.
    #[error("{what} is damaged: its bytes have the digest {found}, not {expected}")]
    DigestMismatch {
        /// Such as `the manifest of …`.
        what: String,
        /// As named.
        expected: Digest,
        /// As computed.
        found: String,
    },
    /// Fewer bytes than its manifest says.
    #[error("{what} is truncated: {found} of {expected} bytes")]
    Truncated {
        /// Such as `layer sha256:…`.
        what: String,
        /// By the manifest.
        expected: u64,
        /// That came.
        found: u64,
    },
    /// 429.
    #[error("{registry} rejects too many requests: 429")]
    TooManyRequests {
        /// Host and port.
        registry: String,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// Any other answer.
    #[error("{registry} answered {status}{}", said(.detail))]
    Server {
        /// Host and port.
        registry: String,
        /// Of HTTP.
        status: u16,
        /// The beginning of the body.
        detail: String,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// An answer that is not as registries answer.
    #[error("{what} is malformed: {detail}")]
    Malformed {
        /// Such as `the manifest of …`.
        what: String,
        /// Why.
        detail: String,
    },
    /// More than it may be.
    #[error("{what} is larger than {most} bytes and was discarded")]
    TooLarge {
        /// Such as `the manifest of …`.
        what: String,
        /// The bound.
        most: u64,
    },
    /// A token server that the pull secret's entry is not for.
    #[error("{registry} wants the pull secret's login sent to {realm}, {why}")]
    TokenServer {
        /// Host and port.
        registry: String,
        /// As the registry names it.
        realm: String,
        /// Why it is not sent.
        why: RealmFault,
    },
    /// Settings that make no client.
    #[error("{0}")]
    Setting(String),
    /// A mirror that cannot be asked.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    /// None of the places it may be pulled from has it.
    #[error("{image} could not be pulled:{}", listed(.tried))]
    Nowhere {
        /// What was asked for.
        image: Box<PullSpec>,
        /// Each place and why not.
        tried: Vec<(String, RegistryError)>,
    },
    /// The cache of blobs, or a file written to.
    #[error("{0}")]
    File(#[from] io::Error),
    /// A layer's content.
    #[error("{what}: {error}")]
    Layer {
        /// Which layer of which image.
        what: String,
        /// Why.
        #[source]
        error: LayerError,
    },
}

/// Who was asked as: the key in the pull secret and the user, never more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryUser {
    /// No entry of the pull secret fits.
    Nobody,
    /// `entry "quay.io", user "x"`.
    Entry {
        /// The key in `auths`.
        key: String,
        /// The user name.
        user: String,
    },
}

impl fmt::Display for RegistryUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("asked without credentials"),
            Self::Entry { key, user } => write!(f, "user {user:?} of the pull secret's entry {key:?}"),
        }
    }
}

impl RegistryError {
    /// What to do about it.
    pub fn fix(&self) -> String {
        match self {
            Self::Unreachable { registry, .. } => {
                format!("check the name {registry}, the network, and whether a proxy is needed to get there")
            }
            Self::Server { status: 401 | 403 | 404 | 410, .. } => "check the address".to_owned(),
            Self::BrokeOff { .. } | Self::Timeout { .. } | Self::TooManyRequests { .. } | Self::Server { .. } => {
                "try again later; the download continues where it stopped".to_owned()
            }
            Self::UnknownCa { registry } => {
                format!("add the CA certificate of {registry} to additionalTrustBundle, or pass its file")
            }
            Self::Certificate { .. } => {
                "have the registry's certificate renewed or its name corrected".to_owned()
            }
            Self::PlainHttp { .. } => {
                "allow plain HTTP explicitly; anyone on the network can then read the credentials".to_owned()
            }
            Self::Unauthorized { registry, identity, .. } => match &**identity {
                RegistryUser::Nobody => format!("add an entry for {registry} to the pull secret"),
                RegistryUser::Entry { key, .. } => {
                    format!("the pull secret's entry {key:?} is wrong or has expired: get a new pull secret")
                }
            },
            Self::Denied { repository, .. } => format!("request permission to pull {repository}"),
            Self::NoSuchTag { .. } | Self::NoSuchRepository { .. } | Self::NoSuchDigest { .. } => {
                "check the pull spec".to_owned()
            }
            Self::NoSuchBlob { .. } => "push or mirror the image again".to_owned(),
            Self::NoSuchPlatform { .. } => {
                "choose one of those, or use the release built for the architecture".to_owned()
            }
            Self::Truncated { .. } => {
                "run the command again, which continues from there; if it stops at the same byte, push or mirror the image \
                 again"
                    .to_owned()
            }
            Self::DigestMismatch { .. } | Self::Malformed { .. } => {
                "the registry or a proxy has damaged content: push or mirror the image again"
                    .to_owned()
            }
            Self::TooLarge { .. } => {
                "do not trust what this server sends; if it is correct nevertheless, provide it as a file".to_owned()
            }
            Self::TokenServer { registry, why: RealmFault::OtherHost, .. } => format!(
                "ask the administrator of {registry}; if that is its token server, add an entry for that host, with the same \
                 login, to the pull secret"
            ),
            Self::TokenServer { registry, .. } => {
                format!("configure {registry} with a token server that uses https")
            }
            Self::Setting(_) | Self::Mirror(_) => "correct the setting".to_owned(),
            Self::Nowhere { tried, .. } => tried
                .last()
                .map_or_else(String::new, |(place, error)| format!("for {place}: {}", error.fix())),
            Self::File(_) => "check the folder's permissions and free space".to_owned(),
            Self::Layer { .. } => "do not use this image: it is not built like a release".to_owned(),
        }
    }

    /// Whether trying again may help.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::BrokeOff { .. }
            | Self::Timeout { .. }
            | Self::TooManyRequests { .. }
            | Self::Truncated { .. } => true,
            Self::Server { status, .. } => matches!(status, 500 | 502 | 503 | 504),
            _ => false,
        }
    }

    /// Whether a host answered that nobody listens there.
    pub(crate) fn is_refused_connection(&self) -> bool {
        matches!(self, Self::Unreachable { detail, .. } if detail.to_lowercase().contains("connection refused"))
    }

    /// The same with the pause that the server asks for.
    pub(crate) fn waiting(mut self, asked: Option<Duration>) -> Self {
        if let Self::TooManyRequests { wait, .. } | Self::Server { wait, .. } = &mut self {
            *wait = asked;
        }
        self
    }

    /// Whether another mirror may have what this one did not give.
    pub(crate) fn is_of_one_place(&self) -> bool {
        !matches!(self, Self::File(_) | Self::Setting(_) | Self::Mirror(_) | Self::NoSuchPlatform { .. })
    }
}

fn said(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" ({})", one_line(detail)) }
}

fn near(tags: &[String]) -> String {
    if tags.is_empty() { String::new() } else { format!("; near: {}", one_line(&tags.join(", "))) }
}

fn listed(tried: &[(String, RegistryError)]) -> String {
    tried.iter().map(|(place, error)| format!("\n  {place}: {error}")).collect()
}
