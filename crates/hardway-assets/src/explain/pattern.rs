//! Names with placeholders: `ignition/<host>.ign`, `etcd-peer-<host>`, `/opt/openshift/tls/<name>`.

/// Whether a text is what the pattern stands for. A placeholder is one character or more, without `/`; a pattern that
/// ends in `/` is a folder and stands for everything in it.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('<') else {
        return pattern == text
            || pattern.ends_with('/') && (text.starts_with(pattern) || *pattern == format!("{text}/"));
    };
    let Some((_, after)) = after.split_once('>') else {
        return pattern == text;
    };
    let Some(rest) = text.strip_prefix(before) else {
        return false;
    };
    let segment = rest.find('/').unwrap_or(rest.len());
    (1..=segment).any(|end| rest.is_char_boundary(end) && fits(after, &rest[end..]))
}

/// The last segment of a path or of a pattern for one.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_stands_for_part_of_one_segment() {
        for (pattern, text) in [
            ("ignition/<host>.ign", "ignition/master-0.ign"),
            ("etcd-serving-<host>", "etcd-serving-bootstrap.ocp4.example.com"),
            ("/opt/openshift/tls/<name>", "/opt/openshift/tls/root-ca.crt"),
            ("<a>-<b>.key", "x-y.z.key"),
            ("logs/", "logs/run-1.log"),
            ("logs/", "logs"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("ignition/<host>.ign", "ignition/.ign"),
            ("ignition/<host>.ign", "ignition/a/b.ign"),
            ("/opt/openshift/tls/<name>", "/opt/openshift/tls/"),
            ("etcd-peer-<host>", "etcd-signer"),
            ("logs/", "logsx"),
            ("a<b", "axb"),
        ] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
