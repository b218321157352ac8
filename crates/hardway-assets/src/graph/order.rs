//! All assets of a cluster, ordered so that each comes after the files it reads.

use std::collections::{BTreeMap, BTreeSet};

use super::{Asset, Facet, Source};

/// The assets in an order in which they can be made.
#[derive(Debug)]
pub struct Graph {
    assets: Vec<Box<dyn Asset>>,
    makers: Makers,
}

/// Who makes what, by index.
#[derive(Debug, Default)]
struct Makers {
    files: BTreeMap<String, usize>,
    facets: BTreeMap<Facet, usize>,
}

/// The assets do not form a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Assets wait for each other.
    #[error("circular dependency between assets: {}", .0.join(", "))]
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
        let order = order(&assets, &makers)?;
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
        self.makers.files.get(path).map(|maker| self.assets[*maker].as_ref())
    }

    /// (from, to): the second reads a file of the first, or a part of the release that the first brings.
    pub fn edges(&self) -> Vec<(String, String)> {
        let mut edges = BTreeSet::new();
        for (i, asset) in self.assets().enumerate() {
            let makers: BTreeSet<usize> =
                asset.sources().iter().flat_map(|source| self.makers.of(source)).collect();
            let from = makers.into_iter().filter(|maker| *maker != i);
            edges.extend(from.map(|maker| (self.assets[maker].id(), asset.id())));
        }
        edges.into_iter().collect()
    }

    /// An asset and everything that is made from it, directly or not.
    pub fn from(&self, id: &str) -> BTreeSet<String> {
        let mut readers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (from, to) in self.edges() {
            readers.entry(from).or_default().push(to);
        }
        let mut found = BTreeSet::new();
        let mut queue = vec![id.to_owned()];
        while let Some(next) = queue.pop() {
            queue.extend(readers.remove(&next).unwrap_or_default());
            found.insert(next);
        }
        found
    }
}

fn index_makers(assets: &[Box<dyn Asset>]) -> Result<Makers, GraphError> {
    let mut makers = Makers::default();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (i, asset) in assets.iter().enumerate() {
        if let Some(first) = names.insert(asset.id(), i) {
            return Err(GraphError::Twice {
                what: asset.id(),
                first: assets[first].id(),
                second: asset.id(),
            });
        }
        let files = asset.outputs().into_iter().map(|output| {
            let first = makers.files.insert(output.path.clone(), i);
            (output.path, first)
        });
        let files: Vec<_> = files.collect();
        let facets = asset
            .gives()
            .into_iter()
            .map(|facet| (Source::Release(facet.clone()).to_string(), makers.facets.insert(facet, i)));
        if let Some((what, first)) =
            files.into_iter().chain(facets).find_map(|(what, first)| Some((what, first?)))
        {
            return Err(GraphError::Twice { what, first: assets[first].id(), second: asset.id() });
        }
    }
    Ok(makers)
}

/// The indices, each after those it needs. Only what became ready is looked at: there are as many assets as hosts.
fn order(assets: &[Box<dyn Asset>], makers: &Makers) -> Result<Vec<usize>, GraphError> {
    let rank = |i: usize| (assets[i].phase(), assets[i].id(), i);
    let mut missing = vec![0; assets.len()];
    let mut readers = vec![Vec::new(); assets.len()];
    for (i, asset) in assets.iter().enumerate() {
        let needs: BTreeSet<usize> = needs(asset.as_ref(), makers)?.into_iter().collect();
        for need in needs.into_iter().filter(|need| *need != i) {
            missing[i] += 1;
            readers[need].push(i);
        }
    }
    let mut ready: BTreeSet<_> = (0..assets.len()).filter(|i| missing[*i] == 0).map(rank).collect();
    let mut order = Vec::new();
    while let Some((.., next)) = ready.pop_first() {
        order.push(next);
        for reader in &readers[next] {
            missing[*reader] -= 1;
            if missing[*reader] == 0 {
                ready.insert(rank(*reader));
            }
        }
    }
    if order.len() == assets.len() {
        return Ok(order);
    }
    let waiting = (0..assets.len()).filter(|i| missing[*i] > 0);
    Err(GraphError::Cycle(waiting.map(|i| assets[i].id()).collect()))
}

/// The indices of the assets whose files an asset reads.
fn needs(asset: &dyn Asset, makers: &Makers) -> Result<Vec<usize>, GraphError> {
    let mut needs = Vec::new();
    for source in asset.sources() {
        let found = makers.of(&source);
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

impl Makers {
    fn of(&self, source: &Source) -> Vec<usize> {
        match source {
            Source::File(path) => self.files.get(path).copied().into_iter().collect(),
            Source::Folder(folder) => {
                let below = format!("{folder}/");
                let files =
                    self.files.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
                files.filter(|(path, _)| is_in(path, folder)).map(|(_, maker)| *maker).collect()
            }
            Source::Release(facet) => {
                let maker = self.facets.get(facet).or_else(|| self.facets.get(&facet.whole()?));
                maker.copied().into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

fn is_in(path: &str, folder: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(parent, _)| parent == folder)
}
