//! The real Ignition, run against a folder instead of a machine's disk.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hardway_testing::needed;
use serde_json::Value;

/// A machine: a folder that Ignition takes for its disk. Needs root, for owners and users.
pub(crate) struct Machine {
    program: PathBuf,
    dir: tempfile::TempDir,
}

/// What a stage came to.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) succeeded: bool,
    pub(crate) log: String,
}

impl Machine {
    /// `None` where the tools are not built: `./test.sh` builds them.
    pub(crate) fn new() -> Option<Self> {
        let bin = needed("HARDWAY_TOOLS_BIN")?;
        let machine = Self { program: bin.join("ignition"), dir: tempfile::tempdir().unwrap() };
        let etc = machine.path("/etc");
        std::fs::create_dir_all(&etc).unwrap();
        std::fs::create_dir_all(machine.path("/home")).unwrap();
        for (name, text) in [
            ("passwd", "root:x:0:0:root:/root:/bin/bash\n"),
            ("group", "root:x:0:\n"),
            ("shadow", "root:*:19000:0:99999:7:::\n"),
            ("gshadow", "root:*::\n"),
        ] {
            std::fs::write(etc.join(name), text).unwrap();
        }
        Some(machine)
    }

    /// A path of the machine as seen from here.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("root").join(path.trim_start_matches('/'))
    }

    /// The first boot's network part: fetches what the pointer points to.
    pub(crate) fn fetch(&self, pointer: &Value) -> Stage {
        self.wait(self.start_fetch(pointer))
    }

    pub(crate) fn start_fetch(&self, pointer: &Value) -> Child {
        std::fs::write(self.dir.path().join("config.ign"), pointer.to_string()).unwrap();
        self.start("fetch")
    }

    /// Writes files, units and users.
    pub(crate) fn files(&self) -> Stage {
        self.wait(self.start("files"))
    }

    /// What Ignition has said so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// The whole config after merging.
    pub(crate) fn merged(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.dir.path().join("cache.json")).unwrap()).unwrap()
    }

    pub(crate) fn wait(&self, mut child: Child) -> Stage {
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
        let log = std::fs::File::create(own("log")).unwrap();
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
