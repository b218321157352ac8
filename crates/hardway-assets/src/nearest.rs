//! Which of the known names was meant.

/// The nearest name, if it is near enough to be a slip of the hand.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Longer words leave room for more slips; below three letters everything is near to everything.
    let limit = (name.chars().count() / 3).min(3);
    known
        .map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_seen_and_strangers_are_not() {
        let known = ["baseDomain", "clusterNetwork", "machineNetwork", "ip", "fips"];
        let near = |name| nearest(name, known.into_iter());
        assert_eq!(near("basedomain"), Some("baseDomain"));
        assert_eq!(near("clusterNetworks"), Some("clusterNetwork"));
        assert_eq!(near("machineNetowrk"), Some("machineNetwork"));
        assert_eq!(near("fisp"), Some("fips"));
        assert_eq!(near("x"), None);
        assert_eq!(near("vips"), Some("fips"));
        assert_eq!(near("somethingElse"), None);
    }
}
