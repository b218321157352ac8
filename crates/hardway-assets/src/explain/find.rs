//! From what a person types after `hardway explain` to the explanations meant.

use super::{Catalogue, Explanation, Kind};

impl Catalogue {
    /// Every explanation of what was typed: a name of any kind, a path on a host or in the working directory, a flag
    /// with or without its component, a unit with or without its suffix, a field with or without indices, an error
    /// code.
    ///
    /// Names come before paths and spellings, and those before bare file names: `master.ign` is the file of that name
    /// and not also one of `ignition/<host>.ign`. A field's last name alone comes last.
    pub fn find(&self, what: &str) -> Vec<&Explanation> {
        let what = what.trim();
        if what.is_empty() {
            return Vec::new();
        }
        let tests: [fn(&Explanation, &str) -> bool; 4] =
            [is_name_of, is_spelling_of, is_file_name_of, is_last_step_of];
        tests
            .iter()
            .map(|test| self.iter().filter(|e| test(e, what)).collect::<Vec<_>>())
            .find(|hits| !hits.is_empty())
            .unwrap_or_default()
    }
}

/// `pki` is a field of both files: both are meant.
fn is_name_of(e: &Explanation, what: &str) -> bool {
    e.name == what || e.kind == Kind::Field && field(e.name) == what
}

fn is_spelling_of(e: &Explanation, what: &str) -> bool {
    match e.kind {
        Kind::Certificate => fits(e.name, certificate(what)),
        Kind::Check
        | Kind::DayTwo
        | Kind::Decision
        | Kind::Diagnosis
        | Kind::Error
        | Kind::HostedDiagnosis => e.name.eq_ignore_ascii_case(what),
        Kind::Field => is_field(&field(e.name), &field(what)),
        Kind::Flag | Kind::LeftOut => flag(e.name, what),
        Kind::Rendered | Kind::Unit => {
            fits(e.name, what) || e.name.strip_suffix(".service").is_some_and(|name| fits(name, what))
        }
        Kind::File | Kind::Kubeconfig | Kind::Manifest | Kind::WorkFile => {
            let what = what.strip_prefix("./").unwrap_or(what);
            fits(e.name, what) || twin(what).is_some_and(|twin| fits(e.name, &twin))
        }
    }
}

/// A segment that is nothing but a placeholder would be the name of every file.
fn is_file_name_of(e: &Explanation, what: &str) -> bool {
    let name = file_name(e.name);
    let is_placeholder = name.starts_with('<') && name.ends_with('>');
    e.name.contains('/') && !what.contains('/') && !is_placeholder && fits(name, what)
}

/// `installDisk`, in whatever case: fields are known by their own names, not by where they stand.
fn is_last_step_of(e: &Explanation, what: &str) -> bool {
    let name = field(e.name);
    let last = name.rsplit('.').next().unwrap_or(&name);
    e.kind == Kind::Field && (last.eq_ignore_ascii_case(what) || name.eq_ignore_ascii_case(what))
}

/// `etcd-signer` of `etcd-signer.crt`, `pki/etcd-signer.crt`, `secrets/etcd-signer.key`, `/opt/openshift/tls/etcd-signer.crt`.
fn certificate(what: &str) -> &str {
    let name = file_name(what);
    [".crt", ".key", ".pub"].iter().find_map(|extension| name.strip_suffix(extension)).unwrap_or(what)
}

/// `machines.bare-metal.hosts.<host>.bmc` is found with a host's name and without one.
fn is_field(name: &str, what: &str) -> bool {
    let steps = |path: &str| path.replace('.', "/");
    name == what
        || name.contains('<') && (fits(&steps(name), &steps(what)) || name.replace("<host>.", "") == what)
}

/// What may stand before a field: the file that it is in.
const FILES: [&str; 7] = [
    "hosted-inventory.yaml",
    "hosted-inventory",
    "install-config.yaml",
    "install-config",
    "installconfig",
    "inventory.yaml",
    "inventory",
];

/// Without indices, and without the name of the file it is in.
fn field(path: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0;
    for c in path.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let plain = plain.trim_end_matches('.');
    let after_file = FILES.iter().find_map(|file| plain.strip_prefix(file)?.strip_prefix([' ', '.', ':']));
    after_file.unwrap_or(plain).trim().to_owned()
}

/// `kube-apiserver --etcd-prefix` is also found as `--etcd-prefix`, `etcd-prefix`, and with `=value` behind it.
fn flag(name: &str, what: &str) -> bool {
    let what = what.split('=').next().unwrap_or(what);
    let Some((component, own)) = name.split_once(' ') else {
        return name == what;
    };
    let (typed_component, typed) = what.split_once(' ').unwrap_or((component, what));
    !typed.is_empty() && typed_component == component && dashless(typed) == dashless(own)
}

fn dashless(flag: &str) -> &str {
    flag.trim().trim_start_matches('-')
}

/// Where a file of the bootstrap host lies in the working directory.
fn twin(path: &str) -> Option<String> {
    [
        ("/opt/openshift/manifests/", "manifests/"),
        ("/opt/openshift/openshift/", "openshift/"),
        ("/opt/openshift/operator-seeds/", "operator-seeds/"),
        ("/opt/openshift/bootstrap-manifests/", "static-pods/"),
        ("/etc/kubernetes/manifests/", "static-pods/"),
        ("/etc/kubernetes/bootstrap-configs/", "static-pods/"),
    ]
    .iter()
    .find_map(|(host, workdir)| Some(format!("{workdir}{}", path.strip_prefix(host)?)))
}

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

    /// A small catalogue, so that these tests say what finding is and not what happens to be explained.
    fn names(what: &str) -> Vec<&'static str> {
        let catalogue = Catalogue::read([
            (Kind::Certificate, "\n## etcd-signer\n## etcd-peer-<host>\n## service-account\n"),
            (Kind::Error, "\n## config-invalid\n"),
            (
                Kind::Field,
                "\n## networking.clusterNetwork[].hostPrefix\n## pki\n## inventory hosts[].ip\n## inventory pki\n\
                 ## inventory machines.hosts.<host>.bmc\n",
            ),
            (Kind::File, "\n## /etc/motd\n## /etc/kubernetes/kubeconfig\n## /opt/openshift/tls/<name>\n"),
            (Kind::File, "\n## /opt/openshift/manifests/<file>\n"),
            (
                Kind::Flag,
                "\n## kube-apiserver --etcd-prefix\n## kube-apiserver --v\n## etcd --v\n## etcd ETCD_NAME\n",
            ),
            (Kind::Kubeconfig, "\n## auth/kubeconfig\n## kubeconfigs/loopback.kubeconfig\n"),
            (Kind::Manifest, "\n## manifests/cluster-dns-02-config.yml\n"),
            (Kind::WorkFile, "\n## master.ign\n## ignition/<host>.ign\n## secrets/<name>.key\n## logs/\n"),
            (Kind::Unit, "\n## kubelet.service\n"),
        ]);
        catalogue.find(what).iter().map(|e| e.name).collect()
    }

    #[test]
    fn names_and_their_spellings() {
        for (what, name) in [
            ("etcd-signer", "etcd-signer"),
            (" etcd-signer ", "etcd-signer"),
            ("etcd-signer.crt", "etcd-signer"),
            ("etcd-peer-bootstrap.ocp4.example.com", "etcd-peer-<host>"),
            ("CONFIG-INVALID", "config-invalid"),
            ("networking.clusterNetwork[0].hostPrefix", "networking.clusterNetwork[].hostPrefix"),
            ("networking.clusterNetwork.hostPrefix", "networking.clusterNetwork[].hostPrefix"),
            ("hosts[2].ip", "inventory hosts[].ip"),
            ("inventory.yaml:hosts[2].ip", "inventory hosts[].ip"),
            ("hostprefix", "networking.clusterNetwork[].hostPrefix"),
            ("machines.hosts.master-0.bmc", "inventory machines.hosts.<host>.bmc"),
            ("machines.hosts.bmc", "inventory machines.hosts.<host>.bmc"),
            ("kubelet", "kubelet.service"),
            ("kubelet.service", "kubelet.service"),
            ("--etcd-prefix", "kube-apiserver --etcd-prefix"),
            ("etcd-prefix=kubernetes.io", "kube-apiserver --etcd-prefix"),
            ("kube-apiserver --etcd-prefix", "kube-apiserver --etcd-prefix"),
            ("kube-apiserver etcd-prefix", "kube-apiserver --etcd-prefix"),
            ("ETCD_NAME", "etcd ETCD_NAME"),
        ] {
            assert_eq!(names(what), [name], "{what}");
        }
    }

    #[test]
    fn paths_and_file_names() {
        for (what, name) in [
            ("/etc/motd", "/etc/motd"),
            ("./master.ign", "master.ign"),
            ("master.ign", "master.ign"),
            ("master-0.ign", "ignition/<host>.ign"),
            ("ignition/master-0.ign", "ignition/<host>.ign"),
            ("logs/today.log", "logs/"),
            ("loopback.kubeconfig", "kubeconfigs/loopback.kubeconfig"),
            ("cluster-dns-02-config.yml", "manifests/cluster-dns-02-config.yml"),
        ] {
            assert_eq!(names(what), [name], "{what}");
        }
    }

    #[test]
    fn everything_that_is_meant_is_returned() {
        assert_eq!(names("secrets/etcd-signer.key"), ["etcd-signer", "secrets/<name>.key"]);
        assert_eq!(
            names("/opt/openshift/tls/service-account.pub"),
            ["service-account", "/opt/openshift/tls/<name>"]
        );
        assert_eq!(
            names("/opt/openshift/manifests/cluster-dns-02-config.yml"),
            ["/opt/openshift/manifests/<file>", "manifests/cluster-dns-02-config.yml"]
        );
        assert_eq!(names("pki"), ["pki", "inventory pki"]);
        assert_eq!(names("--v"), ["kube-apiserver --v", "etcd --v"]);
        assert_eq!(names("kubeconfig"), ["/etc/kubernetes/kubeconfig", "auth/kubeconfig"]);
    }

    #[test]
    fn what_nobody_explained_is_not_found() {
        for what in [
            "",
            " ",
            "-",
            "--",
            "nothing",
            "/opt/openshift/tls/",
            "etcd-peer-",
            "kube-scheduler --etcd-prefix",
        ] {
            assert_eq!(names(what), [""; 0], "{what:?}");
        }
    }

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
