//! The exit codes of the program: openshift-install's where it has them.

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All is well.
    Done = 0,
    /// Anything not named below.
    Error = 1,
    /// Wrong command line, or a failed preflight.
    Usage = 2,
    /// install-config.yaml or inventory.yaml.
    Config = 3,
    /// Machines, networks, install media.
    Infrastructure = 4,
    /// Bootstrapping did not complete.
    Bootstrap = 5,
    /// The cluster did not initialize.
    Install = 6,
    /// Operators did not come to rest.
    Stability = 7,
    /// A person ended it.
    Interrupted = 8,
    /// Something waits for a person.
    Blocked = 9,
}

impl Exit {
    /// Every exit code, in order.
    pub(crate) const ALL: [Self; 10] = [
        Self::Done,
        Self::Error,
        Self::Usage,
        Self::Config,
        Self::Infrastructure,
        Self::Bootstrap,
        Self::Install,
        Self::Stability,
        Self::Interrupted,
        Self::Blocked,
    ];

    /// As the shell sees it.
    pub(crate) const fn number(self) -> u8 {
        self as u8
    }

    /// What the help says about it.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Error => "any other error",
            Self::Usage => {
                "wrong command line, failed check before the install, or an unusable file named on the command line"
            }
            Self::Config => {
                "install-config.yaml, inventory.yaml or auth/kubeconfig of the folder is missing or invalid"
            }
            Self::Infrastructure => "failure with machines, networks, install media or serving",
            Self::Bootstrap => "bootstrapping did not complete",
            Self::Install => "the cluster did not initialize",
            Self::Stability => "the operators did not settle",
            Self::Interrupted => "interrupted (Ctrl-C)",
            Self::Blocked => "waiting for a person to do something",
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}
