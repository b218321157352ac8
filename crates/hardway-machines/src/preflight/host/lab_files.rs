//! The scripts that make the lab.

use std::path::Path;

use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// Those that the provider starts.
const FILES: [&str; 7] = [
    "build.sh",
    "clean.sh",
    "common.sh",
    "network/service.sh",
    "node/boot.sh",
    "node/define.sh",
    "node/remove.sh",
];

pub(in crate::preflight) fn lab_files(scene: &Scene<'_>) -> Judged {
    judge(scene.site.lab_files, Path::is_file)
}

fn judge(folder: Option<&Path>, is_there: impl Fn(&Path) -> bool) -> Judged {
    let fix = "run hardway from a checkout of its sources, or set HARDWAY_LAB_FILES to its folder lab/";
    let Some(folder) = folder else { return Judged::refused("the lab's scripts are not found", fix) };
    let missing = FILES.iter().map(|file| folder.join(file)).filter(|file| !is_there(file));
    let wrong = missing.map(|file| format!("{} is missing", file.display())).collect();
    Judged::of(wrong, Vec::new(), fix, folder.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn the_missing_file_is_named() {
        let folder = Path::new("/src/lab");
        assert_eq!(judge(Some(folder), |_| true).verdict, Verdict::Passed);
        let gone = judge(Some(folder), |file| !file.ends_with("node/boot.sh"));
        assert_eq!(
            (gone.verdict, gone.seen),
            (Verdict::Failed, vec!["/src/lab/node/boot.sh is missing".to_owned()])
        );
        assert_eq!(judge(None, |_| true).verdict, Verdict::Failed);
    }
}
