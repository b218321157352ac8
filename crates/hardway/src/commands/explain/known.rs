//! What `explain` looks things up in.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::explain::Catalogue;
use hardway_assets::graph::Graph;
use hardway_machines::actions::Action;
use serde_json::Value;

use crate::cli;
use crate::explanations;
use crate::inputs::{InputFiles, Workdir};
use crate::machines::Infra;
use crate::project::{Checked, Project, cluster_before_release, example_graph, graph_of};
use crate::release::Reach;
use crate::terminal::Output;

/// Each part is made when it is first needed, and once, however many things are asked about.
pub(super) struct Known<'d> {
    dir: &'d Path,
    catalogue: Catalogue,
    program: OnceCell<clap::Command>,
    example: OnceCell<Option<Graph>>,
    folder: OnceCell<Option<Graph>>,
    actions: OnceCell<Vec<Action>>,
    project: OnceCell<Option<Project>>,
    cluster: OnceCell<Option<Cluster>>,
    node_files: OnceCell<BTreeMap<String, Vec<String>>>,
    images: OnceCell<BTreeSet<String>>,
}

impl<'d> Known<'d> {
    /// With the cluster of this folder, if there is one that can be understood.
    pub(super) fn new(dir: &'d Path) -> Self {
        Self {
            dir,
            catalogue: explanations::catalogue(),
            program: OnceCell::new(),
            example: OnceCell::new(),
            folder: OnceCell::new(),
            actions: OnceCell::new(),
            project: OnceCell::new(),
            cluster: OnceCell::new(),
            node_files: OnceCell::new(),
            images: OnceCell::new(),
        }
    }

    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The folder, if there is one.
    pub(super) fn workdir(&self) -> Option<Workdir> {
        Workdir::open(self.dir).ok()
    }

    /// This program, with everything that can be typed.
    pub(super) fn program(&self) -> &clap::Command {
        self.program.get_or_init(|| {
            let mut program = cli::command();
            program.build();
            program
        })
    }

    /// The assets of a made-up cluster.
    pub(super) fn example(&self) -> Option<&Graph> {
        self.example.get_or_init(|| example_graph().ok()).as_ref()
    }

    /// Those of the folder's, if it can be understood.
    pub(super) fn folder(&self) -> Option<&Graph> {
        let open = || {
            let workdir = self.workdir()?;
            graph_of(&workdir, Checked::load(&workdir, Reach::Kept, &Output::silent()).ok()?).ok()
        };
        self.folder.get_or_init(open).as_ref()
    }

    /// Everything that the folder's files are made from.
    pub(super) fn project(&self) -> Option<&Project> {
        let open = || {
            let workdir = self.workdir()?;
            let checked = Checked::load(&workdir, Reach::Kept, &Output::silent()).ok()?;
            Project::look(&workdir, checked).ok().map(Project::around_the_broken)
        };
        self.project.get_or_init(open).as_ref()
    }

    /// The folder's, before its release is known.
    pub(super) fn cluster(&self) -> Option<&Cluster> {
        let open = || {
            let workdir = self.workdir()?;
            cluster_before_release(&workdir, &InputFiles::open(&workdir).ok()?).ok()
        };
        self.cluster.get_or_init(open).as_ref()
    }

    /// Names of the images of the folder's release, if it is here.
    pub(super) fn images(&self) -> &BTreeSet<String> {
        self.images.get_or_init(|| {
            let checked = self
                .workdir()
                .and_then(|workdir| Checked::load(&workdir, Reach::Kept, &Output::silent()).ok());
            let names = |checked: Checked| {
                checked.release.payload.images.iter().map(|(name, _)| name.to_owned()).collect()
            };
            checked.map(names).unwrap_or_default()
        })
    }

    /// Files, units and drop-ins of the folder's node configs, each with the configs that have it.
    pub(super) fn node_files(&self) -> &BTreeMap<String, Vec<String>> {
        self.node_files.get_or_init(|| {
            let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let Ok(folder) = fs_err::read_dir(self.dir.join("ignition")) else { return found };
            for entry in folder.flatten() {
                let name = format!("ignition/{}", entry.file_name().to_string_lossy());
                let config = fs_err::read(entry.path()).unwrap_or_default();
                let Ok(config) = serde_json::from_slice::<Value>(&config) else { continue };
                for part in parts_of(&config) {
                    found.entry(part).or_default().push(name.clone());
                }
            }
            found.values_mut().for_each(|configs| configs.sort_unstable());
            found
        })
    }

    /// All that would be done around the machines and to them.
    pub(super) fn actions(&self) -> &[Action] {
        self.actions.get_or_init(|| {
            let infra = Workdir::open(self.dir).and_then(|workdir| Infra::open(&workdir));
            let Ok((infra, provider)) =
                infra.and_then(|infra| infra.provider().map(|provider| (infra, provider)))
            else {
                return Vec::new();
            };
            let hosts = infra.cluster.inventory.hosts.iter();
            let of_machines = hosts.flat_map(|host| {
                [provider.first_boot(host), provider.after_join(host)].into_iter().flatten()
            });
            provider.infrastructure().into_iter().chain(of_machines).collect()
        })
    }
}

/// Paths of files, and names of units and drop-ins, of an Ignition config.
fn parts_of(config: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let name = |value: &Value, field: &str| value[field].as_str().map(str::to_owned);
    let files = list(&config["storage"]["files"]).into_iter().filter_map(|file| name(&file, "path"));
    let units = list(&config["systemd"]["units"]);
    let dropins =
        units.iter().flat_map(|unit| list(&unit["dropins"])).filter_map(|dropin| name(&dropin, "name"));
    files.chain(units.iter().filter_map(|unit| name(unit, "name"))).chain(dropins).collect()
}
