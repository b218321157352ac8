//! What is called, in which order.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Balancer, Host};
use hardway_machines::actions::{Action, ActionOutcome, Host as ThisHost, shell};
use hardway_machines::providers::{LoadBalancer, Power, Provider as _, is_of_machine};
use jiff::Timestamp;
use serde_json::json;

use super::site::{Site, golden, settings};

fn everything(site: &Site) -> Vec<Action> {
    let provider = site.provider(InstallStage::Bootstrapping);
    let mut actions = provider.infrastructure();
    actions.extend(site.cluster.inventory.hosts.iter().flat_map(|host| provider.first_boot(host)));
    actions
}

fn host<'s>(site: &'s Site, name: &str) -> &'s Host {
    site.cluster.inventory.hosts.iter().find(|host| host.name == name).unwrap()
}

#[test]
fn a_cluster_is_made_left_alone_changed_and_taken_away() {
    let site = Site::new(settings(), Balancer::Haproxy);
    let all = everything(&site);
    assert!(site.up(&all).iter().all(|outcome| *outcome == ActionOutcome::Done));
    golden("up.txt", &site.calls());
    assert!(site.up(&all).iter().all(|outcome| *outcome == ActionOutcome::AlreadyHeld));
    assert!(!site.calls().contains(" create "), "the second time nothing is made");

    let provider = site.provider(InstallStage::Bootstrapping);
    let master = host(&site, "master-0");
    assert_eq!(provider.power(master).ask(&ThisHost::default()).unwrap(), Some(Power::On));
    let after = provider.after_join(master);
    assert_eq!(site.up(&after), [ActionOutcome::Done]);
    assert_eq!(site.up(&after), [ActionOutcome::AlreadyHeld]);
    assert_eq!(provider.load_balancer(), LoadBalancer::ByConfiguration);
    let later = site.provider(InstallStage::Installed).infrastructure().into_iter();
    let balancer: Vec<Action> = later.filter(|action| action.id.starts_with("balancer/")).collect();
    let changed = site.up(&balancer);
    assert_eq!(changed[changed.len() - 2..], [ActionOutcome::Done; 2]);
    let config = fs_err::read_to_string(site.path("work/gce/haproxy.cfg")).unwrap();
    assert!(!config.contains("server bootstrap") && config.contains("server master-0"), "{config}");
    site.with(&|| Timestamp::UNIX_EPOCH, |executor| {
        executor.take_back(|action| is_of_machine(action, "bootstrap"), &mut ())
    })
    .unwrap();
    golden("changes.txt", &site.calls());

    site.down().unwrap();
    golden("down.txt", &site.calls());
    assert!(site.things().is_empty(), "{:?}", site.things());
    assert!(!site.path("work/gce/haproxy.cfg").exists());
    site.down().unwrap();
    assert_eq!(site.calls(), "", "what is taken back is forgotten");
}

#[test]
fn an_image_is_imported_and_machines_without_addresses_get_a_way_out() {
    let mut settings = settings();
    for name in ["image", "imageProject"] {
        settings.as_object_mut().unwrap().remove(name);
    }
    let more = json!({"imageFile": "media/rhcos-gcp.x86_64.tar.gz", "bucket": "acme-images", "externalAddresses": false,
        "network": "ocp4", "subnet": "nodes", "sourceRanges": ["203.0.113.0/24"], "serviceAccount": "nodes@acme.iam.gserviceaccount.com"});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut site = Site::new(settings, Balancer::External);
    site.cluster.inventory.hosts[1].cpus = Some(8);
    site.cluster.inventory.hosts[1].memory_gib = Some(32);
    site.cluster.inventory.hosts[1].disk_gib = Some(200);
    let provider = site.provider(InstallStage::Bootstrapping);
    assert_eq!(provider.load_balancer(), LoadBalancer::External);
    let mut actions = provider.infrastructure();
    actions.extend(provider.first_boot(host(&site, "master-0")));
    site.up(&actions);
    site.down().unwrap();
    golden("import.txt", &site.calls());
    assert!(site.things().is_empty(), "{:?}", site.things());
}

/// The script a person could run by hand is complete.
#[test]
fn the_plan_as_a_script_makes_the_same() {
    let (by_script, by_executor) =
        (Site::new(settings(), Balancer::Haproxy), Site::new(settings(), Balancer::Haproxy));
    by_executor.up(&everything(&by_executor));
    let script = shell(&everything(&by_script));
    golden("plan.sh", &by_script.shown(&script));
    for _ in 0..2 {
        let output = std::process::Command::new("bash").arg("-c").arg(&script).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(by_script.things(), by_executor.things());
    }
}

/// The clock is read right before each record is written: there a run can be cut off.
#[test]
fn cut_off_at_any_record_both_ways_go_on() {
    let dies_at = |record: u32| {
        let left = Cell::new(record);
        move || {
            assert!(left.get() > 0, "cut off here");
            left.set(left.get() - 1);
            Timestamp::UNIX_EPOCH
        }
    };
    let some = |site: &Site| {
        let provider = site.provider(InstallStage::Bootstrapping);
        let mut actions: Vec<Action> = provider.infrastructure().into_iter().rev().take(4).rev().collect();
        actions.extend(provider.first_boot(host(site, "worker-1")));
        actions
    };
    let mut cuts = 0;
    for record in 0.. {
        let site = Site::new(settings(), Balancer::Haproxy);
        let actions = some(&site);
        let cut = |way_up: bool| {
            let now = dies_at(record);
            catch_unwind(AssertUnwindSafe(|| {
                site.with(
                    &now,
                    |executor| if way_up { executor.up(&actions, &mut ()) } else { executor.down(&mut ()) },
                )
                .unwrap();
            }))
            .is_err()
        };
        let up = cut(true);
        site.down().unwrap();
        assert!(site.things().is_empty(), "down after up was cut off at {record}: {:?}", site.things());
        site.up(&actions);
        let down = cut(false);
        site.down().unwrap();
        assert!(site.things().is_empty(), "down after down was cut off at {record}: {:?}", site.things());
        cuts += u32::from(up) + u32::from(down);
        if !up && !down {
            break;
        }
    }
    assert_eq!(cuts, 5 * 2 + 5, "every record was cut off once: two for each action up, one down");
}

#[test]
fn without_a_login_nothing_is_forgotten() {
    let site = Site::new(settings(), Balancer::External);
    let provider = site.provider(InstallStage::Bootstrapping);
    let actions = provider.first_boot(host(&site, "worker-0"));
    site.up(&actions);
    site.log_out();
    let error = site.down().unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("active account"), "{source}");
    assert_eq!(site.things().len(), 1);
    site.log_in();
    site.down().unwrap();
    assert!(site.things().is_empty());
}

#[test]
fn a_pointer_that_is_too_large_is_refused_before_anything_is_made() {
    let site = Site::new(settings(), Balancer::External);
    let pointer = site.path("work/ignition/pointers/worker-0.ign");
    let actions = site.provider(InstallStage::Bootstrapping).first_boot(host(&site, "worker-0"));
    fs_err::write(&pointer, vec![b' '; 262_145]).unwrap();
    let error = site.with(&|| Timestamp::UNIX_EPOCH, |executor| executor.up(&actions, &mut ())).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("is larger than 262144 bytes"), "{source}");
    assert!(site.things().is_empty());
    fs_err::write(&pointer, vec![b' '; 262_144]).unwrap();
    assert_eq!(site.up(&actions), [ActionOutcome::Done]);
    let journal = fs_err::read_to_string(site.path("work/journal.jsonl")).unwrap();
    assert!(
        journal.contains("ignition/pointers/worker-0.ign") && !journal.contains("pointer of"),
        "{journal}"
    );
}
