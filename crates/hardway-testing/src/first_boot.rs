//! The real Ignition, run against a folder instead of a machine's disk.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fs_err as fs;
use serde_json::Value;

use crate::tools::needed;

/// A machine: a folder that Ignition takes for its disk. Needs root, for owners and users.
pub struct FirstBoot {
    program: PathBuf,
    dir: tempfile::TempDir,
}

/// What a stage came to.
#[derive(Debug)]
pub struct Stage {
    /// Whether it was done.
    pub succeeded: bool,
    /// All that Ignition said.
    pub log: String,
}

impl FirstBoot {
    /// `None` where the tools are not built: `./test.sh` builds them.
    ///
    /// # Panics
    /// When the folder cannot be made.
    pub fn new() -> Option<Self> {
        let bin = needed("HARDWAY_TOOLS_BIN")?;
        let machine = Self { program: bin.join("ignition"), dir: tempfile::tempdir().unwrap() };
        let etc = machine.path("/etc");
        fs::create_dir_all(&etc).unwrap();
        fs::create_dir_all(machine.path("/home")).unwrap();
        for (name, text) in [
            ("passwd", "root:x:0:0:root:/root:/bin/bash\n"),
            ("group", "root:x:0:\n"),
            ("shadow", "root:*:19000:0:99999:7:::\n"),
            ("gshadow", "root:*::\n"),
        ] {
            fs::write(etc.join(name), text).unwrap();
        }
        Some(machine)
    }

    /// A path of the machine as seen from here.
    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("root").join(path.trim_start_matches('/'))
    }

    /// The first boot's network part: fetches what the pointer points to.
    pub fn fetch(&self, pointer: &Value) -> Stage {
        self.wait(self.start_fetch(pointer))
    }

    /// The same, without waiting.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start_fetch(&self, pointer: &Value) -> Child {
        fs::write(self.dir.path().join("config.ign"), pointer.to_string()).unwrap();
        self.start("fetch")
    }

    /// Writes files, units and users.
    pub fn files(&self) -> Stage {
        self.wait(self.start("files"))
    }

    /// What Ignition has said so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// The whole config after merging.
    ///
    /// # Panics
    /// Before it was fetched.
    pub fn merged(&self) -> Value {
        serde_json::from_slice(&fs::read(self.dir.path().join("cache.json")).unwrap()).unwrap()
    }

    /// Waits for a stage.
    ///
    /// # Panics
    /// When it does not end.
    pub fn wait(&self, mut child: Child) -> Stage {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return Stage { succeeded: status.success(), log: self.log() };
            }
            if start.elapsed() > Duration::from_secs(180) {
                let _ = child.kill();
                let _ = child.wait();
                panic!("Ignition does not end:\n{}", self.log());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn start(&self, stage: &str) -> Child {
        let own = |name: &str| self.dir.path().join(name);
        let log = fs::File::create(own("log")).unwrap().into_parts().0;
        Command::new(&self.program)
            .args(["--platform", "file", "--log-to-stdout", "--stage", stage, "--root"])
            .arg(self.path("/"))
            .args([Path::new("--config-cache"), &own("cache.json"), Path::new("--state-file"), &own("state")])
            .args([Path::new("--neednet"), &own("neednet")])
            .env("IGNITION_CONFIG_FILE", own("config.ign"))
            .env("IGNITION_SYSTEM_CONFIG_DIR", own("system"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap()
    }
}
