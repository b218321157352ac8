//! The declared nodes, in order, and found by name, host or address without looking at each: a large inventory has thousands, and
//! every certificate request asks.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::DeclaredNode;

/// A list of nodes with an index that is made when it is first asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeclaredNodes {
    nodes: Vec<DeclaredNode>,
    #[serde(skip)]
    index: OnceLock<Index>,
}

/// Places in the list, in its order.
#[derive(Clone, Debug, Default)]
struct Index {
    by_name: BTreeMap<String, Vec<usize>>,
    /// In lower case.
    by_folded_name: BTreeMap<String, Vec<usize>>,
    by_host: BTreeMap<String, Vec<usize>>,
    by_address: BTreeMap<IpAddr, Vec<usize>>,
}

impl DeclaredNodes {
    /// The node of that name.
    pub fn named(&self, name: &str) -> Option<&DeclaredNode> {
        self.at(self.index().by_name.get(name)).next()
    }

    /// The node that the inventory calls so.
    pub fn of_host(&self, host: &str) -> Option<&DeclaredNode> {
        self.at(self.index().by_host.get(host)).next()
    }

    /// Nodes with that name, or of a host with that name.
    pub(super) fn called(&self, name: &str) -> impl Iterator<Item = &DeclaredNode> {
        self.at(self.index().by_name.get(name)).chain(self.at(self.index().by_host.get(name)))
    }

    /// The first that a machine may be which calls itself so: its host's name, alone or with another domain, or its own in other
    /// letters.
    pub(crate) fn meant_by(&self, name: &str) -> Option<&DeclaredNode> {
        let index = self.index();
        let label = name.split('.').next().unwrap_or_default();
        let places = [
            index.by_host.get(name),
            index.by_host.get(label),
            index.by_folded_name.get(&name.to_ascii_lowercase()),
        ];
        let first = places.into_iter().flatten().flatten().min()?;
        Some(&self.nodes[*first])
    }

    /// Nodes with that address.
    pub fn with_address(&self, address: IpAddr) -> impl Iterator<Item = &DeclaredNode> {
        self.at(self.index().by_address.get(&address))
    }

    fn at(&self, places: Option<&Vec<usize>>) -> impl Iterator<Item = &DeclaredNode> {
        places.into_iter().flatten().map(|place| &self.nodes[*place])
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for (place, node) in self.nodes.iter().enumerate() {
                index.by_name.entry(node.name.clone()).or_default().push(place);
                index.by_folded_name.entry(node.name.to_ascii_lowercase()).or_default().push(place);
                index.by_host.entry(node.host.clone()).or_default().push(place);
                for address in &node.addresses {
                    index.by_address.entry(*address).or_default().push(place);
                }
            }
            index
        })
    }
}

impl PartialEq for DeclaredNodes {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Eq for DeclaredNodes {}

impl Deref for DeclaredNodes {
    type Target = [DeclaredNode];

    fn deref(&self) -> &[DeclaredNode] {
        &self.nodes
    }
}

/// Whoever may change a node may change what it is found by.
impl DerefMut for DeclaredNodes {
    fn deref_mut(&mut self) -> &mut [DeclaredNode] {
        self.index.take();
        &mut self.nodes
    }
}

impl From<Vec<DeclaredNode>> for DeclaredNodes {
    fn from(nodes: Vec<DeclaredNode>) -> Self {
        Self { nodes, index: OnceLock::new() }
    }
}

impl<const N: usize> From<[DeclaredNode; N]> for DeclaredNodes {
    fn from(nodes: [DeclaredNode; N]) -> Self {
        Vec::from(nodes).into()
    }
}

impl FromIterator<DeclaredNode> for DeclaredNodes {
    fn from_iter<I: IntoIterator<Item = DeclaredNode>>(nodes: I) -> Self {
        nodes.into_iter().collect::<Vec<_>>().into()
    }
}

impl<'n> IntoIterator for &'n DeclaredNodes {
    type Item = &'n DeclaredNode;
    type IntoIter = std::slice::Iter<'n, DeclaredNode>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_node_is_found_by_what_it_has_become() {
        let address: IpAddr = "192.0.2.7".parse().unwrap();
        let node = |host: &str| DeclaredNode {
            name: format!("{host}.example.com"),
            host: host.to_owned(),
            role: None,
            addresses: vec![address],
            identity: None,
        };
        let mut nodes = DeclaredNodes::from([node("a"), node("b")]);
        assert_eq!(
            nodes.with_address(address).map(|node| node.host.as_str()).collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert_eq!(nodes.named("b.example.com"), nodes.of_host("b"));
        for name in ["b", "b.elsewhere", "B.Example.com"] {
            assert_eq!(nodes.meant_by(name), nodes.of_host("b"), "{name}");
        }
        nodes[1].name = "c.example.com".to_owned();
        nodes[1].addresses.clear();
        assert_eq!(nodes.named("b.example.com"), None);
        assert_eq!(nodes.named("c.example.com").map(|node| node.host.as_str()), Some("b"));
        assert_eq!(nodes.with_address(address).count(), 1);
    }
}
