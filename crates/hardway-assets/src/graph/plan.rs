//! From the graph, the lock and the disk to what must be written, and why.

use std::collections::{BTreeMap, BTreeSet};

use super::lock::{LockedFile, sha256};
use super::{Asset, Expiry, Fingerprints, Graph, Inputs, Lock, MakeError, Output, Source, Stale};
use crate::{File, Phase, Tree};

/// Everything a plan is made from.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Cluster, release, secrets, and the working directory as it lies on disk.
    pub inputs: Inputs<'a>,
    /// What was made last time.
    pub lock: &'a Lock,
    /// The version of hardway that runs.
    pub generator: &'a str,
    /// Certificates that are renewed in this run because they are near their end.
    pub expiring: &'a [Expiry],
    /// Files that are neither on disk nor in the lock because somebody wants the generated ones back.
    pub undone: &'a [String],
}

/// What to write, what to take away, and the reason for each.
#[derive(Debug, Default)]
pub struct Plan {
    /// One for each asset, in the order they are made.
    pub steps: Vec<PlanStep>,
    /// Files whose content differs from what is on disk.
    pub writes: Vec<File>,
    /// Files of ours that no asset makes any more and that nobody edited.
    pub removals: Vec<String>,
    /// Files that no asset makes any more but that were edited: left alone.
    pub left_behind: Vec<String>,
    /// The lock after the plan is carried out.
    pub lock: Lock,
}

impl Plan {
    /// The working directory once the plan is carried out.
    pub fn tree(&self, before: &Tree) -> Tree {
        let mut tree = before.clone();
        self.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
        self.removals.iter().for_each(|path| tree.remove(path));
        tree
    }

    /// Counts what an earlier plan of the same run made as made by this one.
    pub fn continues(&mut self, before: Self) {
        let mut earlier: BTreeMap<String, PlanStep> =
            before.steps.into_iter().map(|step| (step.asset.clone(), step)).collect();
        for step in &mut self.steps {
            if let Some(earlier) = earlier.remove(&step.asset) {
                *step = earlier;
            }
        }
        self.writes.splice(0..0, before.writes);
        self.removals.splice(0..0, before.removals);
        self.left_behind.splice(0..0, before.left_behind);
    }

    /// What became of an asset, if it was planned.
    pub fn step(&self, asset: &str) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.asset == asset)
    }
}

/// What became of one asset.
#[derive(Debug)]
pub struct PlanStep {
    /// Its name.
    pub asset: String,
    /// Its phase.
    pub phase: Phase,
    /// Why it was made again; empty when it is fresh.
    pub reasons: Vec<Stale>,
    /// Its files.
    pub files: Vec<(Output, FileState)>,
}

/// What became of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Hardway wrote it, and somebody took it away: stays away.
    DeletedByHand,
    /// On disk is something else than hardway wrote there: kept, and read by what comes after.
    EditedByHand,
    /// On disk is something that hardway never wrote, and would not write: kept in the same way.
    NotOurs,
    /// On disk is what it should be.
    Unchanged,
    /// The content differs and will be written.
    Written,
}

impl FileState {
    /// Whether a person's change or deletion is kept in place of our file.
    pub fn is_kept(self) -> bool {
        matches!(self, Self::DeletedByHand | Self::EditedByHand | Self::NotOurs)
    }

    /// Whether that is so whatever we would write.
    fn is_settled(self) -> bool {
        matches!(self, Self::DeletedByHand | Self::EditedByHand)
    }
}

/// An asset could not be made.
#[derive(Debug, thiserror::Error)]
#[error("making {asset}")]
pub struct PlanError {
    /// Its name.
    pub asset: String,
    /// Why.
    #[source]
    pub error: MakeError,
}

/// Plans the assets that `wanted` says yes to, and everything they read.
pub fn plan(
    graph: &Graph,
    world: &World<'_>,
    wanted: impl Fn(&dyn Asset) -> bool,
) -> Result<Plan, PlanError> {
    let (plan, mut broken) = plan_whole(graph, world, wanted, true);
    if broken.is_empty() { Ok(plan) } else { Err(broken.remove(0)) }
}

/// The same as a preview: reports what cannot be made, leaves out whatever depends on it, and plans everything else.
pub fn plan_around(
    graph: &Graph,
    world: &World<'_>,
    wanted: impl Fn(&dyn Asset) -> bool,
) -> (Plan, Vec<PlanError>) {
    plan_whole(graph, world, wanted, false)
}

fn plan_whole(
    graph: &Graph,
    world: &World<'_>,
    wanted: impl Fn(&dyn Asset) -> bool,
    stops: bool,
) -> (Plan, Vec<PlanError>) {
    let fingerprints = Fingerprints::new(world.inputs);
    let needed = closure(graph, wanted);
    let mut run = Run {
        world,
        fingerprints,
        tree: world.inputs.tree.clone(),
        locked: world.lock.by_asset(),
        plan: Plan { lock: world.lock.clone(), ..Plan::default() },
    };
    run.take_away(graph);
    let (mut broken, mut left_out) = (Vec::new(), BTreeSet::new());
    for asset in graph.assets().filter(|asset| needed.contains(&asset.id())) {
        let id = asset.id();
        if left_out.contains(&id) {
            continue;
        }
        if let Err(error) = run.step(asset) {
            if !stops {
                left_out.extend(graph.from(&id));
            }
            broken.push(PlanError { asset: id, error });
            if stops {
                break;
            }
        }
    }
    (run.plan, broken)
}

/// The wanted assets and all their ancestors.
fn closure(graph: &Graph, wanted: impl Fn(&dyn Asset) -> bool) -> BTreeSet<String> {
    let mut readers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (from, to) in graph.edges() {
        readers.entry(to).or_default().push(from);
    }
    let mut needed = BTreeSet::new();
    let mut queue: Vec<String> = graph.assets().filter(|asset| wanted(*asset)).map(Asset::id).collect();
    while let Some(id) = queue.pop() {
        if needed.insert(id.clone()) {
            queue.extend(readers.get(&id).cloned().unwrap_or_default());
        }
    }
    needed
}

struct Run<'w, 'a> {
    world: &'w World<'a>,
    /// What the lock says each asset made.
    locked: BTreeMap<&'a str, Vec<&'a LockedFile>>,
    fingerprints: Fingerprints<'a>,
    /// The disk with what this run made on top.
    tree: Tree,
    plan: Plan,
}

impl Run<'_, '_> {
    /// Drops files of earlier runs that nothing makes any more, before anyone reads their folder.
    fn take_away(&mut self, graph: &Graph) {
        let made: BTreeSet<String> =
            graph.assets().flat_map(Asset::outputs).map(|output| output.path).collect();
        for (path, locked) in self.world.lock.files.iter().filter(|(path, _)| !made.contains(*path)) {
            match self.tree.get(path) {
                Some(bytes) if sha256(bytes) == locked.sha256 => {
                    self.tree.remove(path);
                    self.plan.removals.push(path.clone());
                }
                Some(_) => self.plan.left_behind.push(path.clone()),
                None => {}
            }
            self.plan.lock.files.remove(path);
        }
        let names: BTreeSet<String> = graph.assets().map(Asset::id).collect();
        self.plan.lock.sources.retain(|asset, _| names.contains(asset));
    }

    fn step(&mut self, asset: &dyn Asset) -> Result<(), MakeError> {
        let id = asset.id();
        let sources = self.fingerprints.expand(asset.sources(), &self.tree);
        let hashes: Vec<(Source, String)> = sources
            .into_iter()
            .map(|source| (source.clone(), self.fingerprints.of(&source, &self.tree)))
            .collect();
        let fingerprint = self.fingerprints.combine(&hashes);
        let reasons = self.reasons(asset, &hashes);
        let outputs = asset.outputs();
        let mut kept: Vec<Option<FileState>> = outputs.iter().map(|output| self.kept(&output.path)).collect();
        let is_all_settled = kept.iter().all(|kept| kept.is_some_and(FileState::is_settled));
        let contents = if reasons.is_empty() || is_all_settled { None } else { Some(self.make(asset)?) };
        // A file of unknown origin that is what we would write is ours: perhaps only the lock was lost.
        for (i, bytes) in contents.iter().flatten().enumerate() {
            if kept[i] == Some(FileState::NotOurs) && self.tree.get(&outputs[i].path) == Some(bytes) {
                kept[i] = None;
            }
        }
        let mut files = Vec::new();
        for (i, output) in outputs.into_iter().enumerate() {
            let state = match (kept[i], contents.as_ref().map(|contents| &contents[i])) {
                (Some(kept), _) => kept,
                (None, Some(bytes)) if self.tree.get(&output.path) != Some(bytes) => {
                    self.tree.insert(&output.path, bytes.clone());
                    self.plan.writes.push(output.with(bytes.clone()));
                    FileState::Written
                }
                _ => FileState::Unchanged,
            };
            if !state.is_kept()
                && let Some(bytes) = self.tree.get(&output.path)
            {
                let sha256 = sha256(bytes);
                let generator = self.world.generator.to_owned();
                let locked =
                    LockedFile { asset: id.clone(), fingerprint: fingerprint.clone(), sha256, generator };
                self.plan.lock.files.insert(output.path.clone(), locked);
            }
            files.push((output, state));
        }
        // What was edited was not made again: it stays stale until it goes away or is as we wrote it.
        if reasons.is_empty() || kept.iter().all(Option::is_none) {
            self.plan.lock.sources.insert(id.clone(), hashes.into_iter().collect());
        }
        self.plan.steps.push(PlanStep { asset: id, phase: asset.phase(), reasons, files });
        Ok(())
    }

    fn make(&self, asset: &dyn Asset) -> Result<Vec<Vec<u8>>, MakeError> {
        let inputs = Inputs { tree: &self.tree, ..self.world.inputs };
        let contents = asset.make(&inputs)?;
        if contents.len() == asset.outputs().len() {
            Ok(contents)
        } else {
            Err(MakeError::Internal(format!(
                "{} files made, {} announced",
                contents.len(),
                asset.outputs().len()
            )))
        }
    }

    /// Whether there is a file on disk that the lock does not say we wrote, or none where it says we did.
    fn kept(&self, path: &str) -> Option<FileState> {
        let disk = self.world.inputs.tree;
        if self.world.lock.is_deleted(path, disk) {
            return Some(FileState::DeletedByHand);
        }
        if disk.get(path).is_none() || self.world.lock.is_ours(path, disk) {
            return None;
        }
        let is_known = self.world.lock.files.contains_key(path);
        Some(if is_known { FileState::EditedByHand } else { FileState::NotOurs })
    }

    fn reasons(&self, asset: &dyn Asset, now: &[(Source, String)]) -> Vec<Stale> {
        let id = asset.id();
        let before = self.world.lock.sources.get(&id);
        // An asset that reads nothing has no sources on record, only files.
        let files = self.locked.get(id.as_str()).map(Vec::as_slice).unwrap_or_default();
        if before.is_none() && files.is_empty() {
            return vec![Stale::New];
        }
        let none = BTreeMap::new();
        let before = before.unwrap_or(&none);
        let mut reasons: Vec<Stale> =
            now.iter().filter_map(|(source, hash)| self.change(source, hash, before.get(source))).collect();
        let current: BTreeSet<&Source> = now.iter().map(|(source, _)| source).collect();
        for source in before.keys().filter(|source| !current.contains(source)) {
            reasons.push(match source {
                Source::File(path) => Stale::Removed(path.clone()),
                other => Stale::Changed(other.clone()),
            });
        }
        let disk = self.world.inputs.tree;
        let outputs = asset.outputs().into_iter().map(|output| output.path);
        let missing =
            outputs.filter(|path| disk.get(path).is_none() && !self.world.lock.is_deleted(path, disk));
        reasons.extend(missing.map(|path| match self.world.undone.contains(&path) {
            true => Stale::Undone(path),
            false => Stale::Missing(path),
        }));
        let old = files.iter().map(|file| &file.generator).find(|g| *g != self.world.generator);
        if let Some(from) = old {
            reasons.push(Stale::GeneratorChanged { from: from.clone(), to: self.world.generator.to_owned() });
        }
        reasons
    }

    fn change(&self, source: &Source, hash: &str, before: Option<&String>) -> Option<Stale> {
        match (source, before) {
            (_, Some(before)) if before == hash => None,
            (Source::Issued(name), Some(_)) => {
                let expiry = self.world.expiring.iter().find(|expiry| expiry.certificate == *name);
                Some(match expiry {
                    None => Stale::Changed(source.clone()),
                    Some(expiry) if expiry.is_early => Stale::NotYetValid(name.clone()),
                    Some(e) => Stale::Expiring { certificate: name.clone(), seconds_left: e.seconds_left },
                })
            }
            (Source::File(path), None) => Some(Stale::Added(path.clone())),
            _ => Some(Stale::Changed(source.clone())),
        }
    }
}
