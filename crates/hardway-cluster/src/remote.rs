//! Running a script on another host.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use hardway_assets::secrets::SSH_KEY_TYPE;
use hardway_base::{HostKeyCheck, SshCall, shell_word};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};

/// More than any script of hardway's prints.
const LARGEST_ANSWER: usize = 64 << 20;

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
    #[error("cannot start {program}")]
    Start {
        /// Such as ssh.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Somebody else is there, or somebody whom nobody knows.
    #[error("refusing to connect to {}: {}", .host.who(), .host.stranger(shown.as_deref(), said))]
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
    /// It does not stop talking.
    #[error("{command} says more than {} MiB", LARGEST_ANSWER >> 20)]
    TooMuch {
        /// What was run.
        command: String,
    },
    /// It took too long.
    #[error("{command} did not finish within {} s", .patience.as_secs())]
    Late {
        /// What was run.
        command: String,
        /// How long it was given.
        patience: Duration,
    },
}

impl Remote {
    /// The same for a person to type: nobody is asked to take a key on first sight.
    pub fn by_hand(host: &KnownHost, login: &Login) -> String {
        typed(&ssh_call(host, login).words())
    }

    /// As root on a CoreOS host, which is known by its key or not talked to.
    pub fn ssh(host: KnownHost, login: &Login) -> Self {
        let mut command = ssh_call(&host, login).words();
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

    /// The same with this patience.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// What the script prints, with a file behind it on its standard input: a shell reads a script from a pipe line by line, and leaves
    /// what comes behind to the commands of its last line.
    pub async fn feed(&self, script: &str, file: &Path) -> Result<String, RemoteError> {
        let late = || RemoteError::Late { command: self.command.join(" "), patience: self.patience };
        let fed = self.carry_out(script, Some(file));
        tokio::time::timeout(self.patience, fed).await.map_err(|_| late())?
    }

    /// What the script prints.
    pub async fn run(&self, script: &str) -> Result<String, RemoteError> {
        let late = || RemoteError::Late { command: self.command.join(" "), patience: self.patience };
        tokio::time::timeout(self.patience, self.carry_out(script, None)).await.map_err(|_| late())?
    }

    /// The program that leads there, with the script told to it. Dropping the child kills it.
    pub(crate) async fn start(&self, script: &str) -> std::io::Result<Child> {
        let mut child = self.spawn()?;
        tell(child.stdin.take(), script, None).await;
        Ok(child)
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let (program, arguments) =
            self.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        Command::new(program)
            .args(arguments)
            .envs(self.environment.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    async fn carry_out(&self, script: &str, file: Option<&Path>) -> Result<String, RemoteError> {
        let program = self.command.first().cloned().unwrap_or_default();
        let start = |source| RemoteError::Start { program: program.clone(), source };
        let mut file = match file {
            Some(file) => Some(tokio::fs::File::open(file).await.map_err(start)?),
            None => None,
        };
        let mut child = self.spawn().map_err(start)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let tell = async {
            tell(stdin, script, file.as_mut()).await;
            Ok(())
        };
        let ((), stdout, stderr) = tokio::try_join!(tell, bounded(stdout), bounded(stderr)).map_err(start)?;
        if stdout.len().max(stderr.len()) > LARGEST_ANSWER {
            return Err(RemoteError::TooMuch { command: self.command.join(" ") });
        }
        let status = child.wait().await.map_err(start)?;
        if status.success() {
            return Ok(String::from_utf8_lossy(&stdout).into_owned());
        }
        Err(self.failed(status, &String::from_utf8_lossy(&stderr)))
    }

    /// The call as a person types it: with the host's key, so that nobody else is talked to.
    pub fn typed(&self) -> String {
        typed(&self.command)
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
            "find out which machine has the address {}. Run `ssh-keygen -lf /etc/ssh/ssh_host_ecdsa_key.pub` at the console of \
             the right machine: if its key differs from {}, it booted from a config that is not from this folder and must be \
             reinstalled; if the key is the same, another machine uses its address",
            host.address,
            host.known_hosts.display(),
        ))
    }
}

/// A program that ends before it has read everything says why itself.
async fn tell(stdin: Option<ChildStdin>, script: &str, file: Option<&mut tokio::fs::File>) {
    let Some(mut stdin) = stdin else { return };
    if stdin.write_all(script.as_bytes()).await.is_err() {
        return;
    }
    if let Some(file) = file {
        let _ = tokio::io::copy(file, &mut stdin).await;
    }
    let _ = stdin.shutdown().await;
}

/// As much as is taken, and a byte more where there is more. The host may be anybody's by now.
async fn bounded(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(LARGEST_ANSWER as u64 + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

fn typed(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

fn ssh_call(host: &KnownHost, login: &Login) -> SshCall {
    SshCall {
        destination: format!("{}@{}", login.user, host.address),
        port: (login.port != 22).then_some(login.port),
        key: login.key.clone(),
        offers_only_key: login.offers_only_key,
        host_key: HostKeyCheck::Known {
            file: host.known_hosts.clone(),
            name: host.name.clone(),
            kind: host.fingerprint.is_some().then_some(SSH_KEY_TYPE),
        },
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
        format!("expected ssh host key {expected}, but {shown}; nothing was sent")
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
        let by_hand = Remote::by_hand(&host, &login);
        assert!(
            by_hand.contains("-o StrictHostKeyChecking=yes -o 'UserKnownHostsFile=\"auth/known_hosts\"' "),
            "{by_hand}"
        );
        assert!(by_hand.contains("-o HostKeyAlias=bootstrap.ocp4.example.com "), "{by_hand}");
        assert!(by_hand.ends_with(" core@10.0.0.1"), "{by_hand}");
        let remote = Remote::ssh(host, &login);
        let ended = |code: i32, said: &str| remote.failed(ExitStatus::from_raw(code << 8), said);
        let changed = "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nThe fingerprint for the ECDSA key sent by the remote host is\nSHA256:theirs.\nHost key verification failed.\n";
        assert_eq!(
            ended(255, changed).to_string(),
            "refusing to connect to 10.0.0.1 (bootstrap.ocp4.example.com): expected ssh host key SHA256:ours, as in auth/known_hosts, but its key is SHA256:theirs; nothing was sent"
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
