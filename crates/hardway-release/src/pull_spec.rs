//! Pull specs: `registry[:port]/repository[:tag][@digest]`.
//!
//! Short names are refused. `docker.io` and `latest` are never filled in: a release has one registry and one tag, and
//! guessing either means pulling something else.

use std::fmt;
use std::str::FromStr;

use crate::digest::Digest;

/// A pull spec, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullSpec {
    /// Name or address of the registry; an IPv6 address keeps its brackets.
    pub host: String,
    /// Where it does not listen on the usual port.
    pub port: Option<u16>,
    /// Such as `openshift-release-dev/ocp-release`.
    pub repository: String,
    /// Such as `4.18.1-x86_64`.
    pub tag: Option<String>,
    /// What the tag pointed at when the pull spec was written.
    pub digest: Option<Digest>,
}

/// What is wrong with a pull spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a pull spec: {fault}; expected one such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64"
)]
pub struct PullSpecError {
    /// What was given.
    pub text: String,
    /// Why it will not do.
    pub fault: PullSpecFault,
}

/// Why a text is no pull spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PullSpecFault {
    /// `docker://…`, as skopeo writes it.
    #[error("a pull spec has no scheme; remove {0:?}")]
    Scheme(String),
    /// `ubi9:latest`: nothing says from where.
    #[error("it names no registry")]
    NoRegistry,
    /// The part before the first slash.
    #[error("{0:?} is not a host name")]
    Host(String),
    /// After the host.
    #[error("{0:?} is not a port")]
    Port(String),
    /// A part of the repository.
    #[error("{0:?} cannot be part of a repository name (lower case letters, digits and . _ - between them)")]
    Repository(String),
    /// After the colon.
    #[error("{0:?} is not a tag")]
    Tag(String),
    /// After the `@`.
    #[error("{0:?} is not a digest (sha256: and 64 hexadecimal digits in lower case)")]
    Digest(String),
    /// Nothing pins the image.
    #[error("it has neither tag nor digest")]
    Unpinned,
}

impl PullSpec {
    /// Host and port, as credentials and URLs name a registry.
    pub fn registry(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }

    /// Registry and repository: what mirrors are matched with.
    pub fn name(&self) -> String {
        format!("{}/{}", self.registry(), self.repository)
    }

    /// What a registry is asked for in the repository. A digest says more than a tag.
    pub(crate) fn reference(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, tag) => tag.clone().unwrap_or_else(|| "latest".to_owned()),
        }
    }

    /// The same repository, with this digest and no tag.
    pub fn at(&self, digest: &Digest) -> Self {
        Self { tag: None, digest: Some(digest.clone()), ..self.clone() }
    }

    /// Reads `registry[:port]/repository`: where images are copied to.
    pub fn repository(text: &str) -> Result<Self, PullSpecError> {
        let spec = parse(text).map_err(|fault| PullSpecError { text: text.to_owned(), fault })?;
        match spec.tag {
            None if spec.digest.is_none() => Ok(spec),
            tag => {
                let fault = PullSpecFault::Repository(tag.unwrap_or_else(|| "@".to_owned()));
                Err(PullSpecError { text: text.to_owned(), fault })
            }
        }
    }
}

impl FromStr for PullSpec {
    type Err = PullSpecError;

    fn from_str(text: &str) -> Result<Self, PullSpecError> {
        let error = |fault| PullSpecError { text: text.to_owned(), fault };
        let spec = parse(text).map_err(error)?;
        if spec.tag.is_none() && spec.digest.is_none() {
            return Err(error(PullSpecFault::Unpinned));
        }
        Ok(spec)
    }
}

impl fmt::Display for PullSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// True for `registry/name@sha256:<64 hexadecimal digits>`, without a tag before the `@`: the only pull specs that
/// name the same image tomorrow.
pub(crate) fn is_by_digest(pull_spec: &str) -> bool {
    pull_spec.parse::<PullSpec>().is_ok_and(|spec| spec.tag.is_none() && spec.digest.is_some())
}

fn parse(text: &str) -> Result<PullSpec, PullSpecFault> {
    if let Some((scheme, _)) = text.split_once("://") {
        return Err(PullSpecFault::Scheme(format!("{scheme}://")));
    }
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => {
            (rest, Some(digest.parse().map_err(|_| PullSpecFault::Digest(digest.to_owned()))?))
        }
        None => (text, None),
    };
    let (registry, path) = rest.split_once('/').ok_or(PullSpecFault::NoRegistry)?;
    let (host, port) = host_and_port(registry)?;
    let (repository, tag) = match path.rsplit_once(':') {
        Some((repository, tag)) if is_tag(tag) => (repository, Some(tag.to_owned())),
        Some((_, tag)) => return Err(PullSpecFault::Tag(tag.to_owned())),
        None => (path, None),
    };
    if let Some(part) = repository.split('/').find(|part| !is_component(part)) {
        return Err(PullSpecFault::Repository(part.to_owned()));
    }
    Ok(PullSpec { host, port, repository: repository.to_owned(), tag, digest })
}

/// The part before the first slash is a registry if it looks like one, as for podman: `a.b`, `a:1` or `localhost`.
/// Names without a dot are also taken where a registry is meant for certain, as for hosts of a lab.
fn host_and_port(registry: &str) -> Result<(String, Option<u16>), PullSpecFault> {
    let (host, port) = match registry.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (registry, None),
    };
    let port = match port {
        Some(text) => {
            let port = text.parse().ok().filter(|port| *port > 0 && text.bytes().all(|b| b.is_ascii_digit()));
            Some(port.ok_or_else(|| PullSpecFault::Port(text.to_owned()))?)
        }
        None => None,
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    if host.is_empty() {
        return Err(PullSpecFault::NoRegistry);
    }
    if !is_address && !host.split('.').all(is_label) {
        return Err(PullSpecFault::Host(host.to_owned()));
    }
    if !is_address && port.is_none() && !host.contains('.') && host != "localhost" {
        return Err(PullSpecFault::NoRegistry);
    }
    Ok((host.to_owned(), port))
}

fn is_tag(tag: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    (1..=128).contains(&tag.len()) && tag.bytes().all(is_inner) && !tag.starts_with(['.', '-'])
}

/// Lower case letters and digits, with `.`, `_`, `__` or any number of `-` between them (distribution/reference).
fn is_component(part: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
    let bytes = part.as_bytes();
    let ends_are_words =
        bytes.first().is_some_and(|b| is_word(*b)) && bytes.last().is_some_and(|b| is_word(*b));
    ends_are_words
        && part
            .split(|c: char| is_word(u8::try_from(c).unwrap_or(0)))
            .filter(|gap| !gap.is_empty())
            .all(|gap| matches!(gap, "." | "_" | "__") || gap.bytes().all(|b| b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> String {
        format!("sha256:{}", "0123456789abcdef".repeat(4))
    }

    #[test]
    fn tags_and_half_digests_are_not_enough_to_be_by_digest() {
        let digest = digest();
        assert!(is_by_digest(&format!("quay.io/openshift-release-dev/ocp-release@{digest}")));
        assert!(is_by_digest(&format!("mirror.example.com:5000/release@{digest}")));
        for wrong in [
            "quay.io/a/b:4.18.1-x86_64".to_owned(),
            format!("quay.io/a/b:4.18.1@{digest}"),
            format!("quay.io/a/b@{}", &digest[..70]),
            format!("quay.io/a/b@{}", digest.to_uppercase()),
            format!("quay.io//b@{digest}"),
            format!("b@{digest}"),
            format!("@{digest}"),
            format!("quay.io/a b@{digest}"),
            String::new(),
        ] {
            assert!(!is_by_digest(&wrong), "{wrong}");
        }
    }

    #[test]
    fn parts_come_apart_and_together_again() {
        let digest = digest();
        for (text, host, port, repository, tag) in [
            (
                "quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64",
                "quay.io",
                None,
                "openshift-release-dev/ocp-release",
                Some("4.18.1-x86_64"),
            ),
            ("lab:5000/r:t", "lab", Some(5000), "r", Some("t")),
            ("localhost/a/b__c/d--e:1", "localhost", None, "a/b__c/d--e", Some("1")),
            ("[::1]:5000/a:b", "[::1]", Some(5000), "a", Some("b")),
            ("[fd00::1]/a:b", "[fd00::1]", None, "a", Some("b")),
        ] {
            let spec: PullSpec = text.parse().unwrap();
            assert_eq!((spec.host.as_str(), spec.port, spec.repository.as_str()), (host, port, repository));
            assert_eq!(spec.tag.as_deref(), tag);
            assert_eq!(spec.to_string(), text);
            let both: PullSpec = format!("{text}@{digest}").parse().unwrap();
            assert_eq!(both.to_string(), format!("{text}@{digest}"));
            assert_eq!(both.at(&digest.parse().unwrap()).to_string(), format!("{}@{digest}", spec.name()));
        }
    }

    #[test]
    fn every_fault_has_its_name() {
        use PullSpecFault as F;
        let text = |text: &str| text.to_owned();
        for (spec, fault) in [
            ("docker://quay.io/a/b:1", F::Scheme(text("docker://"))),
            ("ubi9:latest", F::NoRegistry),
            ("openshift/release:4.18", F::NoRegistry),
            ("/a:b", F::NoRegistry),
            ("qu_ay!.io/a:b", F::Host(text("qu_ay!.io"))),
            ("-quay.io/a:b", F::Host(text("-quay.io"))),
            ("[::g]:1/a:b", F::Host(text("[::g]"))),
            ("quay.io:70000/a:b", F::Port(text("70000"))),
            ("quay.io:/a:b", F::Port(text(""))),
            ("quay.io/A/b:1", F::Repository(text("A"))),
            ("quay.io/a/../b:1", F::Repository(text(".."))),
            ("quay.io/a//b:1", F::Repository(text(""))),
            ("quay.io/a.-b:1", F::Repository(text("a.-b"))),
            ("quay.io/a:", F::Tag(text(""))),
            ("quay.io/a:.b", F::Tag(text(".b"))),
            ("quay.io/a@sha256:12", F::Digest(text("sha256:12"))),
            ("quay.io/a", F::Unpinned),
        ] {
            assert_eq!(spec.parse::<PullSpec>().unwrap_err().fault, fault, "{spec}");
        }
        let error = "ubi9:latest".parse::<PullSpec>().unwrap_err().to_string();
        assert!(
            error.starts_with("\"ubi9:latest\" is not a pull spec: it names no registry; expected"),
            "{error}"
        );
    }

    #[test]
    fn a_repository_has_no_tag() {
        assert_eq!(PullSpec::repository("lab:5000/ocp/release").unwrap().name(), "lab:5000/ocp/release");
        assert!(PullSpec::repository("lab:5000/ocp/release:4").is_err());
        assert!(PullSpec::repository(&format!("lab:5000/r@{}", digest())).is_err());
    }
}
