//! Where libvirt is.

use http::Uri;
use serde::Serialize;

/// A connection URI that hardway can work with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LibvirtUri {
    /// As virsh takes it.
    pub(super) text: String,
    /// How the same host is reached with ssh; none: it is this one.
    pub(super) ssh: Option<Ssh>,
}

/// Why it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UriError {
    #[error("qemu+ssh needs a host")]
    NoHost,
    #[error("must be a URI such as qemu:///system")]
    NotAUri,
    #[error("must end in /system: the machines of /session have no network that others reach")]
    NotTheSystems,
    #[error(
        "must be qemu:///system or qemu+ssh://user@host/system: hardway also works on the host itself, beside libvirt"
    )]
    OtherWay,
}

/// Whom ssh asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Ssh {
    /// `user@host` or `host`.
    pub(super) destination: String,
    /// Another than ssh's own.
    pub(super) port: Option<u16>,
    /// Another key than ssh's own.
    pub(super) key_file: Option<String>,
    /// Whether the host's key is taken as it comes, as the URI demands.
    pub(super) takes_any_key: bool,
}

impl LibvirtUri {
    /// Reads a URI.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, UriError> {
        let (scheme, rest) = text.split_once("://").ok_or(UriError::NotAUri)?;
        // `http::Uri` wants a host where libvirt's local URIs have none.
        let readable = if rest.starts_with('/') { format!("{scheme}://here{rest}") } else { text.to_owned() };
        let uri: Uri = readable.parse().map_err(|_| UriError::NotAUri)?;
        if uri.path() != "/system" {
            return Err(UriError::NotTheSystems);
        }
        let has_host = !rest.starts_with('/');
        match (scheme, has_host) {
            ("qemu" | "qemu+unix", false) => Ok(Self { text: text.to_owned(), ssh: None }),
            ("qemu+ssh", true) => Ok(Self { text: text.to_owned(), ssh: Some(Ssh::of(&uri)) }),
            ("qemu+ssh", false) => Err(UriError::NoHost),
            _ => Err(UriError::OtherWay),
        }
    }
}

impl Ssh {
    fn of(uri: &Uri) -> Self {
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| format!("{user}@")).unwrap_or_default();
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let query = uri.query().unwrap_or_default();
        let parameter = |name: &str| {
            query
                .split('&')
                .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
                .map(|(_, value)| value)
        };
        Self {
            destination: format!("{user}{host}"),
            port: uri.port_u16(),
            key_file: parameter("keyfile").map(str::to_owned),
            takes_any_key: parameter("no_verify") == Some("1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn here_or_over_ssh_and_nothing_else() {
        assert_eq!(LibvirtUri::read("qemu:///system").unwrap().ssh, None);
        let remote = "qemu+ssh://root@[fd00::7]:2222/system?keyfile=/k/id&no_verify=1";
        let ssh = LibvirtUri::read(remote).unwrap().ssh.unwrap();
        assert_eq!(ssh.destination, "root@fd00::7");
        assert_eq!((ssh.port, ssh.key_file.as_deref(), ssh.takes_any_key), (Some(2222), Some("/k/id"), true));
        assert_eq!(LibvirtUri::read("qemu+ssh://big/system").unwrap().ssh.unwrap().destination, "big");
        for bad in [
            "",
            "system",
            "qemu:///session",
            "qemu+ssh:///system",
            "qemu+tls://big/system",
            "test:///default",
            "qemu://big/system",
            "xen:///system",
            "qemu+ssh://big/system/more",
        ] {
            assert!(LibvirtUri::read(bad).is_err(), "{bad}");
        }
    }
}
