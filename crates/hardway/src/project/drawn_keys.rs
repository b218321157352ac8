//! Keys take nearly all of the time that making files takes: they are drawn a few at a time, so that somebody sees how far it is.

use hardway_assets::Cluster;
use hardway_assets::install_config::InstallConfig;
use hardway_assets::inventory::{Inventory, KeyAlgorithm};
use hardway_assets::pki::catalogue::keys;
use hardway_assets::secrets::{SecretBundle, SecretsError};
use jiff::Timestamp;

use crate::terminal::{Output, Progress};

/// Fewer are there in no time.
const MANY: usize = 8;

/// Draws those that take time, if anybody looks on. All others are drawn by whoever makes files.
pub(super) fn draw_slow_keys(
    config: &InstallConfig,
    inventory: &Inventory,
    secrets: &mut SecretBundle,
    now: Timestamp,
    out: &Output,
) -> Result<(), SecretsError> {
    let cluster = Cluster::of(config.clone(), inventory.clone(), secrets, now)?;
    let is_slow = |(name, algorithm): &(String, KeyAlgorithm)| {
        *algorithm == KeyAlgorithm::Rsa2048 && secrets.get(&format!("{name}.key")).is_err()
    };
    let slow: Vec<_> = keys(&cluster).into_iter().filter(is_slow).collect();
    if slow.len() < MANY {
        return Ok(());
    }
    let progress = Progress::new("generating keys", slow.len(), out);
    if !progress.is_shown() {
        return Ok(());
    }
    // Some keys take far longer than others: with several for each core, none waits for long.
    let at_once = 4 * std::thread::available_parallelism().map_or(1, usize::from);
    let mut done = 0;
    for some in slow.chunks(at_once) {
        secrets.complete(some)?;
        done += some.len();
        progress.at(done, slow.len());
    }
    Ok(())
}
