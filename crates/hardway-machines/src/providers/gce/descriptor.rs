//! Google Compute Engine, as the rest of hardway knows it.

use hardway_assets::inventory;

use super::{Gce, GceSettings, checks};
use crate::preflight::CheckName;
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{Descriptor, Inputs, NeededProgram, ProviderError, Sample, Surroundings};

/// The provider's row.
pub static DESCRIPTOR: Descriptor = Descriptor {
    names_begin_with_infra_id: true,
    platform: Some(PLATFORM),
    sample: Sample {
        settings: SETTINGS,
        server: "# Where instances reach `hardway serve`: their configs do not fit into metadata.\n\
                 ignitionServer: {url: \"https://192.168.126.2:22624\"}\n",
        hosts: "",
        // Instances come with a card and a disk.
        host: |_| String::new(),
        release: None,
        is_complete: false,
    },
    complaints: COMPLAINTS,
    checks: &[&[CheckName::MachineSizes]],
    own_checks: &[(CheckName::Gcloud, checks::gcloud)],
    surroundings: Surroundings {
        programs: |_| vec![NeededProgram::new("gcloud", "google-cloud-cli", "instances and images")],
        ..Surroundings::ELSEWHERE
    },
    ..Descriptor::new(
        inventory::Provider::Gce,
        |cluster, findings| drop(GceSettings::look(cluster, findings)),
        planner,
    )
};

/// By which the limit of a metadata value is known.
pub(super) const PLATFORM: &str = "gce";

fn planner(inputs: &Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let Inputs { cluster, folder, stage, .. } = *inputs;
    let settings = GceSettings::read(cluster)?;
    let (gcloud, folder) = ("gcloud".to_owned(), folder.to_owned());
    Ok(Box::new(Gce { cluster: cluster.clone(), settings, gcloud, folder, stage }))
}

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
        advice: "nobody is logged in: `gcloud auth login`, or `gcloud auth activate-service-account --key-file=FILE`",
    },
    Complaint {
        words: &["problem refreshing your current auth tokens"],
        advice: "the login has ended: `gcloud auth login` once more",
    },
    Complaint {
        words: &["Reauthentication"],
        advice: "the login has ended: `gcloud auth login` once more, or use a service account, which is never asked",
    },
    Complaint {
        words: &["it is disabled"],
        advice: "an API of the project is off: `gcloud services enable compute.googleapis.com dns.googleapis.com`",
    },
    Complaint {
        words: &["PERMISSION_DENIED"],
        advice: "this account may not do that in machines.gce.project: it needs the roles compute.admin, dns.admin and, where an image is imported, storage.admin",
    },
    Complaint {
        words: &["Required '", "permission"],
        advice: "this account may not do that in machines.gce.project: it needs the roles compute.admin, dns.admin and, where an image is imported, storage.admin",
    },
    Complaint {
        words: &["Quota '", "exceeded"],
        advice: "the project's quota is too small for the machines: ask for more in the console (IAM, Quotas), choose smaller ones with machines.gce.machineType, or another region",
    },
    Complaint {
        words: &["does not have enough resources available"],
        advice: "the zone has no such machines left at this moment: name other zones in machines.gce.zones, or wait",
    },
    Complaint {
        words: &["ZONE_RESOURCE_POOL_EXHAUSTED"],
        advice: "the zone has no such machines left at this moment: name other zones in machines.gce.zones, or wait",
    },
    Complaint {
        words: &["IP_IN_USE_BY_ANOTHER_RESOURCE"],
        advice: "something in the subnet has this address already: `gcloud compute instances list` shows what; give the host another address in the inventory",
    },
    Complaint {
        words: &["already exists"],
        advice: "something of that name is there and was not made from this folder: it is left alone; delete it yourself if nobody needs it",
    },
    Complaint {
        words: &["larger than", "metadata value"],
        advice: "an instance takes a small config only: set ignitionServer.url, so that it is given a pointer",
    },
    Complaint {
        words: &["was not found"],
        advice: "what machines.gce names is not there: see project, subnet, zones and image in the inventory, and `gcloud compute networks subnets list`",
    },
    Complaint {
        words: &["could not be started", "gcloud"],
        advice: "the Google Cloud CLI is not installed: https://cloud.google.com/sdk/docs/install",
    },
];
