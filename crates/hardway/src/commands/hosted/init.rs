//! `hardway hosted init`

use clap::ValueEnum as _;
use hardway_assets::File;
use hardway_assets::input_tables::{self, HOSTED_INVENTORY, INVENTORY};
use hardway_assets::inventory::Provider;
use hardway_base::shell_word;
use hardway_machines::providers::{HostedSample, descriptor};

use crate::cli::{Global, HostedInitArgs};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Writes a sample with comments. A file that is there stays as it is.
pub(super) fn run(global: &Global, args: &HostedInitArgs, out: &Output) -> Result<Exit, Report> {
    if !global.dir.exists() {
        fs_err::create_dir_all(&global.dir).map_err(|error| {
            Report::from_error(Code::Usage, &error).fix("name a folder with --dir that can be created")
        })?;
    }
    let workdir = Workdir::open(&global.dir)?;
    for name in [HOSTED_INVENTORY.file, INVENTORY.file] {
        if workdir.path(name).exists() {
            return Err(Report::new(Code::Usage, format!("{} already exists", workdir.shown(name)))
                .fix("choose another folder with --dir: machines of hosted clusters have one of their own"));
        }
    }
    let schema = ".schema/hosted-inventory.json";
    workdir.write(&File::public(schema, format!("{:#}\n", input_tables::hosted_inventory_schema())))?;
    let text = format!("# yaml-language-server: $schema={schema}\n{}", sample(args)?);
    workdir.write(&File::secret(HOSTED_INVENTORY.file, text))?;
    out.info(&format!("{} written", workdir.shown(HOSTED_INVENTORY.file)));
    let dir = shell_word(&global.dir.display().to_string());
    out.info(&format!(
        "edit it, then:\n  hardway validate --dir {dir}\n  \
         hardway hosted controller --cluster {} --dir {dir}   # as many workers as the NodePool says",
        args.cluster
    ));
    Ok(Exit::Done)
}

fn sample(args: &HostedInitArgs) -> Result<String, Report> {
    let HostedInitArgs { provider, cluster, pool } = args;
    let word = provider.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let sample = Provider::named(&word).and_then(|provider| descriptor(provider).hosted_sample);
    let Some(HostedSample { machines, name_server: dns, pool: made_of }) = sample else {
        let what = format!("provider {word} makes no workers of hosted clusters");
        return Err(Report::new(Code::Usage, what));
    };
    let (machines, pools) = (machines.replace("POOL", pool), made_of.replace("POOL", pool));
    Ok(format!(
        "\
# The machines that workers of hosted clusters are made of. `hardway explain hosted-inventory.FIELD` explains each field.
# How many there are is spec.replicas of each NodePool: `oc patch nodepool NAME --type=merge -p '{{\"spec\":{{\"replicas\":3}}}}'`.
apiVersion: hardway.dev/v1alpha1
kind: HostedInventory
name: {cluster}                        # machines are called after it
machines:
{machines}network:
  machineNetwork: 192.168.126.0/24
  gateway: 192.168.126.1
  dns: [{dns}]
pools:                            # several, of several hosted clusters, can stand here
- namespace: clusters             # of the HostedCluster
  cluster: {cluster}
  nodePool: {pool}
{pools}"
    ))
}
