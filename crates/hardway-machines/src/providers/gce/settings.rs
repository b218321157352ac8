//! `machines.gce` of the inventory.

use std::path::PathBuf;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Provider, Role};
use hardway_assets::violation::Violation;
use ipnet::IpNet;

use crate::providers::fields::{Fields, Findings};

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
        let findings = Findings::default();
        let settings = Self::look(cluster, &findings);
        findings.or(settings)
    }

    pub(in crate::providers) fn look(cluster: &Cluster, findings: &Findings) -> Self {
        let fields = Fields::of(Provider::Gce, &cluster.inventory.machines.settings, findings);
        let text = |name: &str| fields.text_or_default(name).to_owned();
        let project = fields.needed("project", "the project that the machines are made in is required");
        let zones = zones(&fields, findings);
        let network = text("network");
        for name in ["project", "network", "subnet", "machineType", "diskType", "imageProject", "bucket"] {
            // A word that begins with a dash would be an option.
            if let Some(value) = fields.text(name).filter(|value| !is_word(value)) {
                fields.wrong(
                    name,
                    value,
                    "must be a name: small letters, digits, dashes, dots, underscores and colons",
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
    /// is when others are added or removed; by their order where there is none.
    pub fn zone(&self, cluster: &Cluster, host: &Host) -> &str {
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

fn zones(fields: &Fields<'_>, findings: &Findings) -> Vec<String> {
    let zones: Vec<String> = fields.texts("zones").into_iter().map(str::to_owned).collect();
    if zones.is_empty() {
        let why = "the zones that machines are put into in turn are required, such as [us-central1-a, us-central1-b]";
        findings.add(Violation::required(fields.path("zones"), why));
    }
    for (i, zone) in zones.iter().enumerate() {
        let path = fields.path(&format!("zones[{i}]"));
        if !is_word(zone) || region(zone).is_empty() {
            findings.add(Violation::invalid(path, zone, "must be a zone, such as us-central1-a"));
        } else if region(zone) != region(&zones[0]) {
            let detail =
                format!("must be in the region of the first, {}: they share a subnet", region(&zones[0]));
            findings.add(Violation::invalid(path, zone, detail));
        } else if zones[..i].contains(zone) {
            findings.add(Violation::duplicate(path, zone));
        }
    }
    zones
}

fn image(fields: &Fields<'_>, project: &str, findings: &Findings) -> Image {
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
                fields.wrong("imageFile", file, "must be the file ….tar.gz of the release's image for gcp");
            }
            let bucket = fields.needed("bucket", "the bucket that the image goes through is required");
            Image::Imported { file: file.into(), bucket: bucket.unwrap_or_default().to_owned() }
        }
        (named, _) => {
            let violation = match named {
                Some(_) => Violation::forbidden(fields.path("imageFile"), "either an image is there, or it is imported"),
                None => Violation::required(fields.path("image"), "the image of the OS is required")
                    .fix("name one that is there with image and imageProject (rhcos-cloud has the releases'), or a file with imageFile and bucket: hardway release media --format gcp"),
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
fn hosts(cluster: &Cluster, findings: &Findings) {
    for (i, host) in cluster.inventory.hosts.iter().enumerate() {
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = format!("{}-{}", cluster.identity.infra_id, host.name);
        if !host.name.chars().all(is_good) || host.name.ends_with('-') || name.len() > 63 {
            let detail = "must be small letters, digits and dashes, and at most 63 characters with the cluster's infra id: instances are named after it";
            findings.add(Violation::invalid(format!("hosts[{i}].name"), &host.name, detail));
        }
        if host.ip.first().is_none_or(std::net::IpAddr::is_ipv6) {
            let detail = "the machine's address in the subnet, of IPv4, must come first";
            findings.add(Violation::required(format!("hosts[{i}].ip"), detail));
        }
    }
    if cluster.inventory.ignition_server.url.is_none() {
        let detail =
            "configs are too large for the metadata of an instance: machines fetch them from `hardway serve`";
        let fix = "set it to an address of this computer that the instances reach";
        findings.add(Violation::required("ignitionServer.url", detail).fix(fix));
    }
    if cluster.is_bootstrap_in_place() && cluster.inventory.with_role(Role::Master).next().is_some() {
        let detail = "a node that installs itself boots a live system, which instances do not";
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
