//! How ssh is called: the one way, for every host there is.

use std::path::{Path, PathBuf};

/// A call of ssh up to the destination; the command that runs there comes behind.
///
/// ```
/// use hardway_base::{HostKeyCheck, SshCall};
///
/// let call = SshCall::to("core@192.168.126.100", HostKeyCheck::AsTheUser);
/// assert_eq!(call.words().join(" "), "ssh -o BatchMode=yes -o ForwardAgent=no -- core@192.168.126.100");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshCall {
    /// `user@host` or `host`.
    pub destination: String,
    /// Another port than ssh's own.
    pub port: Option<u16>,
    /// A private key beside those that ssh and its agent have, or instead of them.
    pub key: Option<PathBuf>,
    /// Whether no other key than that one is offered.
    pub offers_only_key: bool,
    /// Whom to take for the host.
    pub host_key: HostKeyCheck,
}

/// Who is taken for the host. Nobody on first sight, but where a person demands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostKeyCheck {
    /// Whoever has a key that this file has for the host, and nobody else.
    Known {
        /// In the form of `known_hosts`.
        file: PathBuf,
        /// The name to look for in it, instead of the address that is called.
        name: Option<String>,
        /// The one kind of key to ask for, where the host has others that nobody knows.
        kind: Option<&'static str>,
    },
    /// As the user's own `known_hosts` and ssh configuration say: for a host that is no part of the cluster.
    AsTheUser,
    /// Whoever answers: a person has said so.
    Anybody,
}

impl HostKeyCheck {
    fn options(&self) -> Vec<String> {
        match self {
            Self::Known { file, name, kind } => {
                let mut options = vec![
                    "StrictHostKeyChecking=yes".to_owned(),
                    format!("UserKnownHostsFile={}", quoted(file)),
                    "GlobalKnownHostsFile=/dev/null".to_owned(),
                    // Neither is the file written to, nor does anything else vouch for a key.
                    "UpdateHostKeys=no".to_owned(),
                    "VerifyHostKeyDNS=no".to_owned(),
                    // A connection that is open already was checked by other rules.
                    "ControlPath=none".to_owned(),
                ];
                options.extend(name.as_ref().map(|name| format!("HostKeyAlias={name}")));
                options.extend(kind.map(|kind| format!("HostKeyAlgorithms={kind}")));
                options
            }
            Self::AsTheUser => Vec::new(),
            Self::Anybody => ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"]
                .map(str::to_owned)
                .into(),
        }
    }
}

impl SshCall {
    /// With nothing special about it.
    pub fn to(destination: impl Into<String>, host_key: HostKeyCheck) -> Self {
        Self { destination: destination.into(), port: None, key: None, offers_only_key: false, host_key }
    }

    /// Program and arguments; the last is the destination. Nothing secret is among them.
    pub fn words(&self) -> Vec<String> {
        // Nobody sits there to type a password; and what runs there has no business with the user's other keys.
        let mut options = vec!["BatchMode=yes".to_owned(), "ForwardAgent=no".to_owned()];
        options.extend(self.host_key.options());
        options.extend(self.offers_only_key.then(|| "IdentitiesOnly=yes".to_owned()));
        let mut words = vec!["ssh".to_owned()];
        words.extend(options.into_iter().flat_map(|option| ["-o".to_owned(), option]));
        words.extend(self.port.into_iter().flat_map(|port| ["-p".to_owned(), port.to_string()]));
        let key = self.key.iter().flat_map(|key| ["-i".to_owned(), key.display().to_string()]);
        words.extend(key);
        // Whatever it is called, it is no option.
        words.extend(["--".to_owned(), self.destination.clone()]);
        words
    }
}

/// ssh takes a list of files, apart by spaces, and puts something in the place of percent signs.
fn quoted(file: &Path) -> String {
    let path = file.display().to_string().replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{path}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_forwards_an_agent_and_only_the_known_file_vouches() {
        let known = HostKeyCheck::Known {
            file: "/my work/known_hosts".into(),
            name: Some("master-0.ocp4.example.com".to_owned()),
            kind: Some("ecdsa-sha2-nistp256"),
        };
        for check in [known.clone(), HostKeyCheck::AsTheUser, HostKeyCheck::Anybody] {
            let words = SshCall::to("a", check).words();
            assert!(words.contains(&"ForwardAgent=no".to_owned()) && !words.contains(&"-A".to_owned()));
        }
        let call = SshCall {
            port: Some(2222),
            key: Some("/k".into()),
            offers_only_key: true,
            ..SshCall::to("core@10.0.0.1", known)
        };
        let text = call.words().join(" ");
        for option in [
            "-o StrictHostKeyChecking=yes ",
            "-o UserKnownHostsFile=\"/my work/known_hosts\" ",
            "-o GlobalKnownHostsFile=/dev/null ",
            "-o UpdateHostKeys=no ",
            "-o ControlPath=none ",
            "-o HostKeyAlias=master-0.ocp4.example.com ",
            "-o HostKeyAlgorithms=ecdsa-sha2-nistp256 ",
            "-o IdentitiesOnly=yes ",
            "-p 2222 -i /k -- core@10.0.0.1",
        ] {
            assert!(text.contains(option), "{option}: {text}");
        }
    }
}
