//! Looking at a cluster: the way to it, who is expected in it, and what is wrong with it.

pub(crate) mod diagnosis;
mod expired_install;
mod live;
mod policy;
pub(crate) mod verification;

pub(crate) use expired_install::{ExpiredInstall, FIX as EXPIRED_INSTALL_FIX};
pub(crate) use live::{
    Access, KUBECONFIG, Live, folder_config, journal_gateway, kubeconfig, read_kubeconfig,
};
pub(crate) use policy::{DeclaredHere, declared, documents, identity, unreadable};
