//! The images of a release by tag name.

use std::collections::BTreeMap;

/// Pull specs by the tag names of `image-references`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentImages(BTreeMap<String, String>);

/// The release has no image of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the release has no image named {name:?}{}", listed(.near))]
pub struct MissingImage {
    /// What was asked for.
    pub name: String,
    /// Names that look alike.
    pub near: Vec<String>,
}

impl ComponentImages {
    /// The pull spec of a component.
    pub fn get(&self, name: &str) -> Result<&str, MissingImage> {
        self.0
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| MissingImage { name: name.to_owned(), near: self.near(name) })
    }

    /// Every name and pull spec, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, image)| (name.as_str(), image.as_str()))
    }

    /// Names that share a word of the name asked for, the likeliest first.
    fn near(&self, name: &str) -> Vec<String> {
        let shared =
            |other: &str| name.split('-').filter(|word| other.split('-').any(|w| w == *word)).count();
        let mut names: Vec<_> = self.0.keys().filter(|other| shared(other) > 0).cloned().collect();
        names.sort_by_key(|other| std::cmp::Reverse(shared(other)));
        names.truncate(5);
        names
    }
}

impl FromIterator<(String, String)> for ComponentImages {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(images: I) -> Self {
        Self(images.into_iter().collect())
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; near: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_image_names_its_neighbours() {
        let images: ComponentImages = ["cluster-etcd-operator", "etcd", "hyperkube"]
            .map(|n| (n.to_owned(), format!("q/{n}")))
            .into_iter()
            .collect();
        assert_eq!(images.get("etcd"), Ok("q/etcd"));
        let missing = images.get("etcd-operator").unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the release has no image named \"etcd-operator\"; near: cluster-etcd-operator, etcd"
        );
    }
}
