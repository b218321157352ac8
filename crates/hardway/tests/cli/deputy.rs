//! Two approvers: the pod of deploy/approver, which knows nothing of fetched configs, and the one beside the working folder, which does.

use hardway_assets::yaml;
use hardway_journal::{Entry, FILE_NAME, Face, IgnitionRedeemed, Journal};
use hardway_testing::{ControlPlane, INSTALL_CONFIG, INVENTORY, Running, Work, until};
use jiff::Timestamp;

use super::approve::{ask, is_approved};
use crate::work;

const DEPLOYMENT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/approver/deployment.yaml"));

/// Whoever comes first, whoever is killed: a machine that fetched its config gets in, and nobody is asked.
#[test]
fn real_the_pod_was_there_first() {
    let site = Site::start();
    let mut pod = site.pod();
    pod.until_said("this process holds the lease");
    site.comes("master-0", "192.168.126.101");
    until("the pod to hold it", || pod.printed().contains(r#""reason":"ignition-not-redeemed""#));
    assert!(!is_approved(&site.plane, "master-0"));
    let mut outside = site.outside();
    site.until_in("master-0");
    pod.until_said("holds the lease and approves");

    // The pod follows one that is killed, and hands over again.
    outside.signal("KILL");
    assert_eq!(outside.exit(), None);
    site.comes("master-1", "192.168.126.102");
    until("the pod to hold the second", || {
        pod.printed().lines().any(|line| line.contains("master-1") && line.contains("ignition-not-redeemed"))
    });
    assert!(!is_approved(&site.plane, "master-1"), "it holds what it cannot judge");
    let mut outside = site.outside();
    site.until_in("master-1");

    // The pod is killed while it follows: nobody notices.
    pod.signal("KILL");
    assert_eq!(pod.exit(), None);
    site.comes("master-2", "192.168.126.103");
    site.until_in("master-2");
    outside.signal("TERM");
    assert_eq!(outside.exit(), Some(0));
    site.one_acted();
}

#[test]
fn real_the_one_beside_the_folder_was_there_first() {
    let site = Site::start();
    let mut outside = site.outside();
    outside.until_said("this process holds the lease");
    let mut pod = site.pod();
    pod.until_said("holds the lease and approves");
    site.comes("master-0", "192.168.126.101");
    site.until_in("master-0");
    assert!(
        !pod.said().contains("this process holds the lease") && pod.printed().is_empty(),
        "{}",
        pod.said()
    );

    // In good order there is nothing to wait for.
    outside.signal("TERM");
    assert_eq!(outside.exit(), Some(0));
    pod.until_said("this process holds the lease");

    // The pod is killed while it leads.
    pod.signal("KILL");
    assert_eq!(pod.exit(), None);
    site.comes("master-1", "192.168.126.102");
    let mut outside = site.outside();
    site.until_in("master-1");
    // And a third, for a person who does not want to wait: once, beside a pod that leads.
    outside.signal("KILL");
    assert_eq!(outside.exit(), None);
    let mut pod = site.pod();
    pod.until_said("this process holds the lease");
    site.comes("master-2", "192.168.126.103");
    Running::start(site.approve(&site.folder, &[])).end().expect(0).says("1 approved, 0 denied, 0 held");
    pod.until_said("holds the lease and approves");
    site.one_acted();
}

/// A cluster, its working folder, and the pod's.
struct Site {
    plane: ControlPlane,
    folder: Work,
    pod: Work,
}

impl Site {
    fn start() -> Self {
        let folder = work::with_inputs(INSTALL_CONFIG, INVENTORY);
        let pod = work::empty();
        pod.write("declared.yaml", folder.ok(&["csr", "declared"]).stdout);
        Self { plane: ControlPlane::start(), folder, pod }
    }

    /// As the deployment says, but for its paths.
    fn pod(&self) -> Running {
        let deployment = yaml::read(DEPLOYMENT).unwrap().to_json();
        let args = deployment["spec"]["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
        let args: Vec<&str> = args.iter().map(|arg| arg.as_str().unwrap()).collect();
        let declared = format!("--declared={}", self.pod.path("declared.yaml").display());
        let args: Vec<&str> = args
            .into_iter()
            .filter(|arg| *arg != "approve" && !arg.starts_with("--dir="))
            .map(|arg| if arg.starts_with("--declared=") { declared.as_str() } else { arg })
            .collect();
        assert!(args.contains(&declared.as_str()) && args.contains(&"--watch"), "{args:?}");
        Running::start(self.approve(&self.pod, &args))
    }

    fn outside(&self) -> Running {
        Running::start(self.approve(&self.folder, &["--watch"]))
    }

    fn approve(&self, folder: &Work, more: &[&str]) -> std::process::Command {
        let kubeconfig = self.plane.kubeconfig();
        let mut command =
            folder.command(&[&["approve", "--kubeconfig", kubeconfig.to_str().unwrap()], more].concat());
        command.env_remove("HARDWAY_NOW");
        command
    }

    /// A machine fetches its config, and asks.
    fn comes(&self, host: &str, address: &str) {
        let journal = Journal::open(&self.folder.path(FILE_NAME)).unwrap();
        let fetched = IgnitionRedeemed {
            host: host.to_owned(),
            digest: "1".to_owned(),
            source: address.parse().unwrap(),
            face: Face::Host,
        };
        journal.append(&[Entry::of(Timestamp::now(), &fetched)]).unwrap();
        ask(&self.plane, host, host);
    }

    fn until_in(&self, request: &str) {
        until(&format!("{request} to be let in"), || is_approved(&self.plane, request));
    }

    /// Nothing was decided twice, and all of it is in the folder's journal.
    fn one_acted(&self) {
        let requests = self.plane.get(&["csr"])["items"].as_array().unwrap().clone();
        assert!(requests.iter().all(|one| one["status"]["conditions"].as_array().unwrap().len() == 1));
        assert_eq!(requests.len(), 3);
        for request in requests {
            let name = request["metadata"]["name"].as_str().unwrap();
            let intended = format!(r#""request":"{name}""#);
            let journal = self.folder.read(FILE_NAME);
            assert!(
                journal.lines().any(|line| line.contains(&intended) && line.contains("first-client")),
                "{journal}"
            );
        }
    }
}
