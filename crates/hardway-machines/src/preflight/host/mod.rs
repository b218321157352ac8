//! This host: programs, rights, virtualization, clock.

mod clock;
mod container_runtime;
mod gcloud;
mod inotify;
mod inventory_complete;
mod kernel;
mod kvm;
mod lab_files;
mod libvirt;
mod libvirt_pool;
mod processor;
mod programs;
mod root;

pub(super) use clock::clock;
pub(super) use container_runtime::{container_runtime, storage_folder};
pub(super) use gcloud::gcloud;
pub(super) use inotify::inotify;
pub(super) use inventory_complete::inventory_complete;
pub(super) use kernel::kernel;
pub(super) use kvm::kvm;
pub(super) use lab_files::lab_files;
pub(super) use libvirt::{is_remote, libvirt, libvirt_uri};
pub(super) use libvirt_pool::{libvirt_pool, pool_folder};
pub(super) use processor::processor;
pub(super) use programs::programs;
pub(super) use root::root;
