//! Ten times the hosts take about ten times the work. Measured is the time on the processor, not the clock on the wall:
//! what else the computer does is left out. Something quadratic takes a hundred times as long.

use hardway_assets::graph::{Graph, Lock};
use hardway_assets::install_config::Rules;
use hardway_assets::inventory::read_both;
use hardway_assets::{OnDisk, Project, Tree, example, release_payload};

/// Both files of a cluster with so many hosts.
fn files(hosts: usize) -> (String, String) {
    let config = example::INSTALL_CONFIG
        .replace("192.168.126.0/24", "192.168.0.0/16")
        .replace("10.128.0.0/14", "10.128.0.0/9")
        .replace("replicas: 2", &format!("replicas: {}", hosts - 4));
    let mut inventory = example::INVENTORY.split("- {name: worker-0").next().unwrap().to_owned();
    for i in 0..hosts - 4 {
        let (high, low) = (128 + i / 250, i % 250 + 1);
        inventory += &format!(
            "- {{name: worker-{i}, role: worker, ip: 192.168.{high}.{low}, mac: \"52:54:00:01:{high:02x}:{low:02x}\"}}\n"
        );
    }
    (config, inventory)
}

fn project(hosts: usize) -> Project {
    let (config, inventory) = files(hosts);
    let now = "2026-11-15T00:00:00Z".parse().unwrap();
    Project::read(&config, &inventory, release_payload::sample(), OnDisk::default(), now).unwrap()
}

/// Nanoseconds that this thread has had a processor.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// How much longer it takes with ten times as many. The shortest of a few runs: the first one fills caches.
fn growth<T, R>(small: &T, large: &T, work: impl Fn(&T) -> R) -> f64 {
    let time = |of: &T| {
        let runs = (0..3).map(|_| {
            let start = processor_time();
            drop(work(of));
            processor_time() - start
        });
        runs.fold(f64::INFINITY, f64::min)
    };
    time(large) / time(small)
}

const LINEAR: f64 = 25.0;

#[test]
fn reading_both_files_grows_with_the_hosts() {
    let growth = growth(&files(1_000), &files(10_000), |(config, inventory)| {
        read_both(config, inventory, Rules::for_version("4.18.1")).unwrap()
    });
    assert!(growth < LINEAR, "{growth:.0} times as long for ten times the hosts");
}

#[test]
fn the_graph_and_its_plan_grow_with_the_hosts() {
    let (small, large) = (project(200), project(2_000));
    let growth_of_graph = growth(&small, &large, |project| {
        let tree = Tree::default();
        let graph = Graph::of(project.cluster(), project.release(), &tree, &Lock::default()).unwrap();
        graph.from("root-ca").len() + graph.edges().len()
    });
    assert!(growth_of_graph < LINEAR, "graph: {growth_of_graph:.0} times as long for ten times the hosts");
    let written = |project: Project| {
        let plan = project.plan().unwrap();
        project.after(&plan).unwrap()
    };
    let growth_of_plan = growth(&written(small), &written(large), |project| {
        let plan = project.plan().unwrap();
        assert!(plan.writes.is_empty());
    });
    assert!(growth_of_plan < LINEAR, "plan: {growth_of_plan:.0} times as long for ten times the hosts");
}
