//! An image as a pod names it, with or without registry, tag and digest.

use std::fmt;
use std::str::FromStr;

use crate::pull_spec::{PullSpec, PullSpecError, PullSpecFault};

/// A name of an image. What is left out is filled in as a container runtime does (containers/image `docker/reference`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedImage {
    text: String,
    registry: Option<String>,
    /// With tag or digest.
    rest: String,
}

const DOCKER_HUB: &str = "docker.io";

impl NamedImage {
    /// Whether nothing says from where.
    pub fn is_short(&self) -> bool {
        self.registry.is_none()
    }

    /// Whether it is the same image tomorrow.
    pub fn is_by_digest(&self) -> bool {
        self.rest.contains('@')
    }

    /// The image in its own registry, or in each of these where it names none.
    pub fn candidates(&self, search: &[String]) -> Result<Vec<PullSpec>, PullSpecError> {
        let own = self.registry.clone().map_or_else(|| search.to_vec(), |registry| vec![registry]);
        own.iter()
            .map(|registry| {
                let is_official = registry == DOCKER_HUB && !self.rest.contains('/');
                let library = if is_official { "library/" } else { "" };
                format!("{registry}/{library}{}", self.rest).parse()
            })
            .collect()
    }
}

impl FromStr for NamedImage {
    type Err = PullSpecError;

    fn from_str(text: &str) -> Result<Self, PullSpecError> {
        let is_registry = |part: &str| part.contains(['.', ':']) || part == "localhost";
        let (registry, rest) = match text.split_once('/') {
            Some((first, rest)) if is_registry(first) => (Some(first.to_owned()), rest),
            _ => (None, text),
        };
        let (name, digest) = rest.split_once('@').map_or((rest, None), |(name, digest)| (name, Some(digest)));
        let tag = name.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
        let bare = tag.map_or(name, |tag| &name[..name.len() - tag.len() - 1]);
        let rest = match (digest, tag) {
            // The tag says nothing then, and no registry is asked for both.
            (Some(digest), _) => format!("{bare}@{digest}"),
            (None, Some(tag)) => format!("{bare}:{tag}"),
            (None, None) => format!("{bare}:latest"),
        };
        if bare.is_empty() {
            return Err(PullSpecError {
                text: text.to_owned(),
                fault: PullSpecFault::Repository(String::new()),
            });
        }
        let registry =
            registry.map(|name| if name == "index.docker.io" { DOCKER_HUB.to_owned() } else { name });
        let image = Self { text: text.to_owned(), registry, rest };
        // Any registry will do to see whether the rest is well-formed.
        image
            .candidates(&["example.com".to_owned()])
            .map_err(|error| PullSpecError { text: text.to_owned(), ..error })?;
        Ok(image)
    }
}

impl fmt::Display for NamedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_filled_in() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let search = ["q.example".to_owned()];
        for (text, full) in [
            ("busybox", "q.example/busybox:latest".to_owned()),
            ("a/b:1", "q.example/a/b:1".to_owned()),
            ("docker.io/busybox", "docker.io/library/busybox:latest".to_owned()),
            ("localhost/x", "localhost/x:latest".to_owned()),
            ("lab:5000/x", "lab:5000/x:latest".to_owned()),
            (&format!("lab:5000/x:1@{digest}"), format!("lab:5000/x@{digest}")),
        ] {
            let image: NamedImage = text.parse().unwrap();
            assert_eq!(image.candidates(&search).unwrap()[0].to_string(), full);
        }
        for text in ["", ":1", "quay.io/", "quay.io/A", "quay.io/a@sha256:1", "quay.io/a b"] {
            assert!(text.parse::<NamedImage>().is_err(), "{text:?}");
        }
    }
}
