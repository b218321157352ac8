//! What to do about the words that gcloud complains with.

use crate::providers::advice::Known;

/// The more special come first.
pub(in crate::providers) const KNOWN: &[Known] = &[
    Known {
        words: &["do not currently have an active account"],
        advice: "nobody is logged in: `gcloud auth login`, or `gcloud auth activate-service-account --key-file=FILE`",
    },
    Known {
        words: &["problem refreshing your current auth tokens"],
        advice: "the login has ended: `gcloud auth login` once more",
    },
    Known {
        words: &["Reauthentication"],
        advice: "the login has ended: `gcloud auth login` once more, or use a service account, which is never asked",
    },
    Known {
        words: &["it is disabled"],
        advice: "an API of the project is off: `gcloud services enable compute.googleapis.com dns.googleapis.com`",
    },
    Known {
        words: &["PERMISSION_DENIED"],
        advice: "this account may not do that in machines.gce.project: it needs the roles compute.admin, dns.admin and, where an image is imported, storage.admin",
    },
    Known {
        words: &["Required '", "permission"],
        advice: "this account may not do that in machines.gce.project: it needs the roles compute.admin, dns.admin and, where an image is imported, storage.admin",
    },
    Known {
        words: &["Quota '", "exceeded"],
        advice: "the project's quota is too small for the machines: ask for more in the console (IAM, Quotas), choose smaller ones with machines.gce.machineType, or another region",
    },
    Known {
        words: &["does not have enough resources available"],
        advice: "the zone has no such machines left at this moment: name other zones in machines.gce.zones, or wait",
    },
    Known {
        words: &["ZONE_RESOURCE_POOL_EXHAUSTED"],
        advice: "the zone has no such machines left at this moment: name other zones in machines.gce.zones, or wait",
    },
    Known {
        words: &["IP_IN_USE_BY_ANOTHER_RESOURCE"],
        advice: "something in the subnet has this address already: `gcloud compute instances list` shows what; give the host another address in the inventory",
    },
    Known {
        words: &["already exists"],
        advice: "something of that name is there and was not made from this folder: it is left alone; delete it yourself if nobody needs it",
    },
    Known {
        words: &["larger than", "metadata value"],
        advice: "an instance takes a small config only: set ignitionServer.url, so that it is given a pointer",
    },
    Known {
        words: &["was not found"],
        advice: "what machines.gce names is not there: see project, subnet, zones and image in the inventory, and `gcloud compute networks subnets list`",
    },
    Known {
        words: &["could not be started", "gcloud"],
        advice: "the Google Cloud CLI is not installed: https://cloud.google.com/sdk/docs/install",
    },
];
