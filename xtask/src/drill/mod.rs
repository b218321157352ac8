//! `cargo xtask drill [NAME…]`: whole installs in the lab, with something going wrong; and `attackers`, who need no lab. Needs
//! root.
//!
//! ```text
//! Lab            a working folder and its lab, taken down whatever happens   lab.rs
//! Run            one run of hardway that can be watched and killed          run.rs
//! Page           the page beside a run, as a browser draws it               page.rs
//! DRILLS         every drill: what goes wrong, and how it must end           the other files
//! ```

mod air_gapped;
mod attackers;
mod etcd;
mod faults;
mod hosted;
mod install;
mod kill;
mod lab;
mod page;
mod real_core;
mod run;
mod seeds;

use std::io::Write as _;
use std::time::Instant;

use anyhow::{Result, bail};

/// One drill.
struct Drill {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<()>,
}

/// What a drill needs was not given: neither passed nor failed.
#[derive(Debug)]
struct NotRun(String);

impl std::fmt::Display for NotRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotRun {}

const fn drill(name: &'static str, about: &'static str, run: fn() -> Result<()>) -> Drill {
    Drill { name, about, run }
}

const DRILLS: &[Drill] = &[
    drill(
        "install",
        "3 masters, 2 workers: a client through the pivot, every phase twice, played on the page, nothing left",
        install::full,
    ),
    drill(
        "small",
        "1 master, no worker: installed, verified, every phase twice, nothing left",
        install::small,
    ),
    drill(
        "kill",
        "kill -9 after every new journal event until the masters have joined, each time resumed; a page beside it",
        kill::run,
    ),
    drill("master-killed", "a master is switched off while it joins", faults::master_killed),
    drill("registry-gone", "the registry is gone for a minute", faults::registry_gone),
    drill("server-restarted", "the ignition server goes away while machines boot", faults::server_restarted),
    drill("bootstrap-redone", "bootkube begins again, and gets to its end", faults::bootstrap_redone),
    drill("wrong-hostname", "a worker calls itself something else: held, diagnosed", faults::wrong_hostname),
    drill("clock-ahead", "the clock is 25 hours ahead: refused, named", faults::clock_ahead),
    drill("disk-full", "the working folder's disk is full: nothing is damaged", faults::disk_full),
    drill(
        "hosted",
        "3 hosted workers from zero to Ready, one replaced, one scaled away, two upgraded; controller, ignition server and token lost on the way",
        hosted::run,
    ),
    drill(
        "attackers",
        "thousands of attempts to become a node, by seven attackers at five moments: none gets in, no host is delayed",
        attackers::run,
    ),
    drill(
        "air-gapped",
        "1 master, 1 worker: everything out of one file, the registry it came from is gone, and nobody asks elsewhere",
        air_gapped::run,
    ),
    drill(
        "real-core",
        "a master, then three, with real operators where they are given: a client through the pivot, verified",
        real_core::run,
    ),
    drill(
        "backup",
        "1 master: backed up with its static pods, proven by restoring, thinned out",
        etcd::backup,
    ),
    drill(
        "lost-majority",
        "3 masters, two lost: restored from a backup, writable, all three back, nothing lost that the backup had",
        etcd::lost_majority,
    ),
    drill("seed-etcd-signer", "etcd's signer without annotations: minted anew, named", seeds::etcd_signer),
    drill(
        "seed-etcd-prefix",
        "the bootstrap API server below another key of etcd: named",
        seeds::etcd_prefix,
    ),
    drill(
        "seed-internal-url",
        "the internal address under a wrong name: no network, named",
        seeds::internal_url,
    ),
    drill("seed-feature-gate", "no FeatureGate: operators exit, named", seeds::feature_gate),
    drill("seed-public-key", "no public key of service-account tokens: no rollout, named", seeds::public_key),
    drill(
        "seed-bootstrap",
        "nobody reports the end of bootstrapping: the member stays, named",
        seeds::bootstrap,
    ),
];

/// Runs the drills that are named, all without names; `--list` only names them.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let mut out = std::io::stderr();
    if words.iter().any(|word| word == "--list") {
        return DRILLS.iter().try_for_each(|drill| Ok(writeln!(out, "{:18} {}", drill.name, drill.about)?));
    }
    if let Some(unknown) = words.iter().find(|word| DRILLS.iter().all(|drill| drill.name != **word)) {
        bail!("there is no drill {unknown:?}; `cargo xtask drill --list` names them");
    }
    let mut failed = Vec::new();
    for drill in DRILLS.iter().filter(|drill| words.is_empty() || words.iter().any(|word| word == drill.name))
    {
        writeln!(out, "== drill {}: {}", drill.name, drill.about)?;
        let began = Instant::now();
        let result = (drill.run)();
        let took = began.elapsed().as_secs();
        match result {
            Ok(()) => writeln!(out, "== drill {}: passed in {took} s", drill.name)?,
            Err(error) if error.is::<NotRun>() => writeln!(out, "== drill {}: not run: {error}", drill.name)?,
            Err(error) => {
                writeln!(out, "== drill {}: FAILED after {took} s: {error:#}", drill.name)?;
                failed.push(drill.name);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}
