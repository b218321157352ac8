//! What keeps the render from starting: all of it at once, each with its cure.

use std::fmt;

use hardway_assets::Phase;

/// Everything found before a command was run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node configs cannot be rendered yet:{}", listed(.0))]
pub struct Faults(pub Vec<RenderFault>);

/// One thing wrong with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderFault {
    /// Path in the working directory.
    pub file: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with the inputs of the render.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The operator of the release is not an image of the release by digest.
    #[error("{name} is {pull_spec:?}, which is not a pull spec by digest")]
    NotByDigest {
        /// Tag name, or `release image`.
        name: String,
        /// What stands there.
        pull_spec: String,
    },
    /// A field is missing or of no use.
    #[error("{field} is missing or malformed: {why}")]
    Field {
        /// Dotted path.
        field: String,
        /// What it is for.
        why: &'static str,
    },
    /// The known slip of the pen in `Infrastructure.status`.
    #[error(
        "Infrastructure has no field status.apiServerInternalURL: it is dropped, and readers find no URL"
    )]
    InternalUrlMisspelt,
    /// The gates of another version.
    #[error("status.featureGates has no entry for version {wanted}, only for: {}", listed_words(.found))]
    GatesOfOtherVersion {
        /// The version of the release.
        wanted: String,
        /// The versions that are there.
        found: Vec<String>,
    },
    /// A `v1 List`.
    #[error("the controller ignores the items of a kind List, but the cluster does not")]
    List,
    /// A file the commands read is absent.
    #[error("missing")]
    Missing {
        /// The phase that makes it.
        phase: Phase,
    },
    /// An image the operator asks for is not in the release.
    #[error("the release has no image named {0}")]
    MissingImage(String),
    /// A file that is neither YAML nor JSON by its name.
    #[error("neither YAML nor JSON: the controller fails on any file that is not a manifest")]
    NotManifest,
    /// A file with no UTF-8 text.
    #[error("not UTF-8 text")]
    NotText,
    /// What another operator makes MachineConfigs of, before the render (installer `bootkube.sh.template`).
    #[error(
        "the node-tuning-operator makes MachineConfigs from a PerformanceProfile, and does not run here: nodes would start \
         without them and be rolled over immediately"
    )]
    PerformanceProfile,
    /// A pool whose nodes would get no kubelet.
    #[error(
        "pool {0} selects the MachineConfigs of neither worker nor master: its nodes would have no kubelet"
    )]
    PoolWithoutBase(String),
    /// The built-in release.
    #[error("the sample release has no image to render with; its node configs are built in")]
    Sample,
    /// Two files that get in each other's way in the folder of the controller.
    #[error("has the same name as {other}; both are copied to one folder, so one would be lost")]
    SameName {
        /// The other file, or what writes it.
        other: String,
    },
    /// An object that the operator itself makes.
    #[error("your own {0} would replace the one that the operator makes")]
    MadeByOperator(&'static str),
    /// Not YAML or JSON.
    #[error("line {line}: {message}")]
    Syntax {
        /// From 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// More than one of a kind for one pool.
    #[error("a second {kind} for pool {pool}, after {other}; only one is used during the install")]
    TwoForPool {
        /// `KubeletConfig` or `ContainerRuntimeConfig`.
        kind: &'static str,
        /// The pool.
        pool: String,
        /// The file of the first.
        other: String,
    },
    /// Another object than the one the command expects in that file.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// Kind, type or value.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A version that is no version.
    #[error("{0}")]
    Version(String),
}

impl RenderFault {
    pub(super) fn new(file: &str, problem: Problem) -> Self {
        Self { file: file.to_owned(), problem }
    }

    /// What to do about it.
    pub fn fix(&self) -> String {
        match &self.problem {
            Problem::NotByDigest { .. } => {
                "resolve the release to digests again (phase fetch-release)".to_owned()
            }
            Problem::InternalUrlMisspelt => "call it status.apiServerInternalURI".to_owned(),
            Problem::GatesOfOtherVersion { wanted, .. } => {
                format!("undo your changes to this file, or set the version to {wanted}")
            }
            Problem::List => "put each item into its own document".to_owned(),
            Problem::Missing { .. } => "run `hardway create manifests` to create it".to_owned(),
            Problem::MissingImage(_) => {
                "the release image is incomplete, or not an OpenShift release: fetch it again".to_owned()
            }
            Problem::NotManifest | Problem::NotText => "move it out of the folder".to_owned(),
            Problem::PerformanceProfile => "remove it, and create it after the install".to_owned(),
            Problem::PoolWithoutBase(_) => {
                "correct spec.machineConfigSelector; a pool of workers selects the roles worker and its own"
                    .to_owned()
            }
            Problem::Sample => "name a real release in inventory.yaml (release.image)".to_owned(),
            Problem::SameName { .. } => "rename it".to_owned(),
            Problem::MadeByOperator(_) => "remove it".to_owned(),
            Problem::TwoForPool { .. } => "merge both into one object".to_owned(),
            Problem::Syntax { .. }
            | Problem::Field { .. }
            | Problem::Unexpected { .. }
            | Problem::Version(_) => {
                "correct it, or remove the file and let hardway make it again".to_owned()
            }
        }
    }
}

impl fmt::Display for RenderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (fix: {})", self.file, self.problem, self.fix())
    }
}

fn listed(faults: &[RenderFault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}

fn listed_words(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
