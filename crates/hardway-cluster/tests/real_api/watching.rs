//! What is shown is what is, step by step, whatever happens to the connection.

use std::collections::BTreeMap;
use std::time::Duration;

use hardway_cluster::clock::SteadyClock;
use hardway_cluster::declared::Declared;
use hardway_cluster::objects::Truth;
use hardway_cluster::operators::WatchedCluster;
use hardway_cluster::watch::{Watch, WatchPatience, WatchedKind};
use hardway_testing::eventually;
use jiff::Timestamp;

use super::driver::Driver;
use super::proxy::Proxy;

/// Follows a cluster into an index.
struct Follower {
    watch: Watch,
    index: WatchedCluster,
    clock: SteadyClock,
}

impl Follower {
    fn start(config: &kube::Config, patience: WatchPatience) -> Self {
        let clock = SteadyClock::start(Timestamp::UNIX_EPOCH);
        Self {
            watch: Watch::start(config, patience),
            index: WatchedCluster::new(Declared::default(), clock.now()),
            clock,
        }
    }

    async fn until(&mut self, what: &str, check: impl Fn(&WatchedCluster) -> bool) {
        eventually(what, async || {
            let event = self.watch.next(Duration::from_millis(100)).await;
            self.index.apply(&event, self.clock.now());
            check(&self.index)
        })
        .await;
    }

    /// Until it shows exactly these operators.
    async fn shows(&mut self, expected: &BTreeMap<&str, &str>) {
        let letter = |truth: Truth| match truth {
            Truth::True => 'T',
            Truth::False => 'F',
            Truth::Unknown => '?',
        };
        let what = format!("{expected:?}");
        self.until(&what, |index| {
            let shown: BTreeMap<String, String> = index
                .operators()
                .into_iter()
                .map(|view| {
                    (
                        view.name,
                        [view.available, view.progressing, view.degraded].map(letter).iter().collect(),
                    )
                })
                .collect();
            shown.len() == expected.len()
                && expected.iter().all(|(name, is)| shown.get(*name).map(String::as_str) == Some(is))
        })
        .await;
    }
}

/// Long windows: what is seen within this test's patience came by watching, or after a break by listing at once.
const STEADY: WatchPatience = WatchPatience {
    window: Duration::from_secs(600),
    answer: Duration::from_secs(30),
    pause: Duration::from_millis(200),
};
/// Short windows: a silent connection is noticed soon.
const QUICK: WatchPatience = WatchPatience {
    window: Duration::from_secs(2),
    answer: Duration::from_secs(2),
    pause: Duration::from_millis(200),
};

/// The usual order of an install on platform none, with the regressions that an install has.
const RECORDED: [(&str, &str); 18] = [
    ("network", "FTF"),
    ("etcd", "F?F"),
    ("network", "TFF"),
    ("kube-apiserver", "FTF"),
    ("etcd", "TTF"),
    ("kube-apiserver", "TTF"),
    ("ingress", "FTT"),
    ("authentication", "FTF"),
    ("etcd", "TFF"),
    ("kube-apiserver", "TFF"),
    // A worker joins.
    ("ingress", "TTF"),
    ("ingress", "TFF"),
    ("authentication", "TTF"),
    // The API server rolls out once more, and etcd loses a member for a moment.
    ("kube-apiserver", "TTF"),
    ("etcd", "TFT"),
    ("etcd", "TFF"),
    ("kube-apiserver", "TFF"),
    ("authentication", "TFF"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_the_state_shown_is_right_at_every_step() {
    let mut driver = Driver::without_crds().await;
    let mut follower = Follower::start(&driver.config, STEADY);
    follower
        .until("the kinds that have no CRD yet are heard of", |index| {
            WatchedKind::ALL.iter().all(|kind| index.is_fresh(*kind))
        })
        .await;
    driver.create_crds();

    let mut expected = BTreeMap::new();
    for (name, is) in RECORDED {
        driver.operator(name, is).await;
        expected.insert(name, is);
        follower.shows(&expected).await;
    }
    // Any order, with deletions. A fixed rule stands in for chance, so that a failure can be repeated.
    let names = ["network", "etcd", "dns", "ingress"];
    let states = ["TFF", "FTF", "TTF", "TFT", "FFT", "???"];
    let mut random: u32 = 4_18;
    for _ in 0..25 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let pick = usize::try_from(random >> 8).unwrap();
        let name = names[pick % names.len()];
        if pick % 7 == 0 && expected.remove(name).is_some() {
            driver.delete("ClusterOperator", None, name).await;
        } else {
            let is = states[pick / 8 % states.len()];
            driver.operator(name, is).await;
            expected.insert(name, is);
        }
        follower.shows(&expected).await;
    }
    vanish(&mut driver, &mut follower, &mut expected).await;
}

/// The API server goes away, is missed, and comes back with what happened meanwhile.
async fn vanish(
    driver: &mut Driver,
    follower: &mut Follower,
    expected: &mut BTreeMap<&'static str, &'static str>,
) {
    driver.plane.kill_api_server();
    follower.until("the loss is noticed", |index| index.lost().is_some()).await;
    assert_eq!(follower.index.operators().len(), expected.len(), "what was known stays shown");
    assert!(!follower.index.unsettled(follower.clock.now()).is_empty(), "and is not taken for settled");
    assert_eq!(follower.index.blocking().unwrap().subject, "api");
    tokio::task::block_in_place(|| driver.plane.start_api_server());
    driver.operator("network", "FTT").await;
    expected.insert("network", "FTT");
    follower.shows(expected).await;
    assert!(follower.index.lost().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_a_watch_that_falls_silent_is_noticed() {
    let driver = Driver::start().await;
    let proxy = Proxy::before(&driver.config).await;
    let mut follower = Follower::start(&proxy.config(&driver.config), QUICK);
    driver.operator("etcd", "FTF").await;
    follower.shows(&BTreeMap::from([("etcd", "FTF")])).await;
    for (round, is) in ["TTF", "TFF", "TFT"].iter().enumerate() {
        proxy.silence();
        driver.operator("etcd", is).await;
        driver.node(&format!("m{round}"), "master", true).await;
        follower.shows(&BTreeMap::from([("etcd", *is)])).await;
        follower.until("the node too", |index| index.state().nodes.len() == round + 1).await;
    }
}
