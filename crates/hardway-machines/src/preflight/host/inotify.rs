//! How many watchers of files a user may have. All machines of the lab are one user's.

use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

const LIMIT: &str = "/proc/sys/fs/inotify/max_user_instances";
/// A machine's systemd, kubelet and pods have some 25 watchers (measured).
const A_MACHINE: usize = 32;

pub(in crate::preflight) fn inotify(scene: &Scene<'_>) -> Judged {
    let limit = fs_err::read_to_string(LIMIT).ok().and_then(|text| text.trim().parse().ok());
    // Only root may set it; whoever is not is told so by another check.
    let is_writable = fs_err::OpenOptions::new().write(true).open(LIMIT).is_ok();
    judge(limit, is_writable, scene.site.cluster.inventory.hosts.len())
}

fn judge(limit: Option<usize>, is_writable: bool, machines: usize) -> Judged {
    let needed = machines * A_MACHINE;
    let fix = format!("sysctl -w fs.inotify.max_user_instances={}", needed * 2);
    match limit {
        None => Judged::warned(vec![format!("{LIMIT} cannot be read")], fix),
        Some(limit) if limit < needed && is_writable => Judged::passed(format!(
            "a user may watch files {limit} times at once, {needed} are needed: build-infra raises it, destroy gives it back"
        )),
        Some(limit) if limit < needed => Judged::refused(
            format!("a user may watch files {limit} times at once; {machines} machines need {needed}"),
            fix,
        ),
        Some(limit) => {
            Judged::passed(format!("a user may watch files {limit} times at once, {needed} are needed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn too_few_comes_with_the_command() {
        assert_eq!(judge(Some(192), false, 6).verdict, Verdict::Passed);
        assert_eq!(judge(Some(128), true, 6).verdict, Verdict::Passed);
        let few = judge(Some(128), false, 6);
        assert_eq!(few.seen, ["a user may watch files 128 times at once; 6 machines need 192"]);
        assert_eq!(few.fix.as_deref(), Some("sysctl -w fs.inotify.max_user_instances=384"));
        assert_eq!((few.verdict, judge(None, false, 6).verdict), (Verdict::Failed, Verdict::Warned));
    }
}
