//! What a node is called, and what it can be called.

/// A host's name with the cluster's domain, unless it has one already.
pub fn qualified(name: &str, domain: &str) -> String {
    if name.contains('.') { name.to_owned() } else { format!("{name}.{domain}") }
}

/// What a Node can be called: an RFC 1123 subdomain (kubernetes `apimachinery/pkg/util/validation`).
pub fn is_node_name(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}

/// One label of it: lower case letters, digits and inner dashes.
pub fn is_label(label: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=63).contains(&label.len())
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nodes() {
        for good in ["a", "master-0", "master-0.ocp4.example.com", "0", "a.b"] {
            assert!(is_node_name(good), "{good}");
        }
        let long = "a".repeat(64);
        for bad in ["", "A", "a_b", "-a", "a-", "a..b", ".a", "a.", "a b", "a/b", "a\0", "ä", &long] {
            assert!(!is_node_name(bad), "{bad:?}");
        }
        assert_eq!(qualified("master-0", "ocp4.example.com"), "master-0.ocp4.example.com");
        assert_eq!(qualified("m.example.org", "ocp4.example.com"), "m.example.org");
    }
}
