//! Runs of the program: one that has ended, and one that goes on.

use std::fs::File;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::inputs::AUTH;
use crate::succeed;

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    /// None when a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said to its operator.
    pub stderr: String,
}

impl Ran {
    /// Runs a command to its end. It must show nothing secret.
    ///
    /// # Panics
    /// When it does, or cannot be started.
    pub fn of(mut command: Command) -> Self {
        Self::from(command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))).without_secrets()
    }

    /// What else it left behind.
    ///
    /// # Panics
    /// When it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }

    /// It ended with this code.
    ///
    /// # Panics
    /// When it did not.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard error has this text.
    ///
    /// # Panics
    /// When it has not.
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not in:\n{}", self.stderr);
        self
    }

    /// Standard error does not have this text.
    ///
    /// # Panics
    /// When it has.
    pub fn does_not_say(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "{text:?} is in:\n{}", self.stderr);
        self
    }

    pub(crate) fn without_secrets(self) -> Self {
        for secret in [AUTH, "hush-hush", "PRIVATE KEY-----"] {
            let shows = self.stdout.contains(secret) || self.stderr.contains(secret);
            assert!(!shows, "{secret} shows: {self:#?}");
        }
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// A run that has not ended. It is killed when this is dropped.
///
/// What it prints and says goes to files that have no name: it never waits for a reader, and neither does the test.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: File,
    stderr: File,
}

/// Emulated machines on a busy computer; nothing is measured with it.
const PATIENCE: Duration = Duration::from_secs(12 * 60);

impl Running {
    /// Starts a command.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(mut command: Command) -> Self {
        let stdout = tempfile::tempfile().unwrap();
        command.stdout(stdout.try_clone().unwrap());
        Self::spawn(command, stdout)
    }

    /// The same with its standard output left to the command.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn with_its_own_output(command: Command) -> Self {
        Self::spawn(command, tempfile::tempfile().unwrap())
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it said so far.
    pub fn said(&self) -> String {
        all_of(&self.stderr)
    }

    /// What it printed so far.
    pub fn printed(&self) -> String {
        all_of(&self.stdout)
    }

    /// Waits until it says something.
    ///
    /// # Panics
    /// When it ends before, or hangs.
    pub fn until_said(&mut self, words: &str) {
        self.until(words, |said| said.contains(words).then_some(()));
    }

    /// Waits until it says something, and gives the rest of that line.
    ///
    /// # Panics
    /// When it ends before, or hangs.
    pub fn line_after(&mut self, words: &str) -> String {
        self.until(words, |said| {
            let (_, rest) = said.split_once(words)?;
            rest.split_once('\n').map(|(line, _)| line.to_owned())
        })
    }

    /// Waits until something is so that is not its own, as long as it runs.
    ///
    /// # Panics
    /// When it ends before, or hangs.
    pub fn until_so(&mut self, what: &str, is_so: impl Fn() -> bool) {
        self.until(what, |_| is_so().then_some(()));
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it has ended.
    pub fn signal(&self, name: &str) {
        succeed(Command::new("kill").args(["-s", name, &self.id().to_string()]));
    }

    /// As a person with Ctrl-C does; its exit code.
    pub fn interrupt(&mut self) -> Option<i32> {
        self.signal("INT");
        self.exit()
    }

    /// Waits for its end; its exit code.
    ///
    /// # Panics
    /// When it hangs.
    pub fn exit(&mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(began.elapsed() < PATIENCE, "it hangs: {}", self.said());
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it hangs.
    pub fn end(mut self) -> Ran {
        let code = self.exit();
        Ran { code, stdout: self.printed(), stderr: self.said() }
    }

    /// A line of `/proc/ID/status`, in kilobytes.
    ///
    /// # Panics
    /// When it has ended.
    pub fn kilobytes(&self, name: &str) -> u64 {
        let text = fs_err::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_matches([':', ' ', '\t']).strip_suffix(" kB").unwrap().parse().unwrap()
    }

    fn spawn(mut command: Command, stdout: File) -> Self {
        let stderr = tempfile::tempfile().unwrap();
        command.stdin(Stdio::null()).stderr(stderr.try_clone().unwrap());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, stdout, stderr }
    }

    fn until<T>(&mut self, what: &str, look: impl Fn(&str) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            // Asked first: what it said with its last breath counts.
            let ended = self.child.try_wait().unwrap();
            let said = self.said();
            if let Some(found) = look(&said) {
                return found;
            }
            let goes_on = ended.is_none() && began.elapsed() < PATIENCE;
            assert!(goes_on, "{what}: {ended:?}: {said}\n{}", self.printed());
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PAUSE: Duration = Duration::from_millis(50);

/// From the beginning, wherever the program has got to: both have the same place in the file.
fn all_of(file: &File) -> String {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], length as u64).unwrap() {
            0 => break,
            count => length += count,
        }
    }
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}
