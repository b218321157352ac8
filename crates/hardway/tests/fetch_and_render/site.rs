//! A working directory whose inventory names a release in a registry on loopback.

use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use hardway_assets::release_payload::sample;
use hardway_release::render::Podman;
use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran, Snapshot, Work, skipped};

use crate::containers::{Containers, stand_in};
use crate::fixture::image::Image;
use crate::fixture::registry::Registry;
use crate::fixture::release::ReleaseImage;
use crate::work;

pub(crate) const CREATE: [&str; 2] = ["create", "ignition-configs"];
pub(crate) const REPOSITORY: &str = "ocp/release";
pub(crate) const TAG: &str = "4.18.99-x86_64";

pub(crate) struct Site {
    pub(crate) registry: Registry,
    pub(crate) release: Image,
    pub(crate) work: Work,
    /// Where the cache is.
    pub(crate) home: Work,
    pub(crate) containers: &'static Containers,
}

impl Site {
    /// With the release by tag, from a registry that is open to everybody and speaks plain HTTP. Nothing where podman
    /// is missing.
    pub(crate) fn new() -> Option<Self> {
        Self::of(|release| release)
    }

    /// The same with another release.
    pub(crate) fn of(change: impl FnOnce(ReleaseImage) -> ReleaseImage) -> Option<Self> {
        let containers = stand_in()?;
        let registry = Registry::open();
        let release = change(release(containers)).build();
        registry.pusher(REPOSITORY).image(&release, Some(TAG));
        let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
        let site = Self { registry, release, work, home: work::empty(), containers };
        site.name(&site.by_tag());
        Some(site)
    }

    pub(crate) fn by_tag(&self) -> String {
        format!("{}/{REPOSITORY}:{TAG}", self.registry.address())
    }

    pub(crate) fn by_digest(&self) -> String {
        format!("{}/{REPOSITORY}@{}", self.registry.address(), self.release.digest())
    }

    /// Names a release in the inventory.
    pub(crate) fn name(&self, image: &str) {
        self.work.write("inventory.yaml", INVENTORY.replace("image: sample", &format!("image: {image}")));
    }

    /// The program, with a cache of its own, the podman of the tests, and nothing of the host's own settings.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_with(&self.containers.podman, args)
    }

    /// The same with another podman.
    pub(crate) fn command_with(&self, podman: &Podman, args: &[&str]) -> Command {
        let mut command = self.work.command(args);
        work::at_home(&mut command, self.home.root());
        let options: Vec<&str> =
            podman.options.iter().chain(&podman.run_options).map(String::as_str).collect();
        command.env("HARDWAY_PODMAN_OPTIONS", options.join(" "));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args))
    }

    /// `create ignition-configs` from the registry.
    pub(crate) fn create(&self, more: &[&str]) -> Ran {
        self.run(&[&CREATE[..], &["--plain-http"], more].concat())
    }

    /// On a host where no program is to be found: podman least of all.
    pub(crate) fn without_podman(&self, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.env("PATH", self.home.path("nothing"));
        Ran::of(command)
    }

    /// A run that may ask nobody, start nothing, and change nothing.
    pub(crate) fn assert_settled(&self) {
        let before = Snapshot::of(self.work.root());
        self.without_podman(&CREATE).expect(0).says("as kept in release/").says("0 files made");
        before.assert_untouched(&Snapshot::of(self.work.root()));
    }

    /// As if nothing had ever been fetched.
    pub(crate) fn forget(&self) {
        fs::remove_dir_all(self.home.path("cache")).unwrap();
    }

    /// The same working directory and home, with a registry that nobody can reach any more.
    pub(crate) fn without_registry(self) -> Self {
        let gone = Registry::open();
        let Self { registry, release, work, home, containers } = self;
        drop(registry);
        Self { registry: gone, release, work, home, containers }
    }

    /// The name of a pool's rendered config.
    pub(crate) fn rendered(&self, pool: &str) -> String {
        let text = self.work.read(&format!("release/rendered/{pool}.yaml"));
        let name = text.lines().find_map(|line| line.trim().strip_prefix("name: rendered-"));
        format!("rendered-{}", name.unwrap_or_else(|| panic!("no name in:\n{text}")))
    }
}

/// A release with every image that is asked for; the operator is the stand-in.
pub(crate) fn release(containers: &Containers) -> ReleaseImage {
    let with = |name: &str| if name == "machine-config-operator" { Some(&containers.image) } else { None };
    let images = sample();
    let images = images.images.iter().map(|(name, image)| {
        let image = with(name).cloned().unwrap_or_else(|| image.to_owned());
        (name.to_owned(), image)
    });
    ReleaseImage { images: images.collect(), ..ReleaseImage::default() }
}

/// Ignition's own word on every config of a working directory, from each validator that is here.
pub(crate) fn validate(work: &Work) {
    let built = std::env::var_os("HARDWAY_TOOLS_BIN").map(|bin| Path::new(&bin).join("ignition-validate"));
    let debian = PathBuf::from("/usr/bin/ignition-validate");
    let validators: Vec<PathBuf> = built.into_iter().chain([debian]).filter(|path| path.exists()).collect();
    if validators.is_empty() {
        skipped("there is no ignition-validate");
    }
    let made = Snapshot::of(work.root());
    let configs: Vec<&str> = made.paths().filter(|path| path.ends_with(".ign")).collect();
    assert!(configs.iter().any(|path| path.starts_with("ignition/")), "{configs:?}");
    for (path, validator) in configs.iter().flat_map(|path| validators.iter().map(move |v| (path, v))) {
        let output = Command::new(validator).arg(work.path(path)).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("warning"), "{path}: {said}");
    }
}
