//! `hardway init`

use std::fmt::Write as _;

use hardway_assets::File;
use hardway_assets::release_payload::SAMPLE;
use hardway_base::shell_word;
use hardway_machines::providers::{Sample, descriptor};

use crate::cli::{Global, InitArgs};
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
    let dir = shell_word(&global.dir.display().to_string());
    out.info(&match descriptor(args.provider).sample.is_complete {
        true => format!("they are good as they are: hardway create cluster --dir {dir}"),
        false => format!(
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

fn inventory(args: &InitArgs) -> String {
    let Sample { settings, release, server, hosts, host: machine, .. } = descriptor(args.provider).sample;
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
        release = args.release.as_deref().or(release).unwrap_or(SAMPLE),
        provider = args.provider.name(),
    );
    text.push_str(hosts);
    let mut host = |name: String, role: &str, n: u8| {
        let more = machine(n);
        let _ = writeln!(text, "- {{name: {name}, role: {role}, ip: 192.168.126.{n}{more}}}");
    };
    host("bootstrap".to_owned(), "bootstrap", 100);
    (0..args.masters).for_each(|i| host(format!("master-{i}"), "master", 101 + i));
    (0..args.workers).for_each(|i| host(format!("worker-{i}"), "worker", 110 + i));
    text
}
