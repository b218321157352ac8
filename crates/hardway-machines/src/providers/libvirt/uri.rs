//! Where libvirt is.

use http::Uri;
use serde::Serialize;

use crate::providers::place::Ssh;

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
    #[error(
        "must have a user of letters, digits, `.`, `_` and `-`, and a host name or address, if any: both become words of a command"
    )]
    OddName,
    #[error("can have the parameters keyfile and no_verify only: others name programs that virsh would run")]
    OtherParameter,
    #[error("must be a URI such as qemu:///system")]
    NotAUri,
    #[error("must end in /system: machines of /session have no network that others can reach")]
    NotTheSystems,
    #[error(
        "must be qemu:///system or qemu+ssh://user@host/system: hardway also changes the host itself, not only libvirt"
    )]
    OtherWay,
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
            ("qemu" | "qemu+unix", false) if uri.query().is_some() => Err(UriError::OtherParameter),
            ("qemu" | "qemu+unix", false) => Ok(Self { text: text.to_owned(), ssh: None }),
            ("qemu+ssh", true) => Ok(Self { text: text.to_owned(), ssh: Some(ssh(&uri)?) }),
            ("qemu+ssh", false) => Err(UriError::NoHost),
            _ => Err(UriError::OtherWay),
        }
    }
}

fn ssh(uri: &Uri) -> Result<Ssh, UriError> {
    let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let mut ssh = Ssh::to(user, host).ok_or(UriError::OddName)?;
    ssh.port = uri.port_u16();
    for pair in uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("keyfile", file)) => ssh.key_file = Some(file.to_owned()),
            Some(("no_verify", value)) => ssh.takes_any_key = value == "1",
            _ => return Err(UriError::OtherParameter),
        }
    }
    Ok(ssh)
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
            "qemu+ssh://-oProxyCommand=reboot@big/system",
            "qemu+ssh://a$IFS@big/system",
            "qemu+ssh://-oProxyCommand=reboot/system",
            "qemu+ssh://big/system?command=/tmp/mine",
            "qemu+ssh://big/system?netcat=/tmp/mine&no_verify=1",
            "qemu:///system?socket=/tmp/mine",
        ] {
            assert!(LibvirtUri::read(bad).is_err(), "{bad}");
        }
    }
}
