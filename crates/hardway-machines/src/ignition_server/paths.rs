//! Routes: which face answers which path.

/// What a path asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPath<'a> {
    /// `/healthz`: the process runs.
    Health,
    /// `/ignition/<host>`: one host's own config.
    Host(&'a str),
    /// `/ignition`, and as HyperShift has it anything that goes on without a slash: a hosted worker's config.
    Hosted,
    /// `/metrics`.
    Metrics,
    /// A path that the servers we stand in for would first have written plainly; a redirect says how.
    Redirect(String),
    /// `/config/<pool>`: the last element names the pool.
    Pool(&'a str),
    /// `/readyz`: requests can be answered.
    Ready,
    /// Nobody's.
    Unknown,
}

/// Sorts a path without its query. The rules of the two other servers: openshift/machine-config-operator
/// `pkg/server/api.go`, openshift/hypershift `ignition-server/cmd/start.go`; both sit behind Go's `http.ServeMux`.
pub fn route(path: &str) -> RequestPath<'_> {
    let clean = cleaned(path);
    if clean != path {
        return RequestPath::Redirect(clean);
    }
    match path {
        "/healthz" => RequestPath::Health,
        "/metrics" => RequestPath::Metrics,
        "/readyz" => RequestPath::Ready,
        _ => {
            if let Some(rest) = path.strip_prefix("/config/") {
                return RequestPath::Pool(rest.rsplit('/').next().unwrap_or_default());
            }
            match path.strip_prefix("/ignition") {
                Some(rest) if !rest.contains(['/', ' ']) => RequestPath::Hosted,
                Some(rest) => match rest.strip_prefix('/') {
                    Some(host) if is_host_name(host) => RequestPath::Host(host),
                    _ => RequestPath::Unknown,
                },
                None => RequestPath::Unknown,
            }
        }
    }
}

/// Without doubled slashes, `.` and `..`, as Go's `path.Clean` with the last slash kept.
fn cleaned(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut clean = format!("/{}", parts.join("/"));
    if path.ends_with('/') && clean != "/" {
        clean.push('/');
    }
    clean
}

fn is_host_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 253
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_sorted() {
        for (path, expected) in [
            ("/healthz", RequestPath::Health),
            ("/readyz", RequestPath::Ready),
            ("/metrics", RequestPath::Metrics),
            ("/ignition", RequestPath::Hosted),
            ("/ignitionx", RequestPath::Hosted),
            ("/ignition-1", RequestPath::Hosted),
            ("/ignition/", RequestPath::Unknown),
            ("/ignition/master-0", RequestPath::Host("master-0")),
            ("/ignition/a.b.example.com", RequestPath::Host("a.b.example.com")),
            ("/ignition/a/b", RequestPath::Unknown),
            ("/ignition/A", RequestPath::Unknown),
            ("/ignition/%2e", RequestPath::Unknown),
            ("/config/master", RequestPath::Pool("master")),
            ("/config/x/master", RequestPath::Pool("master")),
            ("/config/", RequestPath::Pool("")),
            ("/config", RequestPath::Unknown),
            ("/", RequestPath::Unknown),
            ("//ignition", RequestPath::Redirect("/ignition".to_owned())),
            ("/a/../config/master", RequestPath::Redirect("/config/master".to_owned())),
            ("/./healthz", RequestPath::Redirect("/healthz".to_owned())),
            ("/config//", RequestPath::Redirect("/config/".to_owned())),
            ("*", RequestPath::Redirect("/*".to_owned())),
        ] {
            assert_eq!(route(path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_has_one_answer(path in "[/a-z.%]{0,40}") {
            if let RequestPath::Redirect(to) = route(&path) {
                prop_assert!(!matches!(route(&to), RequestPath::Redirect(_)), "{} → {}", path, to);
            }
        }
    }
}
