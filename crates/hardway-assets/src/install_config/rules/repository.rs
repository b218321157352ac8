//! Names of image repositories: the grammar of containers/image `docker/reference`, without regular expressions.

use std::net::IpAddr;

use super::super::dns_name::subdomain_error;

/// Why this is no repository (`quay.io/openshift-release-dev/ocp-release`) and no bare registry (`quay.io:5000`).
pub(super) fn repository_error(text: &str) -> Option<String> {
    match parse(text) {
        Ok(Reference { has_tag_or_digest: true, .. }) => Some("must be repository--not reference".to_owned()),
        Ok(_) => None,
        Err(Wrong::NotCanonical) => {
            let host = host_without_port(text);
            if host.parse::<IpAddr>().is_ok() {
                return None;
            }
            subdomain_error(host).map(|error| format!("the repository provided is invalid: {error}"))
        }
        Err(Wrong::Format(error)) => Some(format!("failed to parse: {error}")),
    }
}

/// Why this is no pull spec of one image: registry, repository, and a tag or digest.
pub(crate) fn pull_spec_error(text: &str) -> Option<String> {
    match parse(text) {
        Ok(Reference { has_tag_or_digest: true, .. }) => None,
        Ok(_) => Some("a tag or digest is required, or the word sample".to_owned()),
        Err(Wrong::NotCanonical) => {
            Some("the registry is missing: repository name must be canonical".to_owned())
        }
        Err(Wrong::Format(error)) => Some(error),
    }
}

/// The registry of a repository, as a pull secret would name it.
pub(super) fn registry_host(text: &str) -> Option<&str> {
    match parse(text) {
        Ok(reference) => Some(reference.domain),
        Err(Wrong::NotCanonical) => Some(text),
        Err(Wrong::Format(_)) => None,
    }
}

struct Reference<'t> {
    domain: &'t str,
    has_tag_or_digest: bool,
}

enum Wrong {
    /// A name that would be completed: `ubuntu` means `docker.io/library/ubuntu`.
    NotCanonical,
    Format(String),
}

const FORMAT: &str = "invalid reference format";

fn parse(text: &str) -> Result<Reference<'_>, Wrong> {
    if text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        let error = format!("invalid repository name ({text}), cannot specify 64-byte hexadecimal strings");
        return Err(Wrong::Format(error));
    }
    let (domain, remainder) = match text.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        _ => ("docker.io", text),
    };
    let completed = domain == "index.docker.io"
        || !text.starts_with(domain)
        || domain == text
        || domain == "docker.io" && !remainder.contains('/');
    let remote = remainder.split(':').next().unwrap_or_default();
    if remote.chars().any(char::is_uppercase) {
        return Err(Wrong::Format(format!("{FORMAT}: repository name must be lowercase")));
    }
    let (name, tag, digest) = split(remainder);
    let good = is_domain(domain)
        && name.split('/').all(is_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    if !good {
        return Err(Wrong::Format(FORMAT.to_owned()));
    }
    if domain.len() + 1 + name.len() > 255 {
        return Err(Wrong::Format("repository name must not be more than 255 characters".to_owned()));
    }
    if completed {
        return Err(Wrong::NotCanonical);
    }
    Ok(Reference { domain, has_tag_or_digest: tag.is_some() || digest.is_some() })
}

fn split(remainder: &str) -> (&str, Option<&str>, Option<&str>) {
    let (rest, digest) = match remainder.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (remainder, None),
    };
    match rest.split_once(':') {
        Some((name, tag)) => (name, Some(tag), digest),
        None => (rest, None, digest),
    }
}

fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (domain, None),
    };
    let component = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    host.split('.').all(component)
        && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

/// Lower case words joined by one dot, one or two underscores, or any number of dashes.
fn is_component(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    part.starts_with(is_word)
        && part.ends_with(is_word)
        && part
            .split(is_word)
            .all(|joint| matches!(joint, "" | "." | "_" | "__") || joint.bytes().all(|b| b == b'-'))
}

fn is_tag(tag: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (1..=128).contains(&tag.len())
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|b| is_word(b) || b == b'.' || b == b'-')
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        let length = match algorithm {
            "sha256" => 64,
            "sha384" => 96,
            "sha512" => 128,
            _ => return false,
        };
        hex.len() == length && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Go's `net.SplitHostPort`, for names: one colon, or brackets around the host.
fn host_without_port(text: &str) -> &str {
    if let Some((host, _)) = text.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        return host;
    }
    match text.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_and_registries_are_taken() {
        for good in [
            "quay.io/openshift-release-dev/ocp-release",
            "registry.lab.example.com:5000",
            "registry.lab.example.com:5000/a/b__c/d-e.f",
            "localhost/x",
            "10.0.0.1",
            "quay.io",
            "ubuntu",
        ] {
            assert_eq!(repository_error(good), None, "{good}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_the_reason() {
        let sha = format!("quay.io/a/b@sha256:{}", "0".repeat(64));
        for (bad, reason) in [
            ("quay.io/a/b:latest", "must be repository--not reference"),
            (sha.as_str(), "must be repository--not reference"),
            ("quay.io/A/b", "failed to parse: invalid reference format: repository name must be lowercase"),
            ("quay.io/a//b", "failed to parse: invalid reference format"),
            ("https://quay.io/a", "failed to parse: invalid reference format"),
            ("", "failed to parse: invalid reference format"),
            ("quay.io/a/-b", "failed to parse: invalid reference format"),
            ("quay.io/a/b:", "failed to parse: invalid reference format"),
            ("docker.io/ubuntu", "the repository provided is invalid: a lowercase RFC 1123 subdomain"),
            ("a/b", "the repository provided is invalid: a lowercase RFC 1123 subdomain"),
        ] {
            let error = repository_error(bad).unwrap_or_else(|| panic!("{bad} was taken"));
            assert!(error.starts_with(reason), "{bad}: {error}");
        }
        assert!(repository_error(&"0".repeat(64)).unwrap().contains("64-byte hexadecimal"));
        assert!(repository_error(&format!("quay.io/{}", "a".repeat(300))).unwrap().contains("255"));
    }
}
