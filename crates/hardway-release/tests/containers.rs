//! The stand-in's image, and the podman options that this host needs.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use hardway_base::{hex, podman};
use hardway_release::render::{CommandLine, Podman};
use hardway_testing::skipped;
use sha2::{Digest as _, Sha256};

/// Podman as it works here, and an image by digest.
pub(crate) struct Containers {
    pub(crate) podman: Podman,
    pub(crate) image: String,
}

impl Containers {
    /// Does something with a podman whose store is empty: every image has to be pulled. Nothing of it stays.
    pub(crate) fn with_empty_store<T>(&self, work: impl FnOnce(&Podman) -> T) -> T {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let run_root = store.iter().find_map(|option| option.strip_prefix("--runroot=")).unwrap().to_owned();
        let others = self.podman.options.iter().filter(|option| !option.contains("root="));
        let options = store.iter().chain(others).cloned().collect();
        let result = work(&Podman { options, ..self.podman.clone() });
        let _ = fs_err::remove_dir_all(run_root);
        result
    }
}

/// The stand-in, built once. Nothing where podman or Go is missing, which CI may not do.
pub(crate) fn stand_in() -> Option<&'static Containers> {
    static BUILT: OnceLock<Option<Containers>> = OnceLock::new();
    BUILT.get_or_init(build).as_ref()
}

/// Runs a command line as it stands.
pub(crate) fn output(line: &CommandLine) -> Output {
    let environment = line.environment.iter().map(|(name, value)| (name, value));
    Command::new(&line.program).args(&line.arguments).envs(environment).output().unwrap()
}

/// What it said, on both streams.
pub(crate) fn said(output: &Output) -> String {
    [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

fn build() -> Option<Containers> {
    let has = |program: &str, argument: &str| Command::new(program).arg(argument).output().is_ok();
    if !has("podman", "--version") || !has("go", "version") {
        skipped("podman and Go are not both here");
        return None;
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mco-stand-in");
    fs_err::create_dir_all(&dir).unwrap();
    // Another test program may want the same.
    let turn = std::fs::File::create(dir.join("lock")).unwrap();
    turn.lock().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hardway-release/tests/mco-stand-in");
    let built = Command::new("go")
        .current_dir(&source)
        .env("CGO_ENABLED", "0")
        .args(["build", "-mod=readonly", "-trimpath", "-o"])
        .arg(dir.join("mco-stand-in"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", said(&built));
    fs_err::copy(source.join("Containerfile"), dir.join("Containerfile")).unwrap();
    let tried: Vec<String> =
        match candidates(&dir).into_iter().map(|podman| image(podman, &dir)).find(Result::is_ok) {
            Some(Ok(containers)) => return Some(containers),
            _ => candidates(&dir).into_iter().filter_map(|podman| image(podman, &dir).err()).collect(),
        };
    panic!("podman runs no container here:\n{}", tried.join("\n"));
}

/// Plain podman first; then what hosts need that are without fuse or overlay, or whose cgroups podman may not touch.
fn candidates(dir: &Path) -> Vec<Podman> {
    let needed: Vec<String> = podman::limits_here().into_iter().chain(podman::runtime_here()).collect();
    let mut candidates = Vec::new();
    for (i, storage) in [None, Some("--storage-driver=vfs")].into_iter().enumerate() {
        for cgroups in [None, Some("--cgroups=disabled")] {
            let mut options = store(&dir.join(format!("store-{i}")));
            options.extend(storage.map(str::to_owned));
            let run_options = needed.iter().cloned().chain(cgroups.map(str::to_owned)).collect();
            candidates.push(Podman { options, run_options, ..Podman::default() });
        }
    }
    candidates
}

/// A store of our own: nothing is left among the user's images. Podman refuses a run root of more than 50 characters
/// and remembers the one of a store, so it lies elsewhere, under a short name that is always the same for this store.
fn store(dir: &Path) -> Vec<String> {
    let digest = Sha256::digest(dir.as_os_str().as_encoded_bytes());
    let name: String = hex::encode(&digest[..4]);
    let run = std::env::temp_dir().join(format!("hw-{name}"));
    vec![format!("--root={}", dir.display()), format!("--runroot={}", run.display())]
}

/// Builds the image and runs it once.
fn image(podman: Podman, dir: &Path) -> Result<Containers, String> {
    let name = "localhost/hardway/mco-stand-in";
    let call = |arguments: &[&str], run_options: &[String]| -> Result<String, String> {
        let mut command = Command::new(&podman.program);
        command.args(&podman.options).args(&arguments[..1]).args(run_options).args(&arguments[1..]);
        let output = command.output().unwrap();
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(format!("{command:?}: {}", said(&output)))
    };
    let context = dir.join("context");
    fs_err::create_dir_all(&context).unwrap();
    for file in ["mco-stand-in", "Containerfile"] {
        fs_err::copy(dir.join(file), context.join(file)).unwrap();
    }
    call(&["build", "--quiet", "--network=none", "--tag", name, context.to_str().unwrap()], &[])?;
    let digest = call(&["image", "inspect", "--format={{.Digest}}", name], &[])?;
    let image = format!("{name}@{digest}");
    call(&["run", "--rm", "--net=none", &image, "version"], &podman.run_options)?;
    Ok(Containers { podman, image })
}
