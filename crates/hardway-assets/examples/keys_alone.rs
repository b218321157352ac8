//! Makes the keys of a cluster on all cores, throws them away, and says how many seconds that took: the part of
//! `create ignition-configs` that no program can save. `cargo xtask bench` holds the whole against it.
//!
//! `keys_alone install-config.yaml inventory.yaml`

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hardway_assets::secrets::{Identity, PrivateKey, Random};
use hardway_assets::{Cluster, install_config, inventory, pki, release_payload};

fn main() {
    let [config, inventory] = [1, 2].map(|n| std::env::args().nth(n).expect("two files are named"));
    let keys = pki::catalogue::keys(&cluster(&config, &inventory));
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((_, algorithm)) = keys.get(next.fetch_add(1, Ordering::Relaxed)) {
                    PrivateKey::generate(*algorithm, &Random::default()).expect("a key can be made");
                }
            });
        }
    });
    writeln!(std::io::stdout(), "{}", start.elapsed().as_secs_f64()).expect("someone reads");
}

fn cluster(config: &str, inventory: &str) -> Cluster {
    let rules = install_config::Rules::for_version(&release_payload::sample().version);
    let [config, inventory] = [config, inventory]
        .map(|path| std::io::read_to_string(File::open(path).expect("a file")).expect("text"));
    let config = install_config::read(&config, rules).expect("a good install-config").value;
    let inventory = inventory::read(&inventory, Some(&config)).expect("a good inventory").value;
    let now = jiff::Timestamp::UNIX_EPOCH;
    let identity = Identity::draw(&config.metadata.name, now, &Random::default());
    Cluster { config, inventory, identity }
}
