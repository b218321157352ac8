//! Who runs hardway.

use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

pub(in crate::preflight) fn root(_: &Scene<'_>) -> Judged {
    judge(rustix::process::geteuid().as_raw())
}

/// The lab makes network namespaces and privileged containers.
fn judge(user: u32) -> Judged {
    match user {
        0 => Judged::passed("this is root"),
        user => Judged::refused(format!("this is user {user}, and the lab needs root"), "run it with sudo"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn only_root_will_do() {
        assert_eq!(judge(0).verdict, Verdict::Passed);
        let user = judge(1000);
        assert_eq!((user.verdict, user.seen[0].contains("user 1000")), (Verdict::Failed, true));
    }
}
