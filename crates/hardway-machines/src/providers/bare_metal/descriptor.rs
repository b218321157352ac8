//! Machines that are there, as the rest of hardway knows them.

use hardway_assets::inventory;

use super::{BareMetal, BareMetalSettings, checks};
use crate::preflight::{CheckName, NAMES};
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{
    Descriptor, Ground, Inputs, Installs, ProviderError, Sample, Surroundings,
};

/// The provider's row.
pub static DESCRIPTOR: Descriptor = Descriptor {
    installs: Installs::FromMedia,
    leaves: Some("what is on the disks of the machines"),
    sample: Sample {
        settings: SETTINGS,
        server: "# Where hosts reach `hardway serve`, for configs that do not fit on their medium:\n\
                 # ignitionServer: {url: \"https://192.168.126.2:22624\"}\n",
        hosts: HOSTS,
        // MAC addresses kept for documentation (RFC 7042, section 2.1.2): no card has one.
        host: |n| format!(", mac: \"00:00:5e:00:53:{n:02x}\", installDisk: /dev/sda"),
        release: None,
        is_complete: false,
    },
    complaints: COMPLAINTS,
    checks: &[NAMES, &[CheckName::Addresses, CheckName::MachineSizes]],
    own_checks: &[(CheckName::VirtualAddresses, checks::virtual_addresses), (CheckName::Bmc, checks::bmc)],
    surroundings: Surroundings { ground: |_| Ground::Here, prints_records: true, ..Surroundings::ELSEWHERE },
    ..Descriptor::new(
        inventory::Provider::BareMetal,
        |cluster, findings| drop(BareMetalSettings::look(cluster, findings)),
        planner,
    )
};

fn planner(inputs: &Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let Inputs { cluster, folder, program, stage } = *inputs;
    let settings = BareMetalSettings::read(cluster)?;
    let (program, folder) = (program.to_owned(), folder.to_owned());
    Ok(Box::new(BareMetal { cluster: cluster.clone(), settings, program, folder, stage }))
}

/// Machines without a controller need no settings: they are booted by hand.
const SETTINGS: &str = "  # All of this is optional; a machine without a controller is booted by a person, who is told how.
  # bare-metal:
  #   interface: eno1                       # card of this computer that gets both VIPs below, where HAProxy runs here
  #   boot: iso                             # or pxe
  #   mediaUrl: http://192.168.126.2:8080   # where controllers reach this computer: `hardway media serve`
  #   upstreamDNS: 192.168.126.1            # for bare-metal/dnsmasq.conf: whom to ask about names outside the cluster
  #   hosts:
  #     master-0:
  #       bmc:                              # iDRAC, iLO, XClarity, …: anything that speaks Redfish
  #         address: redfish+https://10.0.0.5
  #         user: admin
  #         passwordFile: secrets/bmc-master-0   # the password alone, mode 0600
  #         caFile: bmc-ca.pem              # or insecure: true
";

const HOSTS: &str = "\
# mac: of the card that is plugged into the machine network; it is on the machine's label, in its setup, or `ip -br link`
#   shows it. The ones below are made up: no card has them. Where it is not known, name the card instead: interface: eno1
# installDisk: what is on it is lost. Names such as /dev/sda can change from boot to boot, those below /dev/disk/by-id
#   do not: `ls -l /dev/disk/by-id` on the machine, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4
# cpus, memoryGiB, diskGiB: what the machine has; `hardway check` then says whether that is enough
";

/// What to do about the words that HAProxy and dnsmasq complain with. What a management controller says comes from
/// `hardway bmc`, with advice of its own.
const COMPLAINTS: &[Complaint] = &[
    Complaint {
        words: &["wait for a person"],
        advice: "do what is written there, machine by machine; hardway goes on when it has seen them",
    },
    Complaint {
        words: &["cannot bind socket", "Cannot assign requested address"],
        advice: "the virtual address is on no interface of this host: `ip address add ADDRESS/32 dev INTERFACE`, on the interface of the machine network",
    },
    Complaint {
        words: &["failed to create listening socket", "Address already in use"],
        advice: "another name server has port 53 of this address: `ss -lunp` says which; have that one answer (bare-metal/named.conf and dnsmasq.conf say what), or stop it",
    },
];
