//! What the controller wrote: one MachineConfig per pool.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hardway_assets::release_payload::{ReleasePayload, RenderedConfig};
use hardway_assets::rendered_nodes::{POOLS, RenderedNodes};
use hardway_assets::{Cluster, File, yaml};
use serde_json::Value;

use crate::fault::{Fault, FaultReason};
use crate::image_references::unexpected;
use crate::rendered_config::rendered_config;

const CONTROLLER_CONFIG: &str = "controller-config/machine-config-controller.yaml";

/// The rendered configs of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// By pool.
    pub configs: BTreeMap<String, RenderedConfig>,
}

/// A folder that does not hold the rendered configs of this cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} does not contain the node configs of this cluster:{}", .dir.display(), listed(.faults))]
pub struct RenderedDirError {
    /// The folder.
    pub dir: PathBuf,
    /// Everything found, by file.
    pub faults: Vec<Fault>,
}

impl Rendered {
    /// The files to keep in the working directory. They hold the pull secret.
    pub fn files(&self) -> Vec<File> {
        let file = |(pool, config): (&String, &RenderedConfig)| {
            File::secret(RenderedNodes::path(pool), yaml::write(&config.machine_config))
        };
        self.configs.iter().map(file).collect()
    }
}

/// Reads the folder that the controller wrote: after [`super::run`], or one that was made on another host
/// (`--rendered-dir`). It must be of this release and this cluster.
pub fn read_rendered_dir(
    dir: &Path,
    release: &ReleasePayload,
    cluster: &Cluster,
) -> Result<Rendered, RenderedDirError> {
    let mut reader = Reader { dir, faults: Vec::new() };
    reader.same_origin(release, cluster);
    let rendered = reader.pools();
    if reader.faults.is_empty() {
        Ok(rendered)
    } else {
        Err(RenderedDirError { dir: dir.to_owned(), faults: reader.faults })
    }
}

struct Reader<'d> {
    dir: &'d Path,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    /// The controller keeps a copy of what it was told: enough to see a mix-up.
    fn same_origin(&mut self, release: &ReleasePayload, cluster: &Cluster) {
        let Some(config) = self.object(CONTROLLER_CONFIG) else { return };
        let spec = &config["spec"];
        let infra = &spec["infra"]["status"]["infrastructureName"];
        for (field, expected, found) in [
            ("spec.releaseImage", &release.image, &spec["releaseImage"]),
            ("spec.infra.status.infrastructureName", &cluster.identity.infra_id, infra),
        ] {
            if found != expected.as_str() {
                self.fault(CONTROLLER_CONFIG, unexpected(field, expected, found));
            }
        }
    }

    fn pools(&mut self) -> Rendered {
        let mut rendered = Rendered::default();
        let mut used = BTreeSet::new();
        for file in self.names("machine-pools") {
            let path = format!("machine-pools/{file}");
            let Some(pool) = self.object(&path) else { continue };
            let Some((name, config_name)) = self.pool(&path, &file, &pool) else { continue };
            used.insert(format!("{config_name}.yaml"));
            if let Some(config) = self.config(&name, &config_name) {
                rendered.configs.insert(name, config);
            }
        }
        for file in self.names("machine-configs") {
            if !used.contains(&file) {
                let field = "metadata.name".to_owned();
                let (expected, found) = ("a config that a pool names".to_owned(), file.clone());
                self.fault(
                    &format!("machine-configs/{file}"),
                    FaultReason::Unexpected { field, expected, found },
                );
            }
        }
        for pool in POOLS {
            if !rendered.configs.contains_key(pool) && self.faults.is_empty() {
                self.fault(
                    &format!("machine-pools/{pool}.yaml"),
                    FaultReason::Missing("every cluster has this pool"),
                );
            }
        }
        rendered
    }

    /// The name of a pool and of its config, which spec and status must agree on.
    fn pool(&mut self, path: &str, file: &str, pool: &Value) -> Option<(String, String)> {
        let name = pool["metadata"]["name"].as_str().unwrap_or_default();
        let before = self.faults.len();
        if pool["kind"] != "MachineConfigPool" {
            self.fault(path, unexpected("kind", "MachineConfigPool", &pool["kind"]));
        }
        if format!("{name}.yaml") != file {
            let expected = file.trim_end_matches(".yaml");
            self.fault(path, unexpected("metadata.name", expected, &pool["metadata"]["name"]));
        }
        let status = &pool["status"]["configuration"]["name"];
        let config = pool["spec"]["configuration"]["name"].as_str().unwrap_or_default();
        if config.is_empty() {
            self.fault(path, FaultReason::Field("spec.configuration.name".to_owned()));
        } else if status != config {
            self.fault(path, unexpected("status.configuration.name", config, status));
        }
        (self.faults.len() == before).then(|| (name.to_owned(), config.to_owned()))
    }

    fn config(&mut self, pool: &str, name: &str) -> Option<RenderedConfig> {
        let path = format!("machine-configs/{name}.yaml");
        let text = self.text(&path)?;
        match rendered_config(&text) {
            Ok((found, mut config)) if config.name == name && found == pool => {
                // They point at a pool without a uid: the API server would refuse them.
                if let Some(metadata) = config.machine_config["metadata"].as_object_mut() {
                    metadata.remove("ownerReferences");
                }
                Some(config)
            }
            Ok((_, config)) => {
                let expected = format!("{name} as pool {pool} has it");
                let field = "metadata.name".to_owned();
                self.fault(&path, FaultReason::Unexpected { field, expected, found: config.name });
                None
            }
            Err(reasons) => {
                reasons.into_iter().for_each(|reason| self.fault(&path, reason));
                None
            }
        }
    }

    fn object(&mut self, path: &str) -> Option<Value> {
        let text = self.text(path)?;
        match yaml::read(&text) {
            Ok(node) => Some(node.to_json()),
            Err(errors) => {
                FaultReason::syntax(&text, 0, errors).into_iter().for_each(|reason| self.fault(path, reason));
                None
            }
        }
    }

    fn text(&mut self, path: &str) -> Option<String> {
        let reason = match fs_err::read(self.dir.join(path)).map(String::from_utf8) {
            Ok(Ok(text)) => return Some(text),
            Ok(Err(_)) => FaultReason::NotText,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                FaultReason::Missing("the controller writes it")
            }
            Err(error) => FaultReason::Unreadable(error.kind()),
        };
        self.fault(path, reason);
        None
    }

    /// The files of a folder, sorted.
    fn names(&mut self, folder: &str) -> Vec<String> {
        let entries =
            fs_err::read_dir(self.dir.join(folder)).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        match entries {
            Ok(entries) => {
                let mut names: Vec<_> =
                    entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
                names.sort();
                names
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.fault(folder, FaultReason::Missing("the controller writes it"));
                Vec::new()
            }
            Err(error) => {
                self.fault(folder, FaultReason::Unreadable(error.kind()));
                Vec::new()
            }
        }
    }

    fn fault(&mut self, file: &str, reason: FaultReason) {
        self.faults.push(Fault { file: file.to_owned(), reason });
    }
}

fn listed(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}
