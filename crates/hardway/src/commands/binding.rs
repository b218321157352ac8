//! From what was typed to what operations take.

use crate::cli::{
    ClusterArgs, Face, FetchArgs, MakeArgs, RegistryArgs, RenderArgs, RunArgs, ServeArgs, SignatureArgs,
};
use crate::cluster;
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
        Self { release: (&args.release).into(), render: (&args.render).into(), dry_run: args.dry_run }
    }
}

impl From<&RunArgs> for install::Options {
    fn from(args: &RunArgs) -> Self {
        Self {
            make: project::MakeOptions {
                release: (&args.release).into(),
                render: (&args.render).into(),
                dry_run: false,
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

impl From<Face> for server::Face {
    fn from(face: Face) -> Self {
        match face {
            Face::Host => Self::Host,
            Face::Pool => Self::Pool,
            Face::Hosted => Self::Hosted,
        }
    }
}

impl From<&ServeArgs> for server::Options {
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
        let options = server::Options::from(&typed);
        assert_eq!(format!("{options:?}"), format!("{:?}", server::Options::default()));
    }
}
