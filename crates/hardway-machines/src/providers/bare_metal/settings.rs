//! `machines.bare-metal` of the inventory.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::inventory::Provider;
use hardway_assets::violation::Violation;
use hardway_base::Secret;

use super::balancer_hosts::balancer_hosts;
use crate::providers::fields::{Fields, SettingsFindings};
use crate::providers::place::Ssh;
use crate::redfish::{Bmc, BmcAddress, Login, Trust};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareMetalSettings {
    /// What machines boot from the first time.
    pub boot: FirstBoot,
    /// Where the ISOs of `media/`, or the files of `pxe/`, are served.
    pub media_url: Option<String>,
    /// The card of this computer that gets the virtual addresses, where HAProxy runs here.
    pub interface: Option<String>,
    /// How what runs on this computer is run.
    pub services: ServicesBy,
    /// Who answers for names.
    pub names: NamesBy,
    /// Whom dnsmasq asks about other names.
    pub upstream_dns: Vec<IpAddr>,
    /// Who gives addresses.
    pub dhcp: DhcpBy,
    /// The folder with iPXE's programs.
    pub ipxe: Option<String>,
    /// The hosts that HAProxy runs on, where they are named.
    pub balancers: Vec<BalancerHost>,
    /// VRRP's virtual router id.
    pub router: u8,
    /// Management controllers, by host. Machines without one are booted by a person.
    pub controllers: BTreeMap<String, BmcSettings>,
}

/// What machines boot from the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBoot {
    /// A live ISO, in a virtual drive or on a stick.
    Iso,
    /// The network.
    Pxe,
}

/// `machines.bare-metal.services`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServicesBy {
    /// systemd units.
    Systemd,
    /// Processes of their own; gone when the host restarts.
    Daemon,
}

/// `machines.bare-metal.names`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesBy {
    /// Somebody's BIND: zone files.
    Bind,
    /// Somebody's dnsmasq: a file.
    Dnsmasq,
    /// A dnsmasq on this computer.
    Unit,
}

/// `machines.bare-metal.dhcp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DhcpBy {
    /// Somebody's dnsmasq: a file.
    Dnsmasq,
    /// Somebody's Kea: files.
    Kea,
    /// Nobody, or somebody who needs nothing from here.
    None,
    /// A dnsmasq on this computer.
    Unit,
}

/// A host that HAProxy runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalancerHost {
    /// Its name.
    pub name: String,
    /// Its own address.
    pub ip: IpAddr,
    /// The card that gets the virtual addresses.
    pub interface: String,
    /// How it is reached; none: it is this one.
    pub ssh: Option<Ssh>,
}

/// A management controller, without its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BmcSettings {
    /// Where it is.
    pub address: BmcAddress,
    /// Who logs in.
    pub user: String,
    /// Where the password is, from the working folder.
    pub password_file: PathBuf,
    /// How to log in.
    pub login: Login,
    /// Whose certificate is accepted; a file is named from the working folder.
    pub trust: Trust,
}

/// A password that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PasswordFileError {
    /// It cannot be read.
    #[error("cannot read the password of {user} at {address}")]
    Unreadable {
        /// Who logs in.
        user: String,
        /// Where.
        address: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Others can read it.
    #[error("others than its owner can read {}: its permissions are {mode:04o}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Nothing in it.
    #[error("{} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl BareMetalSettings {
    /// Reads and checks; all mistakes at once.
    ///
    /// # Errors
    /// What is wrong with the inventory.
    pub fn read(cluster: &Cluster) -> Result<Self, Vec<Violation>> {
        let findings = SettingsFindings::default();
        let settings = Self::look(cluster, &findings);
        findings.or(settings)
    }

    pub(in crate::providers) fn look(cluster: &Cluster, findings: &SettingsFindings) -> Self {
        let fields = Fields::of(Provider::BareMetal, &cluster.inventory.machines.settings, findings);
        let boot = if fields.word("boot") == "pxe" { FirstBoot::Pxe } else { FirstBoot::Iso };
        let controllers = controllers(cluster, &fields, findings);
        let media_url = media_url(&fields);
        if media_url.is_none()
            && !fields.has("mediaUrl")
            && (boot == FirstBoot::Pxe || !controllers.is_empty())
        {
            let what = "where machines and controllers fetch their boot media";
            let fix = "set it to the address of `hardway media serve` or `hardway serve --boot` as controllers and machines \
             reach it, such as http://192.168.126.2:8080";
            findings.add(Violation::required(fields.path("mediaUrl"), what).fix(fix));
        }
        disks(cluster, boot, findings);
        let settings = Self {
            boot,
            media_url,
            interface: fields.text("interface").map(str::to_owned),
            services: match fields.word("services") {
                "daemon" => ServicesBy::Daemon,
                _ => ServicesBy::Systemd,
            },
            names: match fields.word("names") {
                "bind" => NamesBy::Bind,
                "unit" => NamesBy::Unit,
                _ => NamesBy::Dnsmasq,
            },
            upstream_dns: fields.addresses("upstreamDNS"),
            dhcp: match fields.word("dhcp") {
                "dnsmasq" => DhcpBy::Dnsmasq,
                "kea" => DhcpBy::Kea,
                "unit" => DhcpBy::Unit,
                _ => DhcpBy::None,
            },
            ipxe: fields.text("ipxe").map(str::to_owned),
            balancers: balancer_hosts(cluster, &fields, findings),
            router: u8::try_from(fields.number("routerID")).unwrap_or(1),
            controllers,
        };
        settings.check_services(cluster, &fields, findings);
        settings
    }

    /// What hardway itself runs needs, and what does not go together.
    fn check_services(&self, cluster: &Cluster, fields: &Fields<'_>, findings: &SettingsFindings) {
        let (names, dhcp) = (self.names == NamesBy::Unit, self.dhcp == DhcpBy::Unit);
        if let Some(interface) = &self.interface
            && !is_interface(interface)
        {
            fields.wrong("interface", interface, INTERFACE);
        }
        if (names || dhcp) && self.interface.is_none() && !fields.has("interface") {
            let what = "the name server or DHCP server that hardway runs here answers on it";
            let fix = "name the network interface of this computer on the machine network: `ip -br address` lists them";
            findings.add(Violation::required(fields.path("interface"), what).fix(fix));
        }
        if self.services == ServicesBy::Daemon && (names || dhcp || !self.balancers.is_empty()) {
            let detail =
                "names: unit, dhcp: unit and balancers need systemd, because they are to survive a reboot";
            let fix = "remove services: systemd is the default";
            findings.add(Violation::forbidden(fields.path("services"), detail).fix(fix));
        }
        if let Some(folder) = &self.ipxe {
            let is_plain = |c: char| !c.is_control() && !" \"',".contains(c);
            if !folder.starts_with('/') || !folder.chars().all(is_plain) {
                fields.wrong(
                    "ipxe",
                    folder,
                    "must be the absolute path of a folder, without spaces, quotes and commas",
                );
            }
            if self.boot != FirstBoot::Pxe || self.dhcp == DhcpBy::None {
                let detail =
                    "only machines that boot from the network load iPXE, and DHCP tells them where it is";
                let fix = "set boot: pxe and dhcp, or remove ipxe";
                findings.add(Violation::forbidden(fields.path("ipxe"), detail).fix(fix));
            }
        }
        for (i, host) in cluster.inventory.hosts.iter().enumerate() {
            if self.dhcp != DhcpBy::None && host.mac.is_none() && self.boot != FirstBoot::Pxe {
                let what = "a fixed lease is given to a MAC address";
                let fix = "find it on the machine's label or in its firmware setup, or set machines.bare-metal.dhcp to none";
                findings.add(Violation::required(format!("hosts[{i}].mac"), what).fix(fix));
            }
        }
    }

    /// The controllers whose own fields are right, whatever else is wrong.
    pub fn controllers_of(cluster: &Cluster) -> BTreeMap<String, BmcSettings> {
        let findings = SettingsFindings::default();
        let fields = Fields::of(Provider::BareMetal, &cluster.inventory.machines.settings, &findings);
        controllers(cluster, &fields, &findings)
    }

    /// Where this program would have to serve the ISOs: nothing where the URL leads through a name or a path, which is
    /// somebody else's server.
    pub fn media_address(&self) -> Option<SocketAddr> {
        let wanted = self.boot == FirstBoot::Iso && !self.controllers.is_empty();
        self.address_in_url().filter(|_| wanted)
    }

    /// Where a host's ISO is: under its path at hardway's own server, by its name alone at one of yours. Nothing where it has
    /// no path.
    pub fn iso_url(&self, host: &str, path: Option<&Secret>) -> Option<Secret> {
        let url = self.media_url.as_ref()?;
        Some(Secret::new(match self.address_in_url() {
            Some(_) => format!("{url}/{}/{host}.iso", path?.expose_text()),
            None => format!("{url}/{host}.iso"),
        }))
    }

    fn address_in_url(&self) -> Option<SocketAddr> {
        let rest = self.media_url.as_deref()?.strip_prefix("http://")?;
        rest.parse().ok().or_else(|| Some(SocketAddr::new(rest.parse().ok()?, 80)))
    }
}

impl PasswordFileError {
    /// What a person can do. `file` is where the password should be.
    pub fn fix(&self, file: &Path) -> String {
        match self {
            Self::Open { path, .. } => format!("chmod 600 {}", path.display()),
            Self::Unreadable { .. } | Self::Empty { .. } => {
                format!("write the password into {}, with mode 0600", file.display())
            }
        }
    }
}

impl BmcSettings {
    /// With the password.
    ///
    /// # Errors
    /// When the file cannot be read, or others can read it too.
    pub fn open(&self, folder: &Path) -> Result<Bmc, PasswordFileError> {
        let path = folder.join(&self.password_file);
        let (user, address) = (self.user.clone(), self.address.to_string());
        let unreadable = |source| PasswordFileError::Unreadable { user, address, source };
        let read = || Ok((fs_err::metadata(&path)?.permissions().mode() & 0o777, fs_err::read(&path)?));
        let (mode, mut bytes) = read().map_err(unreadable)?;
        if mode & 0o077 != 0 {
            return Err(PasswordFileError::Open { path, mode });
        }
        // An editor's last line end is not part of it.
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        if bytes.is_empty() {
            return Err(PasswordFileError::Empty { path });
        }
        let trust = match &self.trust {
            Trust::File(file) => Trust::File(folder.join(file)),
            other => other.clone(),
        };
        let (address, user) = (self.address.clone(), self.user.clone());
        Ok(Bmc { address, user, password: Secret::new(bytes), login: self.login, trust })
    }
}

fn controllers(
    cluster: &Cluster,
    fields: &Fields<'_>,
    findings: &SettingsFindings,
) -> BTreeMap<String, BmcSettings> {
    let mut found: BTreeMap<String, BmcSettings> = BTreeMap::new();
    let hosts: BTreeSet<&str> = cluster.inventory.hosts.iter().map(|host| host.name.as_str()).collect();
    let mut by_controller: BTreeMap<(String, u16), Vec<(&str, BmcAddress)>> = BTreeMap::new();
    for (name, host) in fields.object("hosts").objects() {
        if !hosts.contains(name) {
            let detail = "no host of the inventory has this name";
            findings.add(Violation::invalid(fields.path(&format!("hosts.{name}")), name, detail));
        }
        if host.has("bmc")
            && let Some(settings) = controller(&host.object("bmc"), findings)
        {
            let same_controller = by_controller.entry(settings.address.controller()).or_default();
            if let Some((other, _)) =
                same_controller.iter().find(|(_, known)| known.is_same(&settings.address))
            {
                // One machine would be two hosts, and the second would overwrite the first.
                let (path, address) = (host.path("bmc.address"), settings.address.to_string());
                let fix = format!(
                    "{other} has the same one: each machine needs its own controller, or its own system on a controller"
                );
                findings.add(Violation::duplicate(path, &address).fix(fix));
            }
            same_controller.push((name, settings.address.clone()));
            found.insert(name.to_owned(), settings);
        }
    }
    found
}

fn controller(bmc: &Fields<'_>, findings: &SettingsFindings) -> Option<BmcSettings> {
    if bmc.has("password") {
        let detail = "passwords are not allowed in this file, which is shown and copied";
        let fix =
            "write it into a file with mode 0600 and name that in passwordFile, such as secrets/bmc-HOST";
        findings.add(Violation::forbidden(bmc.path("password"), detail).fix(fix));
    }
    let address = bmc.needed("address", "the address of the controller, such as redfish+https://10.0.0.5");
    let address = address.and_then(|text| {
        BmcAddress::parse(text)
            .map_err(|error| findings.add(Violation::redacted(bmc.path("address"), error.to_string())))
            .ok()
    });
    let user = bmc.needed("user", "the user that logs in to the controller");
    if user.is_some_and(|user| user.contains([':', '\n'])) {
        findings.add(Violation::redacted(
            bmc.path("user"),
            "must not contain a colon: put the password into passwordFile",
        ));
    }
    let password_file =
        bmc.needed("passwordFile", "the file with the controller's password, relative to the working folder");
    let login = if bmc.word("auth") == "session" { Login::Session } else { Login::Basic };
    let trust = match (bmc.text("caFile"), bmc.flag("insecure")) {
        (Some(_), true) => {
            let detail = "cannot be combined with caFile";
            findings.add(Violation::forbidden(bmc.path("insecure"), detail));
            Trust::System
        }
        (Some(file), false) => Trust::File(file.into()),
        (None, true) => Trust::Anybody,
        (None, false) => Trust::System,
    };
    let (address, user) = (address?, user?.to_owned());
    Some(BmcSettings { address, user, password_file: password_file?.into(), login, trust })
}

/// Without a slash at its end.
fn media_url(fields: &Fields<'_>) -> Option<String> {
    let url = fields.text("mediaUrl")?;
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    // It goes into dnsmasq's configuration, where another line would be a setting, and one of a program to run at that.
    let is_plain = |c: char| c.is_ascii_graphic() && !"@?#,\"'\\".contains(c);
    let is_good =
        rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && rest.chars().all(is_plain));
    if !is_good {
        fields.wrong("mediaUrl", url, "must be http://HOST[:PORT][/PATH], without a login or a query");
        return None;
    }
    Some(url.trim_end_matches('/').to_owned())
}

/// What the kernel takes for the name of an interface (dev_valid_name), and nothing that a configuration could take for more.
pub(super) fn is_interface(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
    !name.is_empty() && name.len() <= 15 && !matches!(name, "." | "..") && name.chars().all(is_plain)
}

pub(super) const INTERFACE: &str = "must be the name of a network interface: at most 15 letters, digits, `.`, `_` and `-`; `ip -br link` lists them";

/// An installer must be told which disk to overwrite; who boots from the network is found by its card.
fn disks(cluster: &Cluster, boot: FirstBoot, findings: &SettingsFindings) {
    for (i, host) in cluster.inventory.hosts.iter().enumerate() {
        if host.install_disk.is_none() && !cluster.is_bootstrap_in_place() {
            let what = "the disk that the installer overwrites";
            let fix = "name the disk, such as installDisk: /dev/sda, or better by a stable name: run `ls -l /dev/disk/by-id` \
             on the machine";
            findings.add(Violation::required(format!("hosts[{i}].installDisk"), what).fix(fix));
        }
        if host.mac.is_none() && boot == FirstBoot::Pxe {
            let what = "machines that boot from the network are identified by their MAC address";
            let fix = "find it on the machine's label or in its firmware setup: mac: \"00:00:5e:00:53:65\"";
            findings.add(Violation::required(format!("hosts[{i}].mac"), what).fix(fix));
        }
    }
}
