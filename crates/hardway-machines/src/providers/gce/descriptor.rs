//! Google Compute Engine, as the rest of hardway knows it.

use hardway_assets::{install_media, inventory};

use super::{Gce, GceSettings, checks};
use crate::check::CheckName;
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{
    Descriptor, HostedSample, Inputs, NeededProgram, ProviderError, ProviderSurroundings, Sample,
};

/// The provider's row.
pub static DESCRIPTOR: Descriptor = Descriptor {
    names_begin_with_infra_id: true,
    user_data: Some(install_media::GCE_LIMIT),
    sample: Sample {
        settings: SETTINGS,
        // The platform's own resolver, which every instance can reach: a subnet's gateway answers no questions there.
        name_server: "169.254.169.254",
        server: "# Where instances reach `hardway serve`: their configs do not fit into metadata.\n\
                 ignitionServer: {url: \"https://192.168.126.2:22624\"}\n",
        hosts: "",
        // Instances come with a card and a disk.
        host: |_| String::new(),
        release: None,
        is_complete: false,
    },
    hosted_sample: Some(HostedSample {
        machines: HOSTED_MACHINES,
        name_server: "169.254.169.254",
        pool: HOSTED_POOL,
    }),
    complaints: COMPLAINTS,
    checks: &[&[CheckName::MachineSizes]],
    own_checks: &[(CheckName::Gcloud, checks::gcloud)],
    surroundings: ProviderSurroundings {
        programs: |_| vec![NeededProgram::new("gcloud", "google-cloud-cli", "instances and images")],
        ..ProviderSurroundings::ELSEWHERE
    },
    ..Descriptor::new(
        inventory::Provider::Gce,
        |cluster, findings| drop(GceSettings::look(cluster, findings)),
        planner,
    )
};

fn planner(inputs: &Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let Inputs { cluster, folder, stage, .. } = *inputs;
    let settings = GceSettings::read(cluster)?;
    let (gcloud, folder) = ("gcloud".to_owned(), folder.to_owned());
    Ok(Box::new(Gce { cluster: cluster.clone(), settings, gcloud, folder, stage }))
}

const HOSTED_MACHINES: &str = "  provider: gce
  gce:
    project: my-project
    zones: [us-central1-a, us-central1-b, us-central1-c]
    image: rhcos-418-94-202501221327-0-gcp-x86-64   # of the NodePool's release
    imageProject: rhcos-cloud
";

const HOSTED_POOL: &str =
    "  names: POOL-{n}                 # {n} is counted from 0; in turn in each of the zones
  addresses: [192.168.126.110-192.168.126.139]
  cpus: 4
  memoryGiB: 16
  diskGiB: 128
";

const SETTINGS: &str = "  gce:
    project: my-project
    zones: [us-central1-a, us-central1-b, us-central1-c]
    image: rhcos-418-94-202501221327-0-gcp-x86-64
    imageProject: rhcos-cloud
";

/// What to do about the words that gcloud complains with.
const COMPLAINTS: &[Complaint] = &[
    Complaint {
        words: &["do not currently have an active account"],
        advice: "not logged in: run `gcloud auth login`, or `gcloud auth activate-service-account --key-file=FILE`",
    },
    Complaint {
        words: &["problem refreshing your current auth tokens"],
        advice: "the login has expired: run `gcloud auth login` again",
    },
    Complaint {
        words: &["Reauthentication"],
        advice: "the login has expired: run `gcloud auth login` again, or use a service account, which does not expire",
    },
    Complaint {
        words: &["it is disabled"],
        advice: "an API is disabled in the project: run `gcloud services enable compute.googleapis.com dns.googleapis.com`",
    },
    Complaint {
        words: &["PERMISSION_DENIED"],
        advice: "this account lacks permissions in machines.gce.project: it needs the roles compute.admin, dns.admin and, to \
         import an image, storage.admin",
    },
    Complaint {
        words: &["Required '", "permission"],
        advice: "this account lacks permissions in machines.gce.project: it needs the roles compute.admin, dns.admin and, to \
         import an image, storage.admin",
    },
    Complaint {
        words: &["Quota '", "exceeded"],
        advice: "the project's quota is too small for the machines: request more in the console (IAM, Quotas), choose smaller \
         machines with machines.gce.machineType, or use another region",
    },
    Complaint {
        words: &["does not have enough resources available"],
        advice: "the zone has no capacity for these machines at the moment: use other zones in machines.gce.zones, or wait",
    },
    Complaint {
        words: &["ZONE_RESOURCE_POOL_EXHAUSTED"],
        advice: "the zone has no capacity for these machines at the moment: use other zones in machines.gce.zones, or wait",
    },
    Complaint {
        words: &["IP_IN_USE_BY_ANOTHER_RESOURCE"],
        advice: "the address is already used in the subnet: `gcloud compute instances list` shows by what; give the host \
         another address in the inventory",
    },
    Complaint {
        words: &["already exists"],
        advice: "a resource of that name exists and was not made from this folder: hardway does not touch it; delete it \
         yourself if it is not needed",
    },
    Complaint {
        words: &["larger than", "metadata value"],
        advice: "the config is too large for an instance: set ignitionServer.url, so that it gets a pointer",
    },
    Complaint {
        words: &["was not found"],
        advice: "a resource named in machines.gce does not exist: check project, subnet, zones and image in the inventory, and \
         `gcloud compute networks subnets list`",
    },
    Complaint {
        words: &["could not be started", "gcloud"],
        advice: "the Google Cloud CLI is not installed: https://cloud.google.com/sdk/docs/install",
    },
];
