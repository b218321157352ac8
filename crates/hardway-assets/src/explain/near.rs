//! What may have been meant when nothing was found: the names nearest to a mistyped one.

use std::collections::BTreeSet;

use super::Catalogue;
use super::find::file_name;
use crate::nearest::distance;

/// More than this is a list to scroll through, not a hint.
const SUGGESTIONS: usize = 5;

impl Catalogue {
    /// Up to five names that look like what was typed, the likeliest first.
    pub fn near(&self, what: &str) -> Vec<&'static str> {
        self.near_with(what, [])
    }

    /// The same among these names too.
    pub fn near_with(&self, what: &str, more: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
        let what = what.trim().to_lowercase();
        let names: BTreeSet<&'static str> = self.iter().map(|e| e.name).chain(more).collect();
        let mut ranked: Vec<(usize, &'static str)> =
            names.into_iter().filter_map(|name| Some((rank(name, &what)?, name))).collect();
        ranked.sort_unstable();
        ranked.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
    }
}

/// How far a name is from what was typed; `None` when it has nothing to do with it. A third of the letters may be
/// wrong; beyond that, the same letters within it or a word in common bring a name in, behind those that are merely misspelt.
fn rank(name: &str, what: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let last = name.rsplit(' ').next().unwrap_or(&name);
    let edits = [name.as_str(), last, file_name(&name)].iter().map(|form| distance(form, what)).min()?;
    if edits <= what.chars().count() / 3 {
        return Some(edits);
    }
    // Typed without what stands between the words, or only a part of it.
    let letters = letters(what);
    if letters.len() > 3 && self::letters(&name).contains(&letters) {
        return Some(50 + edits.min(49));
    }
    let words = words(what);
    let shared = words.intersection(&self::words(&name)).count();
    (shared > 0).then(|| 100 + 100 * (words.len() - shared) + edits)
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Words of three letters and more.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Kind;

    fn near(what: &str) -> Vec<&'static str> {
        Catalogue::read([
            (Kind::Certificate, "\n## etcd-signer\n## etcd-metric-signer\n## etcd-ca-bundle\n## root-ca\n"),
            (Kind::Certificate, "\n## etcd-client\n## etcd-metric-client\n## etcd-peer-<host>\n"),
            (Kind::Flag, "\n## kube-apiserver --etcd-prefix\n"),
            (Kind::File, "\n## /etc/motd\n"),
        ])
        .near(what)
    }

    #[test]
    fn misspelt_names_come_first() {
        assert_eq!(near("etcd-singer")[0], "etcd-signer");
        assert_eq!(near("rootca"), ["root-ca"]);
        assert_eq!(near("--etcd-prefx")[0], "kube-apiserver --etcd-prefix");
        assert_eq!(near("mtod"), ["/etc/motd"]);
        assert_eq!(near("kubeapiserver"), ["kube-apiserver --etcd-prefix"]);
    }

    #[test]
    fn words_in_common_bring_names_in_but_never_more_than_five() {
        assert_eq!(near("metric signer"), ["etcd-metric-signer", "etcd-signer", "etcd-metric-client"]);
        assert_eq!(near("etcd").len(), 5);
        assert!(near("cucumber").is_empty() && near("").is_empty());
    }
}
