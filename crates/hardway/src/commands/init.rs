//! `hardway init`

use std::fmt::Write as _;

use hardway_assets::File;
use hardway_assets::input_tables::{self, INVENTORY};
use hardway_assets::release_payload::{ReleaseWord, SAMPLE};
use hardway_base::shell_word;
use hardway_machines::providers::{Sample, descriptor};
use serde_json::Value;

use crate::cli::{Global, InitArgs};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Writes both input files with comments. A file that is there stays as it is.
pub(crate) fn run(global: &Global, args: &InitArgs, out: &Output) -> Result<Exit, Report> {
    // What is a file, `Workdir` reports as every other command does.
    if !global.dir.exists() {
        fs_err::create_dir_all(&global.dir).map_err(|error| {
            Report::from_error(Code::Usage, &error).fix("name a folder with --dir that can be created")
        })?;
    }
    let workdir = Workdir::open(&global.dir)?;
    let files = [("install-config.yaml", install_config(args)), ("inventory.yaml", inventory(args))];
    let (there, missing): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(name, _)| workdir.path(name).exists());
    if missing.is_empty() {
        let names: Vec<String> = there.iter().map(|(name, _)| workdir.shown(name)).collect();
        return Err(Report::new(Code::Usage, format!("{} already exist", names.join(" and ")))
            .fix("choose another folder with --dir, or move these files away"));
    }
    there
        .iter()
        .for_each(|(name, _)| out.info(&format!("{} already exists and is kept", workdir.shown(name))));
    for (name, text) in missing {
        let (schema, path) = schema_of(name);
        workdir.write(&File::public(path.clone(), format!("{schema:#}\n")))?;
        let text = format!("# yaml-language-server: $schema={path}\n{text}");
        // The install-config will hold a pull secret as soon as it is filled in.
        workdir.write(&File::secret(name, text))?;
        out.info(&format!("{} written", workdir.shown(name)));
    }
    let dir = shell_word(&global.dir.display().to_string());
    out.info(&match descriptor(args.provider).sample.is_complete {
        true => format!("they work as they are: hardway create cluster --dir {dir}"),
        false => format!(
            "edit both, then:\n  hardway create ignition-configs --dir {dir}   # to inspect what hosts will boot with\n  \
             hardway check --dir {dir}                     # what is still missing\n  \
             hardway create cluster --dir {dir}            # the whole install; needs a real release"
        ),
    });
    Ok(Exit::Done)
}

/// For editors: the schema of an input file, and where it lies.
fn schema_of(file: &str) -> (Value, String) {
    let schema = match file == INVENTORY.file {
        true => input_tables::inventory_schema(),
        false => input_tables::install_config_schema(),
    };
    (schema, format!(".schema/{}.json", file.trim_end_matches(".yaml")))
}

fn install_config(args: &InitArgs) -> String {
    format!(
        "\
# The standard install-config.yaml of openshift-install. `hardway explain FIELD` explains each field.
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
# Replace it with yours. This placeholder logs in nowhere, which is enough for the sample release.
pullSecret: '{{\"auths\":{{\"registry.example.com\":{{\"auth\":\"bm9ib2R5Om5vdGhpbmc=\"}}}}}}'
# sshKey: ssh-ed25519 AAAA… you@example.com
",
        masters = args.masters,
        workers = args.workers,
    )
}

fn inventory(args: &InitArgs) -> String {
    let Sample { settings, name_server, release, server, hosts, host: machine, .. } =
        descriptor(args.provider).sample;
    let mut text = format!(
        "\
# What install-config.yaml has no field for. `hardway explain FIELD` explains each field.
apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: {release}                   # a pull spec by tag or digest, or `sample`: a built-in example release
machines:
  provider: {provider}
{settings}network:
  gateway: 192.168.126.1
  dns: [{name_server}]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
  loadBalancer: haproxy
{server}hosts:
",
        release = image(args.release.as_deref().or(release).unwrap_or(SAMPLE)),
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

/// A word may look like a number, and 4.20 would be 4.2.
fn image(release: &str) -> String {
    if ReleaseWord::read(release).is_some() { format!("{release:?}") } else { release.to_owned() }
}
