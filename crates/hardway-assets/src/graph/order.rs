//! All assets of a cluster, ordered so that each comes after the files it reads.

use std::collections::{BTreeMap, BTreeSet};

use super::{Asset, Source};

/// The assets in an order in which they can be made.
#[derive(Debug)]
pub struct Graph {
    assets: Vec<Box<dyn Asset>>,
    /// The index of the asset that makes each file.
    makers: BTreeMap<String, usize>,
}

/// The assets do not form a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Assets wait for each other.
    #[error("assets wait for each other: {}", .0.join(", "))]
    Cycle(Vec<String>),
    /// Two assets make the same file or have the same name.
    #[error("{what} is made by both {first} and {second}")]
    Twice {
        /// The file or name.
        what: String,
        /// One asset.
        first: String,
        /// The other.
        second: String,
    },
    /// An asset reads a file that nothing makes.
    #[error("{asset} reads {path}, which nothing makes")]
    Unmade {
        /// The reader.
        asset: String,
        /// The file.
        path: String,
    },
}

impl Graph {
    /// Orders the assets. Ties go by phase and name, so the order is the same on every run.
    pub fn new(assets: Vec<Box<dyn Asset>>) -> Result<Self, GraphError> {
        let makers = index_makers(&assets)?;
        let mut waiting: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (i, asset) in assets.iter().enumerate() {
            waiting
                .insert(i, needs(asset.as_ref(), &makers)?.into_iter().filter(|need| *need != i).collect());
        }
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let ready = waiting.iter().filter(|(_, needs)| needs.is_empty()).map(|(i, _)| *i);
            let Some(next) = ready.min_by_key(|i| (assets[*i].phase(), assets[*i].id())) else {
                return Err(GraphError::Cycle(waiting.keys().map(|i| assets[*i].id()).collect()));
            };
            waiting.remove(&next);
            waiting.values_mut().for_each(|needs| {
                needs.remove(&next);
            });
            order.push(next);
        }
        let mut slots: Vec<Option<Box<dyn Asset>>> = assets.into_iter().map(Some).collect();
        let assets: Vec<_> = order.into_iter().filter_map(|i| slots[i].take()).collect();
        let makers = index_makers(&assets)?;
        Ok(Self { assets, makers })
    }

    /// The assets, each after what it reads.
    pub fn assets(&self) -> impl Iterator<Item = &dyn Asset> {
        self.assets.iter().map(Box::as_ref)
    }

    /// The asset that makes a file.
    pub fn maker(&self, path: &str) -> Option<&dyn Asset> {
        self.makers.get(path).map(|maker| self.assets[*maker].as_ref())
    }

    /// (from, to): the second reads a file of the first.
    pub fn edges(&self) -> Vec<(String, String)> {
        let mut edges = BTreeSet::new();
        for asset in self.assets() {
            let from = asset.sources().into_iter().flat_map(|source| makers_of(&source, &self.makers));
            edges.extend(from.map(|maker| (self.assets[maker].id(), asset.id())));
        }
        edges.into_iter().collect()
    }
}

/// The index of the asset that makes each file.
fn index_makers(assets: &[Box<dyn Asset>]) -> Result<BTreeMap<String, usize>, GraphError> {
    let mut makers: BTreeMap<String, usize> = BTreeMap::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (i, asset) in assets.iter().enumerate() {
        if let Some(first) = names.insert(asset.id(), i) {
            return Err(GraphError::Twice {
                what: asset.id(),
                first: assets[first].id(),
                second: asset.id(),
            });
        }
        for output in asset.outputs() {
            if let Some(first) = makers.insert(output.path.clone(), i) {
                return Err(GraphError::Twice {
                    what: output.path,
                    first: assets[first].id(),
                    second: asset.id(),
                });
            }
        }
    }
    Ok(makers)
}

/// The indices of the assets whose files an asset reads.
fn needs(asset: &dyn Asset, makers: &BTreeMap<String, usize>) -> Result<Vec<usize>, GraphError> {
    let mut needs = Vec::new();
    for source in asset.sources() {
        let found = makers_of(&source, makers);
        match source {
            // A folder may be empty, a file must be made.
            Source::File(path) if found.is_empty() => {
                return Err(GraphError::Unmade { asset: asset.id(), path });
            }
            _ => needs.extend(found),
        }
    }
    Ok(needs)
}

fn makers_of(source: &Source, makers: &BTreeMap<String, usize>) -> Vec<usize> {
    match source {
        Source::File(path) => makers.get(path).copied().into_iter().collect(),
        Source::Folder(folder) => {
            makers.iter().filter(|(path, _)| is_in(path, folder)).map(|(_, maker)| *maker).collect()
        }
        _ => Vec::new(),
    }
}

fn is_in(path: &str, folder: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(parent, _)| parent == folder)
}
