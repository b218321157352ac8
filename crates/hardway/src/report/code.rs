//! The catalogue of codes that reports carry: a row each, and nowhere else.
//!
//! The name is what users see in brackets and ask `hardway explain` about. The exit codes are those the program may end
//! with; the first is taken unless the place that reports says otherwise.

use std::fmt;

use super::Exit;

macro_rules! catalogue {
    ($($(#[$doc:meta])+ $code:ident = $name:literal => $($exit:ident),+;)+) => {
        /// What kind of error a report is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($(#[$doc])+ $code,)+
        }

        /// Every row: a code's name, and the exit codes it may end the program with. Without the codes themselves, so that one that
        /// nothing reports is still warned about.
        pub(crate) const ROWS: &[(&str, &[Exit])] = &[$(($name, &[$(Exit::$exit),+])),+];

        impl Code {
            /// Every code. Only for tests: elsewhere a code that nothing reports is to be warned about.
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$code),+];

            /// As it is printed and explained.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// The exit code it ends the program with unless the report says otherwise.
            pub(crate) const fn exit(self) -> Exit {
                self.exits()[0]
            }

            /// The exit codes it may end the program with, the usual one first.
            pub(crate) const fn exits(self) -> &'static [Exit] {
                match self {
                    $(Self::$code => &[$(Exit::$exit),+],)+
                }
            }
        }
    };
}

catalogue! {
    /// An action on machines or networks failed.
    ActionFailed = "action-failed" => Infrastructure;
    /// The approver could not go on.
    ApproverFailed = "approver-failed" => Error;
    /// One asset could not be made.
    AssetFailed = "asset-failed" => Error;
    /// A backup of etcd could not be made.
    BackupFailed = "backup-failed" => Error, Blocked;
    /// What a backup restores to is not what it holds, or does not run.
    BackupUnproven = "backup-unproven" => Error, Usage;
    /// A file is no backup of etcd, is damaged, or is for somebody else.
    BackupUnusable = "backup-unusable" => Usage;
    /// The load balancer is somebody else's, and has to be changed by hand.
    BalancerExternal = "balancer-external" => Blocked;
    /// The load balancer could not be changed.
    BalancerFailed = "balancer-failed" => Infrastructure;
    /// A management controller refused, or its password cannot be read.
    BmcFailed = "bmc-failed" => Infrastructure, Config;
    /// Bootstrapping did not complete in time.
    BootstrapFailed = "bootstrap-failed" => Bootstrap;
    /// A log bundle cannot be read.
    BundleUnusable = "bundle-unusable" => Usage;
    /// A machine has to be worked on by hand.
    ByHand = "by-hand" => Blocked;
    /// Certificates of the bootstrap have run out before the cluster stood.
    CertificatesEnded = "certificates-ended" => Bootstrap;
    /// A kubeconfig leads to another cluster than the folder's.
    ClusterOther = "cluster-other" => Usage;
    /// install-config.yaml has mistakes.
    ConfigInvalid = "config-invalid" => Config;
    /// install-config.yaml or inventory.yaml is not there.
    ConfigMissing = "config-missing" => Config;
    /// A file of certificate requests cannot be read.
    CsrUnreadable = "csr-unreadable" => Usage;
    /// A step of day two could not be planned, applied or undone.
    DayTwoFailed = "day2-failed" => Error, Blocked;
    /// A step of day two does not do what it is for.
    DayTwoUnmet = "day2-unmet" => Error;
    /// No member of etcd answers, or there is nothing to ask with.
    EtcdUnreachable = "etcd-unreachable" => Error, Config;
    /// A member of etcd is unwell.
    EtcdUnwell = "etcd-unwell" => Error;
    /// Nothing could be gathered from the bootstrap host.
    GatherFailed = "gather-failed" => Error, Config;
    /// A cluster with hosted control planes did not do as asked.
    HostedFailed = "hosted-failed" => Error, Infrastructure;
    /// A gate holds a hosted worker back.
    HostedHeld = "hosted-held" => Blocked;
    /// What was asked of a hosted cluster makes no sense.
    HostedRequest = "hosted-request" => Usage;
    /// An image is not what its digest says.
    ImageDamaged = "image-damaged" => Error;
    /// No registry has the image.
    ImageNotFound = "image-not-found" => Error;
    /// Nodes would not find images where they will look for them.
    ImagesMissing = "images-missing" => Usage;
    /// The cluster did not initialize in time.
    InstallFailed = "install-failed" => Install;
    /// A person ended it.
    Interrupted = "interrupted" => Interrupted;
    /// inventory.yaml has mistakes.
    InventoryInvalid = "inventory-invalid" => Config;
    /// The journal cannot be read.
    JournalDamaged = "journal-damaged" => Error;
    /// A kubeconfig is missing or makes no client.
    KubeconfigUnusable = "kubeconfig-unusable" => Error, Usage, Config;
    /// The scripts of the lab are not there.
    LabFilesMissing = "lab-files-missing" => Infrastructure;
    /// The lab cannot be entered.
    LabUnreachable = "lab-unreachable" => Infrastructure;
    /// assets.lock cannot be read.
    LockDamaged = "lock-damaged" => Error;
    /// A machine never asked for its config.
    MachineNotSeen = "machine-not-seen" => Infrastructure;
    /// The cluster's API server would refuse a manifest, or drop a part of it.
    ManifestsRefused = "manifests-refused" => Config;
    /// A boot image is not what its sum says.
    MediaDamaged = "media-damaged" => Error;
    /// What should go into an install medium does not fit.
    MediaFull = "media-full" => Infrastructure;
    /// There is no boot image to start from.
    MediaMissing = "media-missing" => Infrastructure;
    /// The release has no boot image of that kind.
    MediaNotFound = "media-not-found" => Error;
    /// A file is no install medium, or cannot be changed.
    MediaUnusable = "media-unusable" => Infrastructure;
    /// The cluster has no config for a joining node.
    NodeConfigMissing = "node-config-missing" => Install;
    /// A node could not be taken out.
    NodeKept = "node-kept" => Install, Error, Blocked;
    /// Nodes did not join in time.
    NodesMissing = "nodes-missing" => Install, Bootstrap;
    /// Operators did not come to rest in time.
    OperatorsUnstable = "operators-unstable" => Stability;
    /// A phase was asked for whose inputs are not there.
    PhaseTooEarly = "phase-too-early" => Usage;
    /// The bootstrap host may not go yet.
    PivotRefused = "pivot-refused" => Bootstrap;
    /// There is no podman to render node configs with.
    PodmanMissing = "podman-missing" => Usage;
    /// Checks before the install failed.
    PreflightFailed = "preflight-failed" => Usage;
    /// The pull secret cannot be used.
    PullSecretInvalid = "pull-secret-invalid" => Config, Usage;
    /// Recovery needs a person to decide.
    RecoveryBlocked = "recovery-blocked" => Blocked;
    /// Certificates could not be recovered.
    RecoveryFailed = "recovery-failed" => Error, Blocked;
    /// A registry does not let us in.
    RegistryRefused = "registry-refused" => Error;
    /// A registry cannot be reached.
    RegistryUnreachable = "registry-unreachable" => Error;
    /// A registry's certificate is not trusted.
    RegistryUntrusted = "registry-untrusted" => Error;
    /// A bundle with a release is damaged, cut off, or not all of it.
    ReleaseBundleUnusable = "release-bundle-unusable" => Error;
    /// The release has to be fetched first.
    ReleaseNotFetched = "release-not-fetched" => Error;
    /// The release cannot be read or is not supported.
    ReleaseUnusable = "release-unusable" => Error, Usage;
    /// A command that renders node configs failed.
    RenderFailed = "render-failed" => Error;
    /// Node configs cannot be rendered from these files.
    RenderRefused = "render-refused" => Error;
    /// A folder of rendered configs is not of this cluster.
    RenderedDirUnusable = "rendered-dir-unusable" => Usage;
    /// The bootstrap could not be begun anew.
    ResetFailed = "reset-failed" => Bootstrap, Error;
    /// etcd was not restored from a backup, or not to the end.
    RestoreFailed = "restore-failed" => Error, Blocked, Usage, Config;
    /// A file in secrets/ is not what its name says.
    SecretsDamaged = "secrets-damaged" => Error;
    /// A server could not be started, or stopped.
    ServeFailed = "serve-failed" => Infrastructure;
    /// There is nothing to serve yet.
    ServeUnprepared = "serve-unprepared" => Usage;
    /// Nobody trusted has signed the release.
    SignatureInvalid = "signature-invalid" => Error;
    /// Machines did not go off or come on.
    SwitchFailed = "switch-failed" => Infrastructure;
    /// A wrong command line.
    Usage = "usage" => Usage;
    /// Checks of the finished cluster failed.
    VerifyFailed = "verify-failed" => Error, Install;
    /// Another hardway works in the folder.
    WorkdirLocked = "workdir-locked" => Error;
    /// A file or folder here cannot be read or written.
    WorkdirUnusable = "workdir-unusable" => Error;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hardway_assets::explain::Kind;

    use super::*;
    use crate::explanations;

    #[test]
    fn codes_and_explanations_are_the_same_set() {
        let catalogue = explanations::catalogue();
        let explained: Vec<_> = catalogue.iter().filter(|entry| entry.kind == Kind::Error).collect();
        let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len(), "a name stands twice");
        assert_eq!(names, explained.iter().map(|entry| entry.name).collect());
    }

    /// Which exit codes there are, `explain` takes from the row. Only when each of several is meant has to be said.
    #[test]
    fn explanations_tell_the_exit_codes_of_a_row_apart() {
        let catalogue = explanations::catalogue();
        for code in Code::ALL {
            let readers = catalogue.get(Kind::Error, code.name()).unwrap().readers;
            let said: BTreeSet<u8> = match readers.split_once("exit code ") {
                Some((_, said)) if !said.starts_with("is ") => {
                    let sentence = said.split_once('.').map_or(said, |(sentence, _)| sentence);
                    let numbers = sentence.split(|c: char| !c.is_ascii_digit());
                    numbers.filter_map(|number| number.parse().ok()).collect()
                }
                _ => BTreeSet::new(),
            };
            let several: BTreeSet<u8> = match code.exits() {
                [_] => BTreeSet::new(),
                exits => exits.iter().map(|exit| exit.number()).collect(),
            };
            assert_eq!(said, several, "{code}: {readers}");
        }
    }
}
