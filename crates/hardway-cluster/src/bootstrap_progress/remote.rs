//! Running a script on another host.

use std::net::IpAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// A program that takes a shell script on its standard input and runs it where it belongs.
#[derive(Clone, Debug)]
pub struct Remote {
    /// Program and arguments. Printed as they are: nothing secret is among them, only the paths of files.
    pub command: Vec<String>,
    /// Set for it, beside what it inherits.
    pub environment: Vec<(String, String)>,
    /// For the whole script.
    pub patience: Duration,
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
    /// As root on a CoreOS host. The host's key is not known before its first boot; it is taken on first sight and kept in
    /// a file of this cluster, so that another host at that address is noticed.
    pub fn ssh(address: IpAddr, port: u16, user: &str, key: &Path, known_hosts: &Path) -> Self {
        let mut command: Vec<String> =
            ["ssh", "-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=accept-new"]
                .map(str::to_owned)
                .into();
        let options = [
            "IdentitiesOnly=yes".to_owned(),
            "ConnectTimeout=10".to_owned(),
            "ServerAliveInterval=5".to_owned(),
            "ServerAliveCountMax=3".to_owned(),
            "LogLevel=ERROR".to_owned(),
            format!("UserKnownHostsFile={}", known_hosts.display()),
        ];
        command.extend(options.into_iter().flat_map(|option| ["-o".to_owned(), option]));
        command.extend(["-i".to_owned(), key.display().to_string(), "-p".to_owned(), port.to_string()]);
        command.extend([format!("{user}@{address}"), "--".to_owned()]);
        if user != "root" {
            command.push("sudo".to_owned());
        }
        command.extend(["bash".to_owned(), "-s".to_owned()]);
        Self { command, environment: Vec::new(), patience: Duration::from_secs(60) }
    }

    /// The same with whatever keys ssh finds for this user: those of the agent, and those in their usual places.
    #[must_use]
    pub fn with_keys_of_this_user(mut self) -> Self {
        let key = self.command.iter().position(|word| word == "-i");
        if let Some(key) = key {
            self.command.drain(key..(key + 2).min(self.command.len()));
        }
        let only = self.command.iter().position(|word| word == "IdentitiesOnly=yes");
        if let Some(only) = only.filter(|only| *only > 0) {
            self.command.drain(only - 1..=only);
        }
        self
    }

    /// The same without becoming root there.
    #[must_use]
    pub fn as_the_user_itself(mut self) -> Self {
        self.command.retain(|word| word != "sudo");
        self
    }

    /// The same with the keys of this host's ssh agent at hand there, to go on to other hosts.
    #[must_use]
    pub fn forwarding_agent(mut self) -> Self {
        self.command.insert(1, "-A".to_owned());
        self
    }

    /// What the script prints.
    pub async fn run(&self, script: &str) -> Result<String, RemoteError> {
        let shown = self.command.join(" ");
        let late = || RemoteError::Late { command: shown.clone(), patience: self.patience };
        tokio::time::timeout(self.patience, self.carry_out(script, &shown)).await.map_err(|_| late())?
    }

    async fn carry_out(&self, script: &str, shown: &str) -> Result<String, RemoteError> {
        let (program, arguments) =
            self.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let start = |source| RemoteError::Start { program: program.to_owned(), source };
        let mut child = Command::new(program)
            .args(arguments)
            .envs(self.environment.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(start)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that ends before it has read everything says why itself.
            let _ = stdin.write_all(script.as_bytes()).await;
        }
        let output = child.wait_with_output().await.map_err(start)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let said = said[said.len().saturating_sub(3)..].join(" | ");
        Err(RemoteError::Failed { command: shown.to_owned(), status: output.status.to_string(), said })
    }
}
