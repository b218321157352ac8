//! A place to work in, with a registry in reach and nothing of the host's own settings.

use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_testing::{Ran, Work};

use crate::fixture::registry::Registry;
use crate::fixture::world::{TAG, World, world};
use crate::work;

/// A working folder, the user's home, and a registry with a release.
pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) work: Work,
    pub(crate) home: Work,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::with(world())
    }

    pub(crate) fn with(world: World) -> Self {
        Self { world, work: work::empty(), home: work::empty() }
    }

    /// The release by tag.
    pub(crate) fn tag(&self) -> String {
        self.world.registry.image(TAG).to_string()
    }

    /// The release by digest.
    pub(crate) fn digest(&self) -> String {
        let digest = self.world.release.digest();
        self.world.registry.image(&format!("ocp/release@{digest}")).to_string()
    }

    /// `hardway release …`, of somebody who is nobody yet.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.work.command(&[&["release"], args].concat());
        work::at_home(&mut command, self.home.root());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args))
    }

    pub(crate) fn ok(&self, args: &[&str]) -> Ran {
        self.run(args).expect(0)
    }

    /// With the registry's plain HTTP, which all registries of these tests speak unless they are about TLS.
    pub(crate) fn plain(&self, args: &[&str]) -> Ran {
        self.run(&[args, &["--plain-http"]].concat())
    }

    /// As if nothing had ever been fetched.
    pub(crate) fn forget(&self) {
        let cache = self.home.path("cache");
        if cache.exists() {
            fs_err::remove_dir_all(cache).unwrap();
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work.path(name)
    }
}

/// A docker config JSON for one registry.
pub(crate) fn logins(registry: &Registry, login: &str) -> String {
    let auth = STANDARD.encode(login);
    format!(r#"{{"auths":{{"{}":{{"auth":"{auth}"}}}}}}"#, registry.address())
}
