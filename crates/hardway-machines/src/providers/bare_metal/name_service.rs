//! Names and DHCP: a dnsmasq that hardway runs on this computer, or files for the servers that people have.

use hardway_assets::Cluster;
use hardway_assets::host_services::{
    Dnsmasq, Leases, Names, bind_conf, dnsmasq, dnsmasq_leases, dnsmasq_without_names, kea_dhcp4, kea_dhcp6,
};
use hardway_assets::inventory::Provider;

use super::{BareMetal, DhcpBy, FirstBoot, NamesBy};
use crate::actions::{Action, ActionCheck, Program, Step};
use crate::install_media::BOOT_EFI;
use crate::providers::ActionScope;
use crate::providers::haproxy_service::{run_folder, tidy};
use crate::providers::place::Place;
use crate::providers::unit::{Daemon, Loaded, Unit};

const DNSMASQ_BOOT: &str = "dnsmasq-boot.conf";
const KEA_BOOT: &str = "kea-boot.json";

impl BareMetal {
    /// In an order in which each finds what it reads.
    pub(super) fn name_service(&self) -> Vec<Action> {
        let mut actions = match self.settings.names {
            NamesBy::Dnsmasq => vec![Action::file(
                ActionScope::Names.action("records"),
                "the cluster's DNS records for dnsmasq, for the administrator of the name server",
                self.own_file("dnsmasq.conf"),
                dnsmasq(&Names::of(&self.cluster), &self.somebodys()),
            )],
            NamesBy::Bind => self.zones(),
            NamesBy::Unit => Vec::new(),
        };
        if self.settings.dhcp != DhcpBy::None && self.settings.boot == FirstBoot::Pxe {
            actions.extend(self.ipxe());
            actions.push(self.boot_options());
        }
        actions.extend(self.leases());
        if self.settings.names == NamesBy::Unit || self.settings.dhcp == DhcpBy::Unit {
            actions.push(self.dnsmasq_unit());
        }
        actions
    }

    fn somebodys(&self) -> Dnsmasq {
        Dnsmasq {
            listen: self.cluster.inventory.network.dns.clone(),
            interface: None,
            port: 53,
            pid_file: "/run/dnsmasq.pid".to_owned(),
            upstream: self.settings.upstream_dns.clone(),
        }
    }

    fn zones(&self) -> Vec<Action> {
        let network = &self.cluster.inventory.network;
        let Some(server) = network.dns.first().or(network.gateway.first()) else { return Vec::new() };
        let zones = self.facts.zones(&Names::of(&self.cluster), *server);
        let why = "the cluster's zones for BIND, for the administrator of the name server";
        let conf = bind_conf(&zones, "hardway");
        let mut actions =
            vec![Action::file(ActionScope::Names.action("named"), why, self.own_file("named.conf"), conf)];
        actions.extend(zones.into_iter().map(|zone| {
            let why = format!("records of {} for BIND; its serial grows with every change", zone.name);
            let id = ActionScope::Names.action(&format!("zone/{}", zone.name));
            Action::file(id, why, self.own_file(&zone.file()), zone.text)
        }));
        actions
    }

    fn leases(&self) -> Vec<Action> {
        let leases = Leases::of(&self.cluster);
        let has_boot = self.settings.boot == FirstBoot::Pxe;
        let file = |id: &str, name: &str, server: &str, text: String| {
            let why = format!("fixed leases for {server}, for the administrator of the DHCP server");
            Action::file(ActionScope::Names.action(id), why, self.own_file(name), text)
        };
        match self.settings.dhcp {
            DhcpBy::None | DhcpBy::Unit => Vec::new(),
            DhcpBy::Dnsmasq => {
                let boot = self.own_file(DNSMASQ_BOOT).display().to_string();
                let text = dnsmasq_leases(&leases, has_boot.then_some(boot.as_str()));
                vec![file("dhcp", "dnsmasq-dhcp.conf", "dnsmasq", text.trim_start().to_owned())]
            }
            DhcpBy::Kea => {
                let boot = self.own_file(KEA_BOOT).display().to_string();
                let four = kea_dhcp4(&leases, has_boot.then_some(boot.as_str()));
                let four = four.map(|text| file("dhcp4", "kea-dhcp4.conf", "kea-dhcp4", text));
                let six = kea_dhcp6(&leases).map(|text| file("dhcp6", "kea-dhcp6.conf", "kea-dhcp6", text));
                four.into_iter().chain(six).collect()
            }
        }
    }

    /// The URLs in it are secrets, so this program writes it: no action and no journal has them.
    fn boot_options(&self) -> Action {
        let (format, file) = match self.settings.dhcp {
            DhcpBy::Kea => ("kea", self.own_file(KEA_BOOT).display().to_string()),
            DhcpBy::Unit => ("dnsmasq", self.host_file(DNSMASQ_BOOT)),
            DhcpBy::None | DhcpBy::Dnsmasq => ("dnsmasq", self.own_file(DNSMASQ_BOOT).display().to_string()),
        };
        let write = self.hardway(&format!("media dhcp --format {format} --to")).with([file.as_str()]);
        let mut does = vec![Step::Run(write.clone())];
        let mut undo = vec![Step::RemoveFile { path: file.into() }];
        if self.settings.dhcp == DhcpBy::Unit {
            let restart = format!("systemctl try-restart {}", unit_name(self.id()));
            does.push(Step::Run(Program::words(&restart)));
            undo.push(tidy(&Place::default(), self.id()));
        }
        Action {
            id: ActionScope::Names.action("boot"),
            why: "DHCP tells machines that boot from the network where their install script is".to_owned(),
            holds: ActionCheck::Succeeds(write.with(["--check"])),
            does,
            undo,
        }
    }

    /// Where `hardway serve --boot` finds it.
    fn ipxe(&self) -> Option<Action> {
        let from = format!("{}/{BOOT_EFI}", self.settings.ipxe.as_ref()?.trim_end_matches('/'));
        let path = self.folder.join("pxe").join(BOOT_EFI);
        let to = path.display().to_string();
        Some(Action {
            id: ActionScope::Names.action("ipxe"),
            why: "iPXE is served over HTTP to firmware that boots so".to_owned(),
            holds: ActionCheck::Succeeds(Program::new("cmp", ["-s", &from, &to])),
            does: vec![Step::Run(Program::new("install", ["-D", "-m", "0644", &from, &to]))],
            undo: vec![Step::RemoveFile { path }],
        })
    }

    /// One dnsmasq for whichever of both is ours.
    fn dnsmasq_unit(&self) -> Action {
        let (has_names, has_leases) =
            (self.settings.names == NamesBy::Unit, self.settings.dhcp == DhcpBy::Unit);
        let folder = format!("{}-dnsmasq", self.id());
        let run = run_folder(&folder);
        let server = Dnsmasq {
            listen: Vec::new(),
            interface: self.settings.interface.clone(),
            port: 53,
            pid_file: format!("{run}/pid"),
            upstream: self.settings.upstream_dns.clone(),
        };
        let mut text = match has_names {
            true => dnsmasq(&Names::of(&self.cluster), &server),
            false => dnsmasq_without_names(&server),
        };
        if has_leases {
            let boot = self.host_file(DNSMASQ_BOOT);
            let boot = (self.settings.boot == FirstBoot::Pxe).then_some(boot.as_str());
            // Leases are fixed: a file of them would only be in the way of the next cluster.
            text += &format!("\ndhcp-leasefile={run}/leases\ndhcp-authoritative\n");
            text += &dnsmasq_leases(&Leases::of(&self.cluster), boot);
        }
        let path = self.host_file("dnsmasq.conf");
        let loaded = Loaded { file: format!("{run}/loaded") };
        let daemon = Daemon {
            title: format!("Names and addresses of {}", self.cluster.domain()),
            after: "",
            kind: "simple",
            check: format!("/usr/sbin/dnsmasq --test --conf-file={path}"),
            start: format!("/usr/sbin/dnsmasq --keep-in-foreground --conf-file={path}"),
            read: loaded.write(&path),
            reload: None,
            run_folder: format!("hardway/{folder}"),
        };
        let (place, name) = (Place::default(), unit_name(self.id()));
        let is_active = Program::words(&format!("systemctl is-active --quiet {name}"));
        let what = match (has_names, has_leases) {
            (true, true) => "names and fixed addresses",
            (true, false) => "names",
            _ => "fixed addresses",
        };
        let unit = Unit {
            id: &ActionScope::Names.action("dnsmasq"),
            why: format!("dnsmasq on this host gives machines their {what}"),
            works: ActionCheck::All(vec![ActionCheck::Succeeds(is_active), loaded.is(&place, &text)]),
            name,
            text: daemon.text(),
            files: vec![(path, text)],
            start: "restart",
        };
        let mut action = unit.action(&place);
        action.undo.push(tidy(&place, self.id()));
        action
    }
}

/// Whether hardway runs the name server.
pub(super) fn is_own(cluster: &Cluster) -> bool {
    cluster.inventory.machines.provider == Provider::BareMetal
        && cluster.inventory.machines.settings["names"] == "unit"
}

/// Whether build-infra has put it in place.
pub(super) fn is_in_place(cluster: &Cluster) -> bool {
    let unit = format!("/etc/systemd/system/{}", unit_name(&cluster.identity.infra_id));
    !is_own(cluster) || std::path::Path::new(&unit).exists()
}

fn unit_name(id: &str) -> String {
    format!("hardway-{id}-dnsmasq.service")
}
