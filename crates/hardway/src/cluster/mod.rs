//! Looking at a cluster: the way to it, who is expected in it, who lets them in, what is wrong with it, and its logs.

mod background_approver;
pub(crate) mod diagnosis;
mod expired_install;
mod folder_cluster;
mod live;
mod log_bundle;
mod policy;
mod shell;
pub(crate) mod verification;

pub(crate) use background_approver::BackgroundApprover;
pub(crate) use expired_install::ExpiredInstall;
pub(crate) use live::{Access, KUBECONFIG, Live, WayIn, folder_config, journal_gateway};
pub(crate) use log_bundle::{BundleSource, gather_bundle, resolve};
pub(crate) use policy::{DeclaredHere, declared, documents, identity, unreadable};
pub(crate) use shell::known_host;
