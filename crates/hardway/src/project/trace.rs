//! What follows from a file that somebody edited, added or deleted: which assets, which hosts' configs, and whether nodes get
//! another rendered config. Told by planning twice, with what was done and without.

use std::collections::BTreeMap;

use hardway_assets::graph::{Asset, Plan, Source, Stale};
use hardway_assets::rendered_nodes::{self, POOLS, RenderedNodes};
use hardway_assets::work_paths::{self, MANIFEST_FOLDERS};
use hardway_assets::{Phase, Tree, yaml};
use hardway_release::render::{PoolEffect, Verdict, pool_effects};
use serde_json::{Value, json};

use super::Project;
use crate::report::Report;

/// A file, what was done to it, and what that changes.
pub(crate) struct Trace {
    pub(crate) file: String,
    pub(crate) deed: Deed,
    /// The asset that makes it.
    maker: Option<(String, Phase)>,
    /// Fields in which it differs from what hardway would write.
    fields: Vec<String>,
    /// Assets that read it, directly.
    readers: Vec<String>,
    /// What is made otherwise because of it.
    changes: Vec<Change>,
    /// Files that would have to follow, and were edited by hand themselves.
    unmoved: Vec<String>,
    nodes: Vec<Nodes>,
    rendering: Rendering,
    /// What takes it back.
    undo: Option<String>,
}

/// What somebody did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Added,
    Deleted,
    Edited,
    /// It is as hardway made it, or would make it.
    None,
}

/// Files of one asset.
struct Change {
    asset: String,
    phase: Phase,
    files: Vec<String>,
    /// Whether the next run makes them; if not, they are made.
    is_ahead: bool,
}

/// A pool, and its hosts with their configs.
struct Nodes {
    effect: PoolEffect,
    hosts: Vec<(String, String)>,
}

/// Where node configs come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rendering {
    /// Rendered already, from what is on disk.
    Done,
    /// Rendered by the next run that makes node configs.
    Ahead,
    /// Edited by hand, and never rendered again.
    Edited,
    /// Handed in with the release: no manifest makes a difference.
    Given,
}

impl Trace {
    /// Of a file by its path in the folder; nothing where there is and was none.
    pub(crate) fn of(project: &Project, file: &str) -> Result<Option<Self>, Report> {
        let Some(deed) = Deed::of(project, file) else { return Ok(None) };
        let maker = project.graph().maker(file).map(|asset| (asset.id(), asset.phase()));
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let reads = |asset: &&dyn Asset| {
            asset.sources().iter().any(|source| match source {
                Source::File(path) => path == file,
                Source::Folder(path) => path == folder,
                _ => false,
            })
        };
        let readers = project.graph().assets().filter(reads).map(Asset::id).collect();
        let plan = project.plan(|_| true)?;
        let mut trace = Self {
            file: file.to_owned(),
            deed,
            maker,
            fields: Vec::new(),
            readers,
            changes: Vec::new(),
            unmoved: Vec::new(),
            nodes: Vec::new(),
            rendering: Rendering::of(project, &plan),
            undo: match deed {
                Deed::None => None,
                Deed::Added => Some(format!("rm {}", hardway_base::shell_word(file))),
                Deed::Deleted | Deed::Edited => Some(project.undo_command(file)),
            },
        };
        if deed != Deed::None {
            let without = project.undo([file.to_owned()].into())?.around_the_broken();
            let before = without.plan(|_| true)?.tree(without.tree());
            trace.compare(project, &plan, &before);
        }
        Ok(Some(trace))
    }

    /// With the folder as it would be had nobody done anything to the file.
    fn compare(&mut self, project: &Project, plan: &Plan, before: &Tree) {
        let after = plan.tree(project.tree());
        if self.deed == Deed::Edited {
            self.fields = differing_fields(before.get(&self.file), after.get(&self.file));
        }
        for asset in project.graph().assets().filter(|asset| asset.id() != rendered_nodes::ID) {
            let paths = asset.outputs().into_iter().map(|output| output.path);
            let files: Vec<String> =
                paths.filter(|path| *path != self.file && before.get(path) != after.get(path)).collect();
            if files.is_empty() {
                continue;
            }
            let is_ahead = files.iter().any(|path| project.tree().get(path) != after.get(path));
            self.changes.push(Change { asset: asset.id(), phase: asset.phase(), files, is_ahead });
        }
        let reached = self.readers.iter().flat_map(|reader| project.graph().from(reader));
        let reached: std::collections::BTreeSet<String> = reached.collect();
        let steps = plan.steps.iter().filter(|step| reached.contains(&step.asset));
        let kept = steps.flat_map(|step| &step.files).filter(|(_, state)| state.is_kept());
        self.unmoved =
            kept.map(|(output, _)| output.path.clone()).filter(|path| *path != self.file).collect();
        let hosts = &project.cluster().inventory.hosts;
        self.nodes = self
            .pools(project, before, &after)
            .into_iter()
            .map(|effect| {
                let of_pool = hosts.iter().filter(|host| host.role.name() == effect.pool);
                let hosts = of_pool.map(|host| (host.name.clone(), work_paths::host_config(&host.name)));
                Nodes { hosts: hosts.collect(), effect }
            })
            .collect();
    }

    /// What becomes of rendered configs. One that was edited itself is another one for its own pool.
    fn pools(&self, project: &Project, before: &Tree, after: &Tree) -> Vec<PoolEffect> {
        if self.maker.as_ref().is_some_and(|(asset, _)| asset == rendered_nodes::ID) {
            let own = project.release().rendered.keys().filter(|pool| RenderedNodes::path(pool) == self.file);
            let parts = || [self.file.clone()].into();
            return own
                .map(|pool| PoolEffect { pool: pool.clone(), verdict: Verdict::Differs, parts: parts() })
                .collect();
        }
        pool_effects(before, after)
    }

    /// What it is, in words: `edited by hand`.
    pub(crate) fn state(&self) -> &'static str {
        match (self.deed, self.readers.is_empty()) {
            (Deed::Added, false) => "added by hand",
            (Deed::Added, true) => "added by hand, and nothing is made from it",
            (Deed::Deleted, _) => "deleted by hand, and stays deleted",
            (Deed::Edited, _) => "edited by hand",
            (Deed::None, _) => "as hardway makes it",
        }
    }

    /// For a person: labels, and what stands behind each.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if let Some((asset, phase)) = &self.maker {
            lines.push(("made by", format!("{asset} ({phase})")));
        }
        if !self.fields.is_empty() {
            lines.push(("differs", format!("in {}", some(&self.fields))));
        }
        if self.deed == Deed::None || (self.changes.is_empty() && self.unmoved.is_empty()) {
            lines.push(("read by", some_or(&self.readers, "nothing that hardway makes")));
        }
        for change in &self.changes {
            let when = if change.is_ahead { "; the next run makes it so" } else { "" };
            lines.push((
                "changes",
                format!("{} ({}), by {}{when}", some(&change.files), change.phase, change.asset),
            ));
        }
        for path in &self.unmoved {
            lines.push(("leaves", format!("{path}, which was edited by hand itself and does not follow")));
        }
        lines.extend(self.nodes.iter().map(|nodes| ("nodes", self.told(nodes))));
        if let Some(undo) = &self.undo {
            lines.push(("undo", undo.clone()));
        }
        lines
    }

    fn told(&self, nodes: &Nodes) -> String {
        let Nodes { effect: PoolEffect { pool, verdict, parts }, hosts } = nodes;
        let parts: Vec<String> = parts.iter().cloned().collect();
        if *verdict == Verdict::Same {
            return format!("{pool}: the same rendered config");
        }
        let what = match (verdict, self.rendering) {
            (_, Rendering::Given) => {
                return format!(
                    "{pool}: the same rendered config, which came with the release; rendered here, {} would count",
                    some(&parts)
                );
            }
            (_, Rendering::Edited) if !self.is_rendered_config() => {
                return format!(
                    "{pool}: the same rendered config, since it was edited by hand; rendered again, {} would count",
                    some(&parts)
                );
            }
            (Verdict::MayDiffer, _) => "perhaps another rendered config: templates read",
            (_, _) => "another rendered config:",
        };
        let names: Vec<String> = hosts.iter().map(|(_, config)| config.clone()).collect();
        let configs = some_or(&names, "no host of the inventory");
        let when = if self.rendering == Rendering::Ahead { "; the next run renders it" } else { "" };
        format!("{pool}: {what} {}, for {configs}{when}", some(&parts))
    }

    fn is_rendered_config(&self) -> bool {
        self.maker.as_ref().is_some_and(|(asset, _)| asset == rendered_nodes::ID)
    }

    /// For a program.
    pub(crate) fn value(&self) -> Value {
        let changes = self.changes.iter().map(|change| {
            let Change { asset, phase, files, is_ahead } = change;
            json!({"asset": asset, "phase": phase.name(), "files": files, "isMade": !is_ahead})
        });
        let nodes = self.nodes.iter().map(|nodes| {
            let host = |(name, config): &(String, String)| json!({"name": name, "config": config});
            json!({
                "pool": nodes.effect.pool,
                "rendered": match nodes.effect.verdict {
                    Verdict::Same => "same",
                    Verdict::MayDiffer => "may-differ",
                    Verdict::Differs => "differs",
                },
                "parts": nodes.effect.parts,
                "hosts": nodes.hosts.iter().map(host).collect::<Vec<_>>(),
            })
        });
        json!({
            "file": self.file,
            "state": match self.deed {
                Deed::Added => "added",
                Deed::Deleted => "deleted",
                Deed::Edited => "edited",
                Deed::None => "unchanged",
            },
            "asset": self.maker.as_ref().map(|(asset, _)| asset),
            "differsIn": self.fields,
            "readBy": self.readers,
            "changes": changes.collect::<Vec<_>>(),
            "doesNotFollow": self.unmoved,
            "nodes": nodes.collect::<Vec<_>>(),
            "rendering": match self.rendering {
                Rendering::Done => "done",
                Rendering::Ahead => "ahead",
                Rendering::Edited => "edited-by-hand",
                Rendering::Given => "given",
            },
            "undo": self.undo,
        })
    }
}

impl Deed {
    fn of(project: &Project, file: &str) -> Option<Self> {
        let (tree, lock) = (project.tree(), project.lock());
        let is_made = project.graph().maker(file).is_some();
        match tree.get(file) {
            None if lock.is_deleted(file, tree) => Some(Self::Deleted),
            None => is_made.then_some(Self::None),
            Some(_) if lock.is_ours(file, tree) => Some(Self::None),
            Some(_) if is_made => Some(Self::Edited),
            Some(_) => Some(Self::Added),
        }
    }
}

impl Rendering {
    fn of(project: &Project, plan: &Plan) -> Self {
        if project.is_rendered {
            return Self::Given;
        }
        let Some(step) = plan.step(rendered_nodes::ID) else { return Self::Ahead };
        let has_all = POOLS.iter().all(|pool| project.release().rendered.contains_key(*pool));
        let is_outdated = |reason: &Stale| RenderedNodes::is_outdated_by(reason);
        match step.files.iter().any(|(_, state)| state.is_kept()) {
            true => Self::Edited,
            false if has_all && !step.reasons.iter().any(is_outdated) => Self::Done,
            false => Self::Ahead,
        }
    }
}

/// More than these are counted.
const SHOWN: usize = 6;

fn some(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn some_or(names: &[String], none: &str) -> String {
    if names.is_empty() { none.to_owned() } else { some(names) }
}

/// Paths of fields that are not the same, without what stands in them: some of it is secret.
fn differing_fields(before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<String> {
    let (Some(before), Some(after)) = (objects(before), objects(after)) else { return Vec::new() };
    let mut fields = Vec::new();
    let has_one = before.len() == 1 && after.len() == 1 && before.keys().eq(after.keys());
    for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
        let below = if has_one { String::new() } else { format!("{name}: ") };
        match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) => {
                compare(before, after, "", &mut |path| fields.push(below.clone() + path))
            }
            _ => fields.push(name.clone()),
        }
    }
    fields
}

/// By kind and name.
fn objects(text: Option<&[u8]>) -> Option<BTreeMap<String, Value>> {
    let nodes = yaml::read_all(std::str::from_utf8(text?).ok()?).ok()?;
    let named = nodes.iter().map(yaml::Node::to_json).filter(|value| !value.is_null()).map(|value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (format!("{} {}", text(&value["kind"]), text(&value["metadata"]["name"])), value)
    });
    Some(named.collect())
}

fn compare(before: &Value, after: &Value, path: &str, found: &mut dyn FnMut(&str)) {
    match (before, after) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                let path = match (path, key.contains(['.', '/'])) {
                    (_, true) => format!("{path}[{key}]"),
                    ("", false) => key.clone(),
                    (_, false) => format!("{path}.{key}"),
                };
                compare(&before[key], &after[key], &path, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (i, (left, right)) in left.iter().zip(right).enumerate() {
                compare(left, right, &format!("{path}[{i}]"), found);
            }
        }
        _ if before == after => {}
        _ => found(path),
    }
}

/// Whether files of this folder are created in the cluster.
pub(crate) fn is_in_manifests(file: &str) -> bool {
    file.rsplit_once('/').is_some_and(|(folder, _)| MANIFEST_FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_differ_are_named_and_what_stands_in_them_is_not() {
        let told = |before: &str, after: &str| {
            differing_fields(Some(before.as_bytes()), Some(after.as_bytes())).join("; ")
        };
        let object = "kind: A\nmetadata: {name: a}\nspec: {list: [1, {b: 2}], x/y: 1}\n";
        assert_eq!(told(object, &(object.to_owned() + "# mine\n")), "");
        assert_eq!(told(object, &object.replace("b: 2", "b: secret")), "spec.list[1].b");
        assert_eq!(told(object, &object.replace("x/y: 1", "x/y: 2, new: 3")), "spec[x/y]; spec.new");
        assert_eq!(told(object, &object.replace("[1, {b: 2}]", "[1]")), "spec.list");
        let two = format!("{object}---\nkind: B\nmetadata: {{name: b}}\n");
        assert_eq!(told(object, &two), "B b");
        assert_eq!(told(&two, &two.replace("b: 2", "b: 3")), "A a: spec.list[1].b");
    }
}
