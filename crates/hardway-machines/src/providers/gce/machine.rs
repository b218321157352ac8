//! Instances.

use std::path::Path;

use hardway_assets::install_media::GCE_LIMIT;
use hardway_assets::inventory::Host;

use super::Gce;
use super::gcloud::{Resource, fits, shell};
use crate::actions::{Action, ActionCheck, Program, Step};
use crate::providers::machine_action;

/// What RHCOS takes its config from (coreos/ignition internal/providers/gcp).
const USER_DATA: &str = "user-data";
/// Enough for the OS, images and etcd.
const DISK_GIB: u32 = 128;

impl Gce {
    /// An instance is made and runs: it cannot be made to wait. Only the path of its pointer is on the command line.
    pub(super) fn instance(&self, host: &Host, pointer: &Path) -> Action {
        let resource = self.of(host);
        let pointer = self.folder.join(pointer).display().to_string();
        let most = GCE_LIMIT.bytes;
        let made = self.resource(
            machine_action(&host.name, "instance"),
            format!("{} ({}) runs, and fetches its config from the ignition server", host.name, host.role),
            &resource,
            self.options(host, &pointer),
        );
        let mut does = vec![Step::Run(fits(&pointer, most))];
        does.extend(made.does);
        Action { does, ..made }
    }

    fn options(&self, host: &Host, pointer: &str) -> Vec<String> {
        let settings = &self.settings;
        let labels = format!("{},hardway-host={},hardway-role={}", self.labels(), host.name, host.role);
        let mut options = vec![format!("--machine-type={}", settings.machine_type(host))];
        options.extend(self.image_options());
        options.extend([
            format!("--boot-disk-size={}GB", host.disk_gib.unwrap_or(DISK_GIB)),
            format!("--boot-disk-type={}", settings.disk_type),
            format!("--subnet={}", settings.subnet),
            format!("--private-network-ip={}", host.ip[0]),
            format!("--tags={}", self.name(host.role.name())),
            format!("--labels={labels}"),
            "--can-ip-forward".to_owned(),
        ]);
        match &settings.service_account {
            Some(account) => options.push(format!("--service-account={account}")),
            None => options.extend(["--no-service-account".to_owned(), "--no-scopes".to_owned()]),
        }
        if !settings.external_addresses {
            options.push("--no-address".to_owned());
        }
        options.push("--metadata=serial-port-enable=TRUE".to_owned());
        options.push(format!("--metadata-from-file={USER_DATA}={pointer}"));
        options
    }

    /// Whoever can read an instance's metadata could show its token; a joined node needs it no longer.
    pub(super) fn token_away(&self, host: &Host) -> Action {
        let resource = self.of(host);
        let keys = self.verb("describe", &resource).with(["--format=value(metadata.items[].key)"]);
        Action::programs(
            machine_action(&host.name, "token-away"),
            format!("the token of {} is removed from its metadata, because its node has joined", host.name),
            ActionCheck::Succeeds(shell(format!(
                "keys=$({keys}) && case \";$keys;\" in *';{USER_DATA};'*) exit 1;; esac"
            ))),
            [self.verb("remove-metadata", &resource).with([format!("--keys={USER_DATA}")])],
            [],
        )
    }

    pub(super) fn status(&self, host: &Host) -> Program {
        self.verb("describe", &self.of(host)).with(["--format=value(status)"])
    }

    /// Stopped by its power button, as it were, or started.
    pub(super) fn switched(&self, host: &Host, verb: &str) -> Program {
        self.verb(verb, &self.of(host))
    }

    /// What it has said on its serial line.
    pub(super) fn console_output(&self, host: &Host) -> Program {
        self.verb("get-serial-port-output", &self.of(host))
    }

    /// What everything of this cluster is found by, also after the working folder is lost.
    pub(super) fn labels(&self) -> String {
        format!("kubernetes-io-cluster-{}=owned", self.cluster.identity.infra_id)
    }

    fn of(&self, host: &Host) -> Resource<'static> {
        let zone = self.settings.zone(&self.cluster, host);
        Resource::zonal("compute instances", self.name(&host.name), zone)
    }
}
