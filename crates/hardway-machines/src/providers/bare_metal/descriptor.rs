//! Machines that are there, as the rest of hardway knows them.

use hardway_assets::inventory;

use super::{BareMetal, BareMetalSettings, HostFacts, checks, name_service};
use crate::check::{CheckName, NAMES};
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{
    Descriptor, GATEWAY, Ground, HostedSample, Inputs, Installs, ProviderError, ProviderSurroundings, Sample,
};

/// The provider's row.
pub static DESCRIPTOR: Descriptor = Descriptor {
    installs: Installs::FromMedia,
    leaves: Some("what is on the disks of the machines"),
    names_begin_with_infra_id: true,
    sample: Sample {
        settings: SETTINGS,
        name_server: GATEWAY,
        server: "# Where hosts reach `hardway serve`, for configs that do not fit on their medium:\n\
                 # ignitionServer: {url: \"https://192.168.126.2:22624\"}\n",
        hosts: HOSTS,
        // MAC addresses kept for documentation (RFC 7042, section 2.1.2): no card has one.
        host: |n| format!(", mac: \"00:00:5e:00:53:{n:02x}\", installDisk: /dev/sda"),
        release: None,
        is_complete: false,
    },
    hosted_sample: Some(HostedSample { machines: HOSTED_MACHINES, name_server: GATEWAY, pool: HOSTED_POOL }),
    complaints: COMPLAINTS,
    checks: &[NAMES, &[CheckName::Addresses, CheckName::MachineSizes]],
    own_checks: &[(CheckName::VirtualAddresses, checks::virtual_addresses), (CheckName::Bmc, checks::bmc)],
    surroundings: ProviderSurroundings {
        ground: |_| Ground::Here,
        prints_records: true,
        brings_names: name_service::is_own,
        has_brought_names: name_service::is_in_place,
        ..ProviderSurroundings::ELSEWHERE
    },
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
    let facts = HostFacts::look(&settings, &folder);
    Ok(Box::new(BareMetal { cluster: cluster.clone(), settings, program, folder, stage, facts }))
}

const HOSTED_MACHINES: &str = "  provider: bare-metal
  # With management controllers, machines are booted from here; without, by you.
  # bare-metal:
  #   mediaUrl: http://192.168.126.2:8080   # where controllers fetch media: `hardway media serve`
  #   hosts:
  #     POOL-0:
  #       bmc: {address: \"redfish+https://10.0.0.5\", user: admin, passwordFile: secrets/bmc-POOL-0}
";

const HOSTED_POOL: &str =
    "  # installDisk: all data on it is lost; names below /dev/disk/by-id do not change from boot to boot.
  hosts:
  - {name: POOL-0, ip: 192.168.126.110, mac: \"00:00:5e:00:53:10\", installDisk: /dev/sda, zone: rack-a}
  - {name: POOL-1, ip: 192.168.126.111, mac: \"00:00:5e:00:53:11\", installDisk: /dev/sda, zone: rack-b}
";

/// Machines without a controller need no settings: they are booted by hand.
const SETTINGS: &str = "  # All of this is optional. Machines without a management controller are booted by hand; hardway shows the steps.
  # bare-metal:
  #   interface: eno1                       # NIC of this computer for both VIPs below, if HAProxy runs here
  #   boot: iso                             # or pxe
  #   mediaUrl: http://192.168.126.2:8080   # where controllers reach this computer: `hardway media serve`
  #   names: dnsmasq                        # files for dnsmasq or bind, or unit: hardway runs a dnsmasq here
  #   upstreamDNS: 192.168.126.1            # forwarder of dnsmasq, for names outside the cluster
  #   dhcp: none                            # or files for dnsmasq or kea, or unit: hardway runs a dnsmasq here
  #   balancers:                            # hosts for HAProxy instead of this computer; two or more: with keepalived
  #     lb-0: {ip: 192.168.126.5, interface: eno1, ssh: root@192.168.126.5}
  #     lb-1: {ip: 192.168.126.6, interface: eno1, ssh: root@192.168.126.6}
  #   hosts:
  #     master-0:
  #       bmc:                              # iDRAC, iLO, XClarity, …: anything that speaks Redfish
  #         address: redfish+https://10.0.0.5
  #         user: admin
  #         passwordFile: secrets/bmc-master-0   # the password alone, mode 0600
  #         caFile: bmc-ca.pem              # or insecure: true
";

const HOSTS: &str = "\
# mac: of the NIC on the machine network; it is on the machine's label, in its firmware setup, or in the output of `ip -br link`.
#   The ones below are placeholders. If you do not know it, name the NIC instead: interface: eno1
# installDisk: all data on it is lost. Names such as /dev/sda can change from boot to boot; those below /dev/disk/by-id
#   do not: `ls -l /dev/disk/by-id` on the machine, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4
# cpus, memoryGiB, diskGiB: what the machine has; `hardway check` then tells whether that is enough
";

/// What to do about the words that HAProxy and dnsmasq complain with. What a management controller says comes from
/// `hardway bmc`, with advice of its own.
const COMPLAINTS: &[Complaint] = &[
    Complaint {
        words: &["wait for a person"],
        advice: "follow these steps, machine by machine; hardway continues once it has seen them",
    },
    Complaint {
        words: &["cannot bind socket", "Cannot assign requested address"],
        advice: "no interface of this host has the virtual address: set machines.bare-metal.interface to the one on the machine \
         network",
    },
    Complaint {
        words: &["failed to create listening socket", "Address already in use"],
        advice: "another name server uses port 53 of this address: `ss -lunp` shows which; add the records of \
         bare-metal/named.conf or dnsmasq.conf there, or stop it",
    },
    Complaint {
        words: &["System has not been booted with systemd"],
        advice: "this host has no systemd that could keep the service: set machines.bare-metal.services to daemon for HAProxy, and let \
         names, dhcp and balancers be somebody else's",
    },
];
