//! `machines.gce` of the inventory.

use std::path::PathBuf;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Provider, Role};
use hardway_assets::violation::Violation;
use ipnet::IpNet;

use crate::providers::fields::{Fields, SettingsFindings};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GceSettings {
    /// The project that pays.
    pub project: String,
    /// Where machines are put in turn; all of one region.
    pub zones: Vec<String>,
    /// The network, and the subnet that holds the addresses of the hosts.
    pub network: String,
    /// The subnet.
    pub subnet: String,
    /// Of machines whose host does not say cpus and memoryGiB.
    pub machine_type: String,
    /// Kind of the boot disk.
    pub disk_type: String,
    /// The OS.
    pub image: Image,
    /// Whether machines have addresses of their own on the internet; without, they get out through a NAT.
    pub external_addresses: bool,
    /// Who may reach the API and the routes from outside.
    pub source_ranges: Vec<String>,
    /// As whom machines act; none: as nobody.
    pub service_account: Option<String>,
}

/// Where the OS image comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image {
    /// One that is there.
    Named {
        /// Its name.
        name: String,
        /// Whose it is.
        project: String,
    },
    /// The release's, imported from a file that `hardway release media --format gcp` brings.
    Imported {
        /// `rhcos-…-gcp.x86_64.tar.gz`, from the working folder.
        file: PathBuf,
        /// The bucket that it goes through.
        bucket: String,
    },
}

impl GceSettings {
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
        let fields = Fields::of(Provider::Gce, &cluster.inventory.machines.settings, findings);
        let text = |name: &str| fields.text_or_default(name).to_owned();
        let project = fields.needed("project", "the project to create the machines in");
        let zones = zones(&fields, findings);
        let network = text("network");
        for name in ["project", "network", "subnet", "machineType", "diskType", "imageProject", "bucket"] {
            // A word that begins with a dash would be an option.
            if let Some(value) = fields.text(name).filter(|value| !is_word(value)) {
                fields.wrong(
                    name,
                    value,
                    "must consist of lower-case letters, digits, dashes, dots, underscores and colons",
                );
            }
        }
        let settings = Self {
            image: image(&fields, project.unwrap_or_default(), findings),
            project: project.unwrap_or_default().to_owned(),
            zones,
            subnet: fields.text("subnet").unwrap_or(&network).to_owned(),
            network,
            machine_type: text("machineType"),
            disk_type: text("diskType"),
            external_addresses: fields.flag("externalAddresses"),
            source_ranges: source_ranges(&fields),
            service_account: fields.text("serviceAccount").map(str::to_owned),
        };
        hosts(cluster, findings);
        settings
    }

    /// `us-central1` of `us-central1-a`.
    pub fn region(&self) -> &str {
        region(self.zones.first().map_or("", String::as_str))
    }

    /// The zone of a host: those of one role go round, by the number their names end with, so that a machine stays where it
    /// is when others are added or removed; by their order where there is none. The inventory of hosted workers says itself.
    pub fn zone(&self, cluster: &Cluster, host: &Host) -> &str {
        let placed = cluster.inventory.hosted.as_ref().and_then(|places| places.zones.get(&host.name));
        if let Some(zone) = placed.and_then(|zone| self.zones.iter().find(|known| *known == zone)) {
            return zone;
        }
        let digits = host.name.len() - host.name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number = host.name[host.name.len() - digits..].parse::<usize>().ok();
        let place = || cluster.inventory.with_role(host.role).position(|other| other.name == host.name);
        &self.zones[number.or_else(place).unwrap_or(0) % self.zones.len()]
    }

    /// What a host runs on: a type by name, or one of the same family made to measure.
    pub fn machine_type(&self, host: &Host) -> String {
        match (host.cpus, host.memory_gib) {
            (Some(cpus), Some(gib)) => {
                let family = self.machine_type.split('-').next().unwrap_or("n2");
                format!("{family}-custom-{cpus}-{}", u64::from(gib) * 1024)
            }
            _ => self.machine_type.clone(),
        }
    }
}

fn zones(fields: &Fields<'_>, findings: &SettingsFindings) -> Vec<String> {
    let zones: Vec<String> = fields.texts("zones").into_iter().map(str::to_owned).collect();
    if zones.is_empty() {
        let why = "the zones to distribute the machines over, such as [us-central1-a, us-central1-b]";
        findings.add(Violation::required(fields.path("zones"), why));
    }
    for (i, zone) in zones.iter().enumerate() {
        let path = fields.path(&format!("zones[{i}]"));
        if !is_word(zone) || region(zone).is_empty() {
            findings.add(Violation::invalid(path, zone, "must be a zone, such as us-central1-a"));
        } else if region(zone) != region(&zones[0]) {
            let detail = format!(
                "must be in the same region as the first, {}: all zones share a subnet",
                region(&zones[0])
            );
            findings.add(Violation::invalid(path, zone, detail));
        } else if zones[..i].contains(zone) {
            findings.add(Violation::duplicate(path, zone));
        }
    }
    zones
}

fn image(fields: &Fields<'_>, project: &str, findings: &SettingsFindings) -> Image {
    match (fields.text("image"), fields.text("imageFile")) {
        (Some(name), None) => {
            if !is_word(name) {
                fields.wrong("image", name, "must be the name of an image");
            }
            Image::Named {
                name: name.to_owned(),
                project: fields.text("imageProject").unwrap_or(project).to_owned(),
            }
        }
        (None, Some(file)) => {
            if !file.ends_with(".tar.gz") {
                fields.wrong("imageFile", file, "must be the .tar.gz file of the release's gcp image");
            }
            let bucket = fields.needed("bucket", "the bucket to upload the image to");
            Image::Imported { file: file.into(), bucket: bucket.unwrap_or_default().to_owned() }
        }
        (named, _) => {
            let violation = match named {
                Some(_) => Violation::forbidden(fields.path("imageFile"), "cannot be combined with image"),
                None => Violation::required(fields.path("image"), "the OS image")
                    .fix("name an existing one with image and imageProject (rhcos-cloud has those of the releases), or a file \
                     with imageFile and bucket: hardway release media --format gcp"),
            };
            findings.add(violation);
            Image::Named { name: String::new(), project: String::new() }
        }
    }
}

fn source_ranges(fields: &Fields<'_>) -> Vec<String> {
    let ranges = fields.texts("sourceRanges");
    for range in &ranges {
        if range.parse::<IpNet>().is_err() {
            fields.wrong("sourceRanges", range, "must be networks, such as 203.0.113.0/24");
        }
    }
    ranges.into_iter().map(str::to_owned).collect()
}

/// Names of machines become names of instances, and configs do not fit into metadata.
fn hosts(cluster: &Cluster, findings: &SettingsFindings) {
    for (i, host) in cluster.inventory.hosts.iter().enumerate() {
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = format!("{}-{}", cluster.identity.infra_id, host.name);
        if !host.name.chars().all(is_good) || host.name.ends_with('-') || name.len() > 63 {
            let detail = "must consist of lower-case letters, digits and dashes, and have at most 63 characters with the \
             cluster's infra id: instances are named after it";
            findings.add(Violation::invalid(format!("hosts[{i}].name"), &host.name, detail));
        }
        if host.ip.first().is_none_or(std::net::IpAddr::is_ipv6) {
            let detail = "the machine's IPv4 address in the subnet must come first";
            findings.add(Violation::required(format!("hosts[{i}].ip"), detail));
        }
    }
    // Hosted workers fetch from HyperShift's server, or from one that their controller is told of.
    if cluster.inventory.ignition_server.url.is_none() && !cluster.inventory.is_hosted() {
        let detail =
            "configs are too large for the metadata of an instance: machines fetch them from `hardway serve`";
        let fix = "set it to an address of this computer that the instances reach";
        findings.add(Violation::required("ignitionServer.url", detail).fix(fix));
    }
    if cluster.is_bootstrap_in_place() && cluster.inventory.with_role(Role::Master).next().is_some() {
        let detail = "a node that installs itself boots a live system, which instances cannot";
        findings.add(Violation::forbidden("machines.provider", detail));
    }
}

fn region(zone: &str) -> &str {
    zone.rsplit_once('-').map_or("", |(region, _)| region)
}

fn is_word(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._:".contains(c);
    text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) && text.chars().all(is_inner)
}
