//! `machines.bare-metal` of the inventory.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::inventory::Provider;
use hardway_assets::violation::Violation;
use hardway_base::Secret;

use crate::providers::fields::{Fields, Findings};
use crate::redfish::{Bmc, BmcAddress, Login, Trust};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareMetalSettings {
    /// What machines boot from the first time.
    pub boot: Boot,
    /// Where the ISOs of `media/`, or the files of `pxe/`, are served.
    pub media_url: Option<String>,
    /// The card of this computer that gets the virtual addresses, where HAProxy runs here.
    pub interface: Option<String>,
    /// Whom the name server of `bare-metal/dnsmasq.conf` asks about other names.
    pub upstream_dns: Vec<IpAddr>,
    /// Management controllers, by host. Machines without one are booted by a person.
    pub controllers: BTreeMap<String, BmcSettings>,
}

/// What machines boot from the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boot {
    /// A live ISO, in a virtual drive or on a stick.
    Iso,
    /// The network.
    Pxe,
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
    #[error("the password of {user} at {address} cannot be read")]
    Unreadable {
        /// Who logs in.
        user: String,
        /// Where.
        address: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Others can read it.
    #[error("{} can be read by others than its owner: its permissions are {mode:04o}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Nothing in it.
    #[error("{} holds no password", path.display())]
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
        let findings = Findings::default();
        let settings = Self::look(cluster, &findings);
        findings.or(settings)
    }

    pub(in crate::providers) fn look(cluster: &Cluster, findings: &Findings) -> Self {
        let fields = Fields::of(Provider::BareMetal, &cluster.inventory.machines.settings, findings);
        let boot = if fields.word("boot") == "pxe" { Boot::Pxe } else { Boot::Iso };
        let controllers = controllers(cluster, &fields, findings);
        let media_url = media_url(&fields);
        if media_url.is_none() && !fields.has("mediaUrl") && (boot == Boot::Pxe || !controllers.is_empty()) {
            let what = "where machines and controllers fetch what they boot is required";
            let fix = "set it to where `hardway media serve` or `hardway serve --boot` listens, as controllers and machines reach it, such as http://192.168.126.2:8080";
            findings.add(Violation::required(fields.path("mediaUrl"), what).fix(fix));
        }
        disks(cluster, boot, findings);
        let interface = fields.text("interface").map(str::to_owned);
        let upstream_dns = fields.addresses("upstreamDNS");
        Self { boot, media_url, interface, upstream_dns, controllers }
    }

    /// The controllers whose own fields are right, whatever else is wrong.
    pub fn controllers_of(cluster: &Cluster) -> BTreeMap<String, BmcSettings> {
        let findings = Findings::default();
        let fields = Fields::of(Provider::BareMetal, &cluster.inventory.machines.settings, &findings);
        controllers(cluster, &fields, &findings)
    }

    /// Where this program would have to serve the ISOs: nothing where the URL leads through a name or a path, which is
    /// somebody else's server.
    pub fn media_address(&self) -> Option<SocketAddr> {
        let wanted = self.boot == Boot::Iso && !self.controllers.is_empty();
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

fn controllers(cluster: &Cluster, fields: &Fields<'_>, findings: &Findings) -> BTreeMap<String, BmcSettings> {
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
                    "{other} has it: each machine has a controller, or a system of a controller, of its own"
                );
                findings.add(Violation::duplicate(path, &address).fix(fix));
            }
            same_controller.push((name, settings.address.clone()));
            found.insert(name.to_owned(), settings);
        }
    }
    found
}

fn controller(bmc: &Fields<'_>, findings: &Findings) -> Option<BmcSettings> {
    if bmc.has("password") {
        let detail = "a password does not belong into this file, which is shown and copied";
        let fix =
            "write it into a file with mode 0600 and name that in passwordFile, such as secrets/bmc-HOST";
        findings.add(Violation::forbidden(bmc.path("password"), detail).fix(fix));
    }
    let address =
        bmc.needed("address", "where the controller is, such as redfish+https://10.0.0.5, is required");
    let address = address.and_then(|text| {
        BmcAddress::parse(text)
            .map_err(|reason| findings.add(Violation::redacted(bmc.path("address"), reason)))
            .ok()
    });
    let user = bmc.needed("user", "who logs in at the controller is required");
    if user.is_some_and(|user| user.contains([':', '\n'])) {
        findings.add(Violation::redacted(
            bmc.path("user"),
            "must not hold a colon: a password goes into passwordFile",
        ));
    }
    let password_file = bmc.needed(
        "passwordFile",
        "the file with the controller's password, from the working folder, is required",
    );
    let login = if bmc.word("auth") == "session" { Login::Session } else { Login::Basic };
    let trust = match (bmc.text("caFile"), bmc.flag("insecure")) {
        (Some(_), true) => {
            let detail = "either certificates are checked against caFile, or not at all";
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
    let is_good = rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.starts_with('/') && !rest.contains(['@', '?', '#', ' ', '"', '\\'])
    });
    if !is_good {
        fields.wrong("mediaUrl", url, "must be http://HOST[:PORT][/PATH], without a login or a query");
        return None;
    }
    Some(url.trim_end_matches('/').to_owned())
}

/// An installer must be told which disk to overwrite; who boots from the network is found by its card.
fn disks(cluster: &Cluster, boot: Boot, findings: &Findings) {
    for (i, host) in cluster.inventory.hosts.iter().enumerate() {
        if host.install_disk.is_none() && !cluster.is_bootstrap_in_place() {
            let what = "the disk that the installer overwrites is required";
            let fix = "name it, such as installDisk: /dev/sda, or by a name that stays: `ls -l /dev/disk/by-id` on the machine";
            findings.add(Violation::required(format!("hosts[{i}].installDisk"), what).fix(fix));
        }
        if host.mac.is_none() && boot == Boot::Pxe {
            let what = "a machine that boots from the network is found by the address of its card";
            let fix = "it is on the machine's label and in its setup: mac: \"00:00:5e:00:53:65\"";
            findings.add(Violation::required(format!("hosts[{i}].mac"), what).fix(fix));
        }
    }
}
