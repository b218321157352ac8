//! `hardway init`

use std::fmt::Write as _;

use hardway_assets::File;
use hardway_machines::providers::lab::{REGISTRY_PORT, RELEASE};

use crate::cli::{Global, InitArgs, ProviderArg};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Writes both input files with comments. A file that is there stays as it is.
pub(crate) fn run(global: &Global, args: &InitArgs, out: &Output) -> Result<Exit, Report> {
    fs_err::create_dir_all(&global.dir).map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    let workdir = Workdir::open(&global.dir)?;
    let files = [("install-config.yaml", install_config(args)), ("inventory.yaml", inventory(args))];
    let (there, missing): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(name, _)| workdir.path(name).exists());
    if missing.is_empty() {
        let names: Vec<String> = there.iter().map(|(name, _)| workdir.shown(name)).collect();
        return Err(Report::new(Code::Usage, format!("{} are already there", names.join(" and ")))
            .fix("choose another folder with --dir, or move the files away"));
    }
    there.iter().for_each(|(name, _)| out.info(&format!("{} is yours and stays", workdir.shown(name))));
    for (name, text) in missing {
        // The install-config will hold a pull secret as soon as it is filled in.
        workdir.write(&File::secret(name, text))?;
        out.info(&format!("{} written", workdir.shown(name)));
    }
    let dir = global.dir.display();
    out.info(&match args.provider {
        ProviderArg::Lab => format!("they are good as they are: hardway create cluster --dir {dir}"),
        _ => format!(
            "edit both, then:\n  hardway create ignition-configs --dir {dir}   # to look at what hosts will boot with\n  \
             hardway check --dir {dir}                     # what is missing around them\n  \
             hardway create cluster --dir {dir}            # all of it, with a real release"
        ),
    });
    Ok(Exit::Done)
}

fn install_config(args: &InitArgs) -> String {
    format!(
        "\
# The standard file of openshift-install, unchanged. `hardway explain FIELD` tells about each field.
apiVersion: v1
baseDomain: example.com
metadata:
  name: ocp4                      # the cluster's domain is ocp4.example.com
networking:
  networkType: OVNKubernetes
  machineNetwork:                 # where the hosts are
  - cidr: 192.168.126.0/24
  clusterNetwork:                 # where pods are
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  serviceNetwork:                 # where services are
  - 172.30.0.0/16
platform:
  none: {{}}
controlPlane:
  name: master
  replicas: {masters}
compute:
- name: worker
  replicas: {workers}
# Replace with yours. This one opens nothing, which is enough for the sample release.
pullSecret: '{{\"auths\":{{\"registry.example.com\":{{\"auth\":\"bm9ib2R5Om5vdGhpbmc=\"}}}}}}'
# sshKey: ssh-ed25519 AAAA… you@example.com
",
        masters = args.masters,
        workers = args.workers,
    )
}

/// Where the machines' gateway is this host, it is also where they reach `hardway serve`; elsewhere somebody has to say.
fn server(provider: ProviderArg) -> &'static str {
    match provider {
        ProviderArg::Gce => {
            "# Where instances reach `hardway serve`: their configs do not fit into metadata.\n\
             ignitionServer: {url: \"https://192.168.126.2:22624\"}\n"
        }
        ProviderArg::BareMetal => {
            "# Where hosts reach `hardway serve`, for configs that do not fit on their medium:\n\
             # ignitionServer: {url: \"https://192.168.126.2:22624\"}\n"
        }
        ProviderArg::Lab | ProviderArg::Libvirt => "",
    }
}

/// A lab has a registry of its own, with a release in it.
fn release(args: &InitArgs) -> String {
    let of_lab = || format!("192.168.126.1:{REGISTRY_PORT}/{RELEASE}");
    match (&args.release, args.provider) {
        (Some(release), _) => release.clone(),
        (None, ProviderArg::Lab) => of_lab(),
        (None, _) => "sample".to_owned(),
    }
}
/// Machines without a controller need no settings: they are booted by hand.
const BARE_METAL: &str = "  # All of this is optional; a machine without a controller is booted by a person, who is told how.
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

/// MAC addresses kept for documentation (RFC 7042, section 2.1.2): no card has one.
const BARE_METAL_HOSTS: &str = "\
# mac: of the card that is plugged into the machine network; it is on the machine's label, in its setup, or `ip -br link`
#   shows it. The ones below are made up: no card has them. Where it is not known, name the card instead: interface: eno1
# installDisk: what is on it is lost. Names such as /dev/sda can change from boot to boot, those below /dev/disk/by-id
#   do not: `ls -l /dev/disk/by-id` on the machine, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4
# cpus, memoryGiB, diskGiB: what the machine has; `hardway check` then says whether that is enough
";

const GCE: &str = "  gce:
    project: my-project
    zones: [us-central1-a, us-central1-b, us-central1-c]
    image: rhcos-418-94-202501221327-0-gcp-x86-64
    imageProject: rhcos-cloud
";

fn inventory(args: &InitArgs) -> String {
    let (provider, settings) = match args.provider {
        ProviderArg::BareMetal => ("bare-metal", BARE_METAL),
        ProviderArg::Gce => ("gce", GCE),
        ProviderArg::Lab => ("lab", ""),
        ProviderArg::Libvirt => {
            ("libvirt", "  libvirt: {uri: \"qemu:///system\", pool: default, network: ocp4}\n")
        }
    };
    let mut text = format!(
        "\
# What install-config cannot say. `hardway schema inventory` gives your editor the shape of it.
apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: {release}                   # a pull spec by tag or digest, or `sample`: made up, for trying things out
machines:
  provider: {provider}
{settings}network:
  gateway: 192.168.126.1
  dns: [192.168.126.1]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
  loadBalancer: haproxy
{server}hosts:
",
        release = release(args),
        server = server(args.provider),
    );
    // Instances come with a card and a disk.
    let (hint, machine): (_, fn(u8) -> String) = match args.provider {
        ProviderArg::BareMetal => {
            (BARE_METAL_HOSTS, |n| format!(", mac: \"00:00:5e:00:53:{n:02x}\", installDisk: /dev/sda"))
        }
        ProviderArg::Gce => ("", |_| String::new()),
        ProviderArg::Lab | ProviderArg::Libvirt => {
            ("", |n| format!(", mac: \"52:54:00:7e:00:{n:02x}\", installDisk: /dev/vda"))
        }
    };
    text.push_str(hint);
    let mut host = |name: String, role: &str, n: u8| {
        let more = machine(n);
        let _ = writeln!(text, "- {{name: {name}, role: {role}, ip: 192.168.126.{n}{more}}}");
    };
    host("bootstrap".to_owned(), "bootstrap", 100);
    (0..args.masters).for_each(|i| host(format!("master-{i}"), "master", 101 + i));
    (0..args.workers).for_each(|i| host(format!("worker-{i}"), "worker", 110 + i));
    text
}
