//! From what was typed to what operations take.

use std::path::PathBuf;

use hardway_cluster::remote::Login;
use hardway_hosted::reconcile::RoundSettings;
use hardway_journal::Face;

use crate::cli::{
    ClusterArgs, EvidenceArg, FaceArg, FetchArgs, GatherBootstrapArgs, HostedUpArgs, HostedVerifyArgs,
    MakeArgs, ManagementArgs, MasterLoginArgs, ReconcileArgs, RecoverCertsArgs, RegistryArgs, RenderArgs,
    RunArgs, ServeArgs, SignatureArgs,
};
use crate::cluster;
use crate::hosted;
use crate::install;
use crate::project;
use crate::release::{RegistryOptions, ReleaseOptions, SignatureOptions};
use crate::server;

impl From<&RegistryArgs> for RegistryOptions {
    fn from(args: &RegistryArgs) -> Self {
        let RegistryArgs { pull_secret, trust_bundle, plain_http } = args.clone();
        Self { pull_secret, trust_bundle, plain_http }
    }
}

impl From<&SignatureArgs> for SignatureOptions {
    fn from(args: &SignatureArgs) -> Self {
        let SignatureArgs { keyring, signature_store, signature, insecure_skip_signature } = args.clone();
        Self { keyring, stores: signature_store, files: signature, is_skipped: insecure_skip_signature }
    }
}

impl From<&FetchArgs> for ReleaseOptions {
    fn from(args: &FetchArgs) -> Self {
        Self {
            release_dir: args.release_dir.clone(),
            refetch: args.refetch_release,
            registry: (&args.registry).into(),
            signature: (&args.signature).into(),
        }
    }
}

impl From<&RenderArgs> for project::RenderOptions {
    fn from(args: &RenderArgs) -> Self {
        Self { rendered_dir: args.rendered_dir.clone(), podman_options: args.podman_option.clone() }
    }
}

impl From<&MakeArgs> for project::MakeOptions {
    fn from(args: &MakeArgs) -> Self {
        Self {
            release: (&args.release).into(),
            render: (&args.render).into(),
            dry_run: args.dry_run,
            redraw_secrets: args.redraw_secrets,
            undo: args.undo.clone(),
        }
    }
}

impl From<&RunArgs> for install::InstallOptions {
    fn from(args: &RunArgs) -> Self {
        Self {
            make: project::MakeOptions {
                release: (&args.release).into(),
                render: (&args.render).into(),
                dry_run: false,
                redraw_secrets: false,
                undo: Vec::new(),
            },
            only_looks: false,
            // Names have to be known first: see `commands::cluster`.
            skip_checks: std::collections::BTreeSet::new(),
            stall_after: args.stall_after,
            load_balancer_changed: args.load_balancer_changed,
        }
    }
}

impl From<&ClusterArgs> for cluster::Access {
    fn from(args: &ClusterArgs) -> Self {
        Self { kubeconfig: args.kubeconfig.clone(), release_dir: args.release_dir.clone() }
    }
}

impl From<&MasterLoginArgs> for Login {
    fn from(args: &MasterLoginArgs) -> Self {
        login(&args.ssh_user, args.ssh_port, args.key.as_ref())
    }
}

impl From<&GatherBootstrapArgs> for cluster::GatherOptions {
    fn from(args: &GatherBootstrapArgs) -> Self {
        let GatherBootstrapArgs { bootstrap, master, key, known_hosts, ssh_user, ssh_port, output: _ } = args;
        Self {
            bootstrap: bootstrap.clone(),
            masters: master.clone(),
            known_hosts: known_hosts.clone(),
            login: Login {
                user: ssh_user.clone(),
                port: *ssh_port,
                key: key.clone(),
                offers_only_key: false,
            },
        }
    }
}

impl From<&RecoverCertsArgs> for cluster::RecoverOptions {
    fn from(args: &RecoverCertsArgs) -> Self {
        Self {
            access: (&args.cluster).into(),
            server: args.server.clone(),
            declared: args.declared.clone(),
            silence: args.silence,
            patience: args.timeout,
            only_looks: args.dry_run,
            login: args.into(),
        }
    }
}

impl From<&RecoverCertsArgs> for Login {
    fn from(args: &RecoverCertsArgs) -> Self {
        login(&args.ssh_user, args.ssh_port, args.key.as_ref())
    }
}

/// Where a key is named, no other is offered.
fn login(user: &str, port: u16, key: Option<&PathBuf>) -> Login {
    Login { user: user.to_owned(), port, key: key.cloned(), offers_only_key: key.is_some() }
}

impl From<&ManagementArgs> for hosted::ManagementAccess {
    fn from(args: &ManagementArgs) -> Self {
        Self { kubeconfig: args.kubeconfig.clone(), namespace: args.namespace.clone() }
    }
}

impl From<&ReconcileArgs> for hosted::ReconcileOptions {
    fn from(args: &ReconcileArgs) -> Self {
        Self {
            cluster: args.cluster.clone(),
            hosted_kubeconfig: args.hosted_kubeconfig.clone(),
            machine_program: args.machine_program.clone(),
            ignition_server: args.ignition_server.clone().zip(args.ignition_ca.clone()),
            evidence: args.ignition.map(Into::into),
            join_window: args.join_window,
            config_rest: args.config_rest,
            round: RoundSettings {
                boots_at_once: args.boots_at_once,
                startup: args.startup_timeout,
                unready: args.unready_timeout,
                most_unwell: args.max_unhealthy,
                repairs_per_hour: args.repairs_per_hour,
                drain: args.drain_timeout,
                upgrades: !args.no_upgrades,
                ..RoundSettings::default()
            },
            daemon_image: args.daemon_image.clone(),
            registry: (&args.registry).into(),
        }
    }
}

impl From<EvidenceArg> for hosted::EvidenceRule {
    fn from(evidence: EvidenceArg) -> Self {
        match evidence {
            EvidenceArg::Required => Self::Required,
            EvidenceArg::Recorded => Self::Recorded,
            EvidenceArg::Ignored => Self::Ignored,
        }
    }
}

impl From<&HostedUpArgs> for hosted::SetUpOptions {
    fn from(args: &HostedUpArgs) -> Self {
        Self { replicas: args.replicas, patience: args.timeout, config_rest: args.reconcile.config_rest }
    }
}

impl From<&HostedVerifyArgs> for hosted::verification::HostedVerifyOptions {
    fn from(args: &HostedVerifyArgs) -> Self {
        Self {
            hosted_kubeconfig: args.hosted_kubeconfig.clone(),
            image: args.image.clone(),
            skip: args.skip_check.clone(),
        }
    }
}

impl From<FaceArg> for Face {
    fn from(face: FaceArg) -> Self {
        match face {
            FaceArg::Host => Self::Host,
            FaceArg::Pool => Self::Pool,
            FaceArg::Hosted => Self::Hosted,
        }
    }
}

impl From<&ServeArgs> for server::ServeOptions {
    fn from(args: &ServeArgs) -> Self {
        let certificate = args.certificate.clone().zip(args.key.clone());
        Self {
            listen: args.listen.clone(),
            faces: args.face.iter().copied().map(Into::into).collect(),
            certificate: certificate.map(|(certificate, key)| server::Certificate { certificate, key }),
            plain_http: args.plain_http,
            boot: args.boot,
            boot_folder: args.boot_folder.clone(),
            reinstall: args.reinstall.clone(),
            window: args.window,
            only_from_own_address: !args.from_any_address,
            max_connections: args.max_connections as usize,
            namespace: args.namespace.clone(),
            kubeconfig: args.kubeconfig.clone(),
            upstream: args.upstream.clone(),
            upstream_ca: args.upstream_ca.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    #[test]
    fn without_words_the_defaults_of_the_server_count() {
        let typed = ServeArgs::augment_args(Command::new("serve")).get_matches_from(["serve"]);
        let typed = ServeArgs::from_arg_matches(&typed).unwrap();
        let options = server::ServeOptions::from(&typed);
        assert_eq!(format!("{options:?}"), format!("{:?}", server::ServeOptions::default()));
    }
}
