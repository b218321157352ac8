//! Running a script on another host.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hardway_assets::secrets::SSH_KEY_TYPE;
use hardway_base::{HostKeyCheck, SshCall};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

/// A program that takes a shell script on its standard input and runs it where it belongs.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Program and arguments. Printed as they are: nothing secret is among them, only the paths of files.
    pub command: Vec<String>,
    /// Set for it, beside what it inherits.
    pub environment: Vec<(String, String)>,
    /// For the whole script.
    pub patience: Duration,
    /// Who is expected at the other end; none where that is no matter of ssh.
    pub host: Option<KnownHost>,
}

/// A host, and what it is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownHost {
    /// Where it is: an address, or a name.
    pub address: String,
    /// The file with its key, in the form of `known_hosts`.
    pub known_hosts: PathBuf,
    /// The name that the file has it under; none: the address.
    pub name: Option<String>,
    /// The fingerprint of its key, if that is one that hardway drew.
    pub fingerprint: Option<String>,
}

/// Who logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The user there.
    pub user: String,
    /// The port of the ssh server.
    pub port: u16,
    /// A private key.
    pub key: Option<PathBuf>,
    /// Whether the keys of the user's agent and home are left out.
    pub offers_only_key: bool,
}

/// It did not run, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The program could not be started.
    #[error("{program} cannot be started")]
    Start {
        /// Such as ssh.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Somebody else is there, or somebody whom nobody knows.
    #[error("{} is not talked to: {}", .host.who(), .host.stranger(shown.as_deref(), said))]
    Stranger {
        /// Who was expected.
        host: KnownHost,
        /// The fingerprint of the key that was shown, if ssh told it.
        shown: Option<String>,
        /// The last line that ssh said.
        said: String,
    },
    /// It ended with an error.
    #[error("{command} failed ({status}): {said}")]
    Failed {
        /// What was run.
        command: String,
        /// Its exit code, or the signal that ended it.
        status: String,
        /// The last lines it said.
        said: String,
    },
    /// It took too long.
    #[error("{command} did not end within {} s", .patience.as_secs())]
    Late {
        /// What was run.
        command: String,
        /// How long it was given.
        patience: Duration,
    },
}

impl Remote {
    /// As root on a CoreOS host, which is known by its key or not talked to.
    pub fn ssh(host: KnownHost, login: &Login) -> Self {
        let call = SshCall {
            destination: format!("{}@{}", login.user, host.address),
            port: (login.port != 22).then_some(login.port),
            key: login.key.clone(),
            offers_only_key: login.offers_only_key,
            host_key: HostKeyCheck::Known {
                file: host.known_hosts.clone(),
                name: host.name.clone(),
                kind: host.fingerprint.is_some().then_some(SSH_KEY_TYPE),
            },
        };
        let mut command = call.words();
        command.insert(1, "-T".to_owned());
        // At a lower level ssh keeps to itself why it would not have the host's key.
        let options = [
            "LogLevel=INFO",
            "ClearAllForwardings=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
        ];
        command.splice(2..2, options.iter().flat_map(|option| ["-o".to_owned(), (*option).to_owned()]));
        command.push("--".to_owned());
        if login.user != "root" {
            command.push("sudo".to_owned());
        }
        command.extend(["bash".to_owned(), "-s".to_owned()]);
        Self { command, environment: Vec::new(), patience: Duration::from_secs(60), host: Some(host) }
    }

    /// The same without becoming root there.
    #[must_use]
    pub fn as_the_user_itself(mut self) -> Self {
        self.command.retain(|word| word != "sudo");
        self
    }

    /// What the script prints.
    pub async fn run(&self, script: &str) -> Result<String, RemoteError> {
        let late = || RemoteError::Late { command: self.command.join(" "), patience: self.patience };
        tokio::time::timeout(self.patience, self.carry_out(script)).await.map_err(|_| late())?
    }

    /// The program that leads there, with the script told to it. Dropping the child kills it.
    pub(crate) async fn start(&self, script: &str) -> std::io::Result<Child> {
        let (program, arguments) =
            self.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut child = Command::new(program)
            .args(arguments)
            .envs(self.environment.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that ends before it has read everything says why itself.
            let _ = stdin.write_all(script.as_bytes()).await;
        }
        Ok(child)
    }

    async fn carry_out(&self, script: &str) -> Result<String, RemoteError> {
        let program = self.command.first().cloned().unwrap_or_default();
        let start = |source| RemoteError::Start { program: program.clone(), source };
        let child = self.start(script).await.map_err(start)?;
        let output = child.wait_with_output().await.map_err(start)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(self.failed(output.status, &String::from_utf8_lossy(&output.stderr)))
    }

    /// What an ending means that is not good.
    pub(crate) fn failed(&self, status: ExitStatus, said: &str) -> RemoteError {
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if let Some(host) =
            self.host.as_ref().filter(|_| status.code() == Some(SSH_FAILED) && is_refusal(said))
        {
            let shown = lines.iter().find_map(|line| line.strip_prefix("SHA256:"));
            let shown = shown.map(|hash| format!("SHA256:{}", hash.trim_end_matches('.')));
            let unknown = lines.iter().find(|line| line.contains("host key is known for"));
            let said = unknown.or(lines.last()).map_or_else(String::new, |line| (*line).to_owned());
            return RemoteError::Stranger { host: host.clone(), shown, said };
        }
        let said = lines[lines.len().saturating_sub(3)..].join(" | ");
        RemoteError::Failed { command: self.command.join(" "), status: status.to_string(), said }
    }
}

impl RemoteError {
    /// What to do about it, where that is known.
    pub fn fix(&self) -> Option<String> {
        let Self::Stranger { host, .. } = self else { return None };
        Some(format!(
            "see who has the address {}. At the console of the right machine, `ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub` shows its key: \
             is it another than {} says, then it booted from another config than this folder's, and has to boot from that; is it the same, \
             then another machine answers at its address",
            host.address,
            host.known_hosts.display(),
        ))
    }
}

impl KnownHost {
    fn who(&self) -> String {
        match &self.name {
            Some(name) => format!("{} ({name})", self.address),
            None => self.address.clone(),
        }
    }

    fn stranger(&self, shown: Option<&str>, said: &str) -> String {
        let file = self.known_hosts.display();
        let expected = self
            .fingerprint
            .as_ref()
            .map_or_else(|| format!("one of {file}"), |key| format!("{key}, as in {file}"));
        let shown = shown.map_or_else(|| said.to_owned(), |shown| format!("its key is {shown}"));
        format!("the ssh key expected there is {expected}, and {shown}; nothing was sent to it")
    }
}

/// What ssh ends with when it is ssh itself that failed.
const SSH_FAILED: i32 = 255;

/// Whether ssh turned away from the host's key: it has none of the kind that is asked for, another, or an unknown one.
fn is_refusal(said: &str) -> bool {
    [
        "Host key verification failed",
        "no matching host key type found",
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
    ]
    .iter()
    .any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn a_stranger_is_told_from_other_failures() {
        let host = KnownHost {
            address: "10.0.0.1".to_owned(),
            known_hosts: "auth/known_hosts".into(),
            name: Some("bootstrap.ocp4.example.com".to_owned()),
            fingerprint: Some("SHA256:ours".to_owned()),
        };
        let login = Login { user: "core".to_owned(), port: 22, key: None, offers_only_key: false };
        let remote = Remote::ssh(host, &login);
        let ended = |code: i32, said: &str| remote.failed(ExitStatus::from_raw(code << 8), said);
        let changed = "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nThe fingerprint for the ECDSA key sent by the remote host is\nSHA256:theirs.\nHost key verification failed.\n";
        assert_eq!(
            ended(255, changed).to_string(),
            "10.0.0.1 (bootstrap.ocp4.example.com) is not talked to: the ssh key expected there is SHA256:ours, as in auth/known_hosts, and its key is SHA256:theirs; nothing was sent to it"
        );
        let other_kind = "Unable to negotiate with 10.0.0.1 port 22: no matching host key type found. Their offer: ssh-ed25519\n";
        let error = ended(255, other_kind);
        assert!(error.to_string().contains("Their offer: ssh-ed25519; nothing was sent"), "{error}");
        assert!(error.fix().unwrap().contains("the address 10.0.0.1"));
        // A script that says the same is no ssh.
        let error = ended(1, changed);
        assert!(matches!(error, RemoteError::Failed { .. }) && error.fix().is_none(), "{error}");
    }
}
