//! A working folder of a test, and runs of the program in it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fs_err as fs;
use tempfile::TempDir;

use crate::{Ran, Running, Snapshot};

/// The second at which the clocks of tests stand still, unless they must run.
pub const NOW: &str = "2026-11-15T00:00:00Z";

/// A folder that goes away with the test, and the program that works in it.
#[derive(Debug)]
pub struct Work {
    dir: TempDir,
    program: PathBuf,
    clock: Clock,
    called: Called,
    /// Where programs are looked for first.
    first: Option<PathBuf>,
    may_show_secrets: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    StandsStill,
    Runs,
}

/// How the program knows the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called {
    Inside,
    ByName,
}

impl Work {
    /// An empty folder for this program, which is `env!("CARGO_BIN_EXE_hardway")` where it is built.
    ///
    /// # Panics
    /// When there is no room.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        // In memory where that is to be had: hundreds of files are written for every test.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let (clock, called) = (Clock::StandsStill, Called::Inside);
        Self { dir, program: program.into(), clock, called, first: None, may_show_secrets: false }
    }

    /// The same on a disk, where writing takes its time and large files have room.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn on_disk(&self) -> Self {
        let disk = Self { dir: tempfile::tempdir().unwrap(), ..self.settings() };
        Snapshot::of(self.root()).restore(disk.root(), |_| true);
        disk
    }

    /// With both input files.
    #[must_use]
    pub fn with_inputs(self, config: &str, inventory: &str) -> Self {
        self.write("install-config.yaml", config);
        self.write("inventory.yaml", inventory);
        self
    }

    /// With everything that a folder had at another time.
    #[must_use]
    pub fn with(self, files: &Snapshot) -> Self {
        files.restore(self.root(), |_| true);
        self
    }

    /// With the computer's clock.
    #[must_use]
    pub fn with_real_clock(self) -> Self {
        Self { clock: Clock::Runs, ..self }
    }

    /// The program runs elsewhere, and is told the folder with `--dir`.
    #[must_use]
    pub fn from_outside(self) -> Self {
        Self { called: Called::ByName, ..self }
    }

    /// Programs are looked for in this folder of it first.
    #[must_use]
    pub fn with_programs_of(self, name: &str) -> Self {
        Self { first: Some(self.path(name)), ..self }
    }

    /// Runs may print secrets: they are what is asked for.
    #[must_use]
    pub fn may_show_secrets(self) -> Self {
        Self { may_show_secrets: true, ..self }
    }

    /// A new folder with some of the files and folders of this one: those whose paths begin so.
    ///
    /// # Panics
    /// When there is no room.
    #[must_use]
    pub fn copy(&self, beginnings: &[&str]) -> Self {
        let copy = self.settings();
        let wanted = |path: &str| beginnings.iter().any(|beginning| path.starts_with(beginning));
        Snapshot::of(self.root()).restore(copy.root(), wanted);
        copy
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// A file of it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Whether it has a file.
    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The text of a file.
    ///
    /// # Panics
    /// When there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a file, and makes the folder it is in.
    ///
    /// # Panics
    /// When that does not work.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a program.
    ///
    /// # Panics
    /// When that does not work.
    pub fn write_program(&self, name: &str, text: &str) {
        self.write(name, text);
        self.set_mode(name, 0o755);
    }

    /// Removes a file.
    ///
    /// # Panics
    /// When there is none.
    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Replaces a text that stands in the file once.
    ///
    /// # Panics
    /// When it does not.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(from).count(), 1, "{from} in {name}:\n{text}");
        self.write(name, text.replace(from, to));
    }

    /// The permissions of a file.
    ///
    /// # Panics
    /// When there is none.
    pub fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// Changes the permissions of a file.
    ///
    /// # Panics
    /// When there is none.
    pub fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    /// The program with these words, and nothing of the host's own settings that would change what it says.
    ///
    /// # Panics
    /// When there is no PATH to add to.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        match self.called {
            Called::Inside => command.current_dir(self.root()),
            Called::ByName => command.arg("--dir").arg(self.root()),
        };
        command.args(args).stdin(Stdio::null()).env("HARDWAY_CHECK_ADVICE", "1");
        for name in LEFT_OUT {
            command.env_remove(name);
        }
        if self.clock == Clock::StandsStill {
            command.env("HARDWAY_NOW", NOW);
        }
        if let Some(first) = &self.first {
            command.env("PATH", format!("{}:{}", first.display(), std::env::var("PATH").unwrap()));
        }
        command
    }

    /// A run to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_command(self.command(args))
    }

    /// The same at another time.
    pub fn run_at(&self, now: &str, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.env("HARDWAY_NOW", now);
        self.run_command(command)
    }

    /// A run that must go well.
    pub fn ok(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}\n{}", ran.stdout, ran.stderr);
        ran
    }

    /// A run that must end with this code and touch nothing.
    pub fn refused(&self, code: i32, args: &[&str]) -> Ran {
        let before = Snapshot::of(self.root());
        let ran = self.run(args).expect(code);
        before.assert_untouched(&Snapshot::of(self.root()));
        ran
    }

    /// A run that goes on, until it is dropped.
    pub fn start(&self, args: &[&str]) -> Running {
        Running::start(self.command(args))
    }

    fn run_command(&self, mut command: Command) -> Ran {
        let ran = Ran::from(command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")));
        if self.may_show_secrets { ran } else { ran.without_secrets() }
    }

    /// Another folder for the same program, called the same way.
    fn settings(&self) -> Self {
        let Self { clock, called, may_show_secrets, .. } = *self;
        Self { clock, called, may_show_secrets, first: self.first.clone(), ..Self::new(&self.program) }
    }
}

const LEFT_OUT: [&str; 6] = [
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "HARDWAY_NOW",
    "KUBECONFIG",
    "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION",
];
