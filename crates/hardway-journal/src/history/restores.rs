//! How far the last restore of etcd is.

use std::collections::BTreeSet;

use crate::{EtcdRestoreBegun, Event, RestoreStep};

/// The last restore of etcd, if there was one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restores {
    last: Option<(EtcdRestoreBegun, BTreeSet<RestoreStep>)>,
}

impl Restores {
    /// One that was begun and has not come to its end.
    pub fn under_way(&self) -> Option<&EtcdRestoreBegun> {
        let (begun, done) = self.last.as_ref()?;
        (done.len() < RestoreStep::ALL.len()).then_some(begun)
    }

    /// Whether there ever was one.
    pub(super) fn is_any_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Whether a step of the last one is done.
    pub fn is_done(&self, step: RestoreStep) -> bool {
        self.last.as_ref().is_some_and(|(_, done)| done.contains(&step))
    }

    /// A step of a restore that another one has followed says nothing any more.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::EtcdRestoreBegun(begun) => self.last = Some((begun.clone(), BTreeSet::new())),
            Event::EtcdRestoreStep(done) => {
                if let Some((begun, steps)) = &mut self.last
                    && begun.restore == done.restore
                {
                    steps.insert(done.step);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EtcdRestoreStep;

    #[test]
    fn a_restore_is_under_way_until_its_last_step() {
        let begun = |name: &str| EtcdRestoreBegun {
            restore: name.to_owned(),
            hash: "h".to_owned(),
            revision: 1,
            host: "master-0".to_owned(),
        };
        let step = |name: &str, step| EtcdRestoreStep { restore: name.to_owned(), step };
        let mut restores = Restores::default();
        assert_eq!(restores.under_way(), None);
        restores.apply(&begun("a").into());
        restores.apply(&step("a", RestoreStep::StopEtcd).into());
        restores.apply(&begun("b").into());
        assert!(!restores.is_done(RestoreStep::StopEtcd), "that was another one");
        restores.apply(&step("a", RestoreStep::StopEtcd).into());
        assert!(!restores.is_done(RestoreStep::StopEtcd));
        for one in RestoreStep::ALL {
            assert_eq!(restores.under_way(), Some(&begun("b")));
            restores.apply(&step("b", one).into());
            assert!(restores.is_done(one));
        }
        assert_eq!(restores.under_way(), None);
    }
}
