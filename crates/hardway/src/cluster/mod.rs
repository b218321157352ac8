//! Looking at a cluster: the way to it, who is expected in it, who lets them in, what is wrong with it, its logs, and backups of its
//! etcd.

mod approver_words;
mod background_approver;
mod calendar;
mod certificates;
pub(crate) mod day_two;
mod declared_here;
pub(crate) mod diagnosis;
pub(crate) mod etcd;
mod expired_install;
mod folder_cluster;
mod gather_site;
mod hand_over;
mod live;
mod log_bundle;
mod policy;
mod recovery;
mod return_forecast;
mod shell;
pub(crate) mod verification;

pub(crate) use approver_words::{ApproverHost, ApproverLine, approver_words};
pub(crate) use background_approver::BackgroundApprover;
pub(crate) use calendar::calendar;
pub(crate) use certificates::certificates;
pub(crate) use declared_here::DeclaredHere;
pub(crate) use expired_install::ExpiredInstall;
pub(crate) use folder_cluster::{Intent, folder_infra_id};
pub(crate) use gather_site::{GatherOptions, GatherSite};
pub(crate) use hand_over::{HandOverFolder, HandedOver};
pub(crate) use live::{Access, Live, WayIn, client, folder_client, folder_config, journal_gateway};
pub(crate) use log_bundle::{gather_bundle, known_secrets};
pub(crate) use policy::{declared, documents, identity, unreadable};
pub(crate) use recovery::{CertRecovery, RecoverOptions, RecoveryDone, RecoveryListener};
pub(crate) use return_forecast::ReturnForecast;
pub(crate) use shell::known_host;
