//! What changes in the folder while machines are served.

use std::time::Duration;

use super::site::{Folder, Serving};
use crate::client::PATIENCE;

/// Asks as a host does until the answer is this one.
async fn until(serving: &Serving, folder: &Folder, host: &str, status: u16) {
    let request = folder.request(host);
    let asking = async {
        loop {
            let found = request.ask(&serving.client()).await.status;
            // Anything else would end a first boot for good.
            assert!([200, 503].contains(&found), "{host}: {found}");
            if found == status {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("{host} never gets {status}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_added_is_served_without_a_restart() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    until(&serving, &folder, "worker-0", 200).await;
    // A mistake keeps nobody from being served.
    folder.edit("inventory.yaml", "hosts:\n", "hosts:\n- {name: worker-1, role: wrong}\n");
    tokio::time::sleep(Duration::from_millis(1200)).await;
    until(&serving, &folder, "worker-0", 200).await;

    let wrong = "- {name: worker-1, role: wrong}";
    folder.edit("inventory.yaml", wrong, "- {name: worker-1, role: worker, ip: 192.168.126.111}");
    folder.edit("install-config.yaml", "replicas: 1", "replicas: 2");
    folder.create();
    until(&serving, &folder, "worker-1", 200).await;
    until(&serving, &folder, "worker-0", 200).await;
    assert_eq!(serving.end().code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_that_cannot_be_read_keeps_no_other_host_waiting() {
    let folder = Folder::made();
    let config = folder.path("ignition/master-0.ign");
    let aside = folder.path("aside.ign");
    std::fs::rename(&config, &aside).unwrap();
    std::fs::create_dir(&config).unwrap();
    let serving = folder.serve(&[]);
    until(&serving, &folder, "master-0", 503).await;
    until(&serving, &folder, "master-1", 200).await;
    std::fs::remove_dir(&config).unwrap();
    std::fs::rename(&aside, &config).unwrap();
    until(&serving, &folder, "master-0", 200).await;
    assert_eq!(serving.end().code, Some(0));
}

/// Whoever moves the journal away gets another that says of itself what was given out, to whom, and by which rules.
#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_is_moved_away_is_followed_by_one_that_says_as_much() {
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    let kinds = || -> Vec<String> {
        let records = hardway_journal::read(&folder.path("journal.jsonl")).unwrap();
        records.into_iter().map(|record| record.kind).collect()
    };
    // So often that one more is only counted.
    for _ in 0..9 {
        until(&serving, &folder, "worker-0", 200).await;
    }
    let told = kinds().len();
    until(&serving, &folder, "worker-0", 200).await;
    assert_eq!(kinds().len(), told);
    std::fs::rename(folder.path("journal.jsonl"), folder.path("old.jsonl")).unwrap();
    until(&serving, &folder, "worker-0", 200).await;
    let telling = async {
        while !["ignition-redeemed", "any-address-allowed", "ignition-offered"]
            .iter()
            .all(|kind| kinds().iter().any(|told| told == kind))
        {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, telling).await.unwrap_or_else(|_| panic!("{:?}", kinds()));
    assert_eq!(kinds()[0], "ignition-redeemed", "before the config was given out");
    assert_eq!(serving.end().code, Some(0));
}
