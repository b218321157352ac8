//! Requests that wait to be decided: in order, each once, and never two of one node at a time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::time::Instant;

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    order: VecDeque<String>,
    since: BTreeMap<String, Instant>,
    busy: BTreeSet<String>,
}

/// One that was taken from it.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) name: String,
    /// What is busy until [`Queue::done`].
    pub(crate) key: String,
    pub(crate) since: Instant,
}

impl Queue {
    /// At the end, unless it is in it.
    pub(crate) fn push(&mut self, name: String, now: Instant) {
        if !self.since.contains_key(&name) {
            self.since.insert(name.clone(), now);
            self.order.push_back(name);
        }
    }

    /// The first whose node is not being decided about.
    pub(crate) fn take(&mut self, key_of: impl Fn(&str) -> String) -> Option<Taken> {
        let place = self.order.iter().position(|name| !self.busy.contains(&key_of(name)))?;
        let name = self.order.remove(place)?;
        let key = key_of(&name);
        let since = self.since.remove(&name)?;
        self.busy.insert(key.clone());
        Some(Taken { name, key, since })
    }

    /// Others of that node may follow.
    pub(crate) fn done(&mut self, key: &str) {
        self.busy.remove(key);
    }

    /// Nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_node_at_a_time_and_the_others_in_order() {
        let mut queue = Queue::default();
        let node = |name: &str| name[..1].to_owned();
        for name in ["a1", "a2", "b1", "a1"] {
            queue.push(name.to_owned(), Instant::now());
        }
        let take = |queue: &mut Queue| queue.take(node).map(|taken| taken.name);
        assert_eq!(take(&mut queue).as_deref(), Some("a1"));
        assert_eq!(take(&mut queue).as_deref(), Some("b1"), "a is busy");
        assert_eq!(take(&mut queue), None);
        queue.done("a");
        assert_eq!(take(&mut queue).as_deref(), Some("a2"));
        assert!(queue.is_empty(), "a1 was in it once");
    }
}
