//! How long the disk takes to keep something for good. etcd asks it to after every change.
//!
//! The same as `fio --rw=write --ioengine=sync --fdatasync=1 --bs=2300`, which etcd's documentation recommends: writes of the size
//! that etcd's log has, each followed by fdatasync.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::disk_space::machines_folder;
use crate::preflight::Judged;
use crate::preflight::scene::Scene;
use crate::providers::Footprint;

const BLOCK: usize = 2300;
const MOST_WRITES: usize = 4000;
/// Below this many, a 99th percentile says nothing beyond the worst.
const ENOUGH: usize = 20;
/// openshift-docs modules/installation-minimum-resource-requirements.adoc; etcd itself complains from here on.
const LIMIT: Duration = Duration::from_millis(10);

pub(in crate::preflight) fn disk_latency(scene: &Scene<'_>) -> Judged {
    let folder = match machines_folder(scene) {
        Ok(folder) => folder,
        Err(judged) => return judged,
    };
    let measured = measure(&folder, scene.site.patience.disk);
    let is_rehearsal = matches!(scene.surroundings().footprint, Footprint::Measured { .. });
    judge(&folder, measured, is_rehearsal)
}

/// Times of single writes. The file has no name and is gone with its handle.
fn measure(folder: &Path, patience: Duration) -> io::Result<Vec<Duration>> {
    let mut file = tempfile::tempfile_in(folder)?;
    let block = [0x5a; BLOCK];
    let mut times = Vec::new();
    let began = Instant::now();
    while times.len() < MOST_WRITES && (began.elapsed() < patience || times.len() < ENOUGH) {
        let start = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Where nobody's data is, slow is only slow.
fn judge(folder: &Path, measured: io::Result<Vec<Duration>>, is_rehearsal: bool) -> Judged {
    let shown = folder.display();
    let fix = "put the machines' disks on an SSD or NVMe drive without other load";
    let mut times = match measured {
        Ok(times) if !times.is_empty() => times,
        Ok(_) => return Judged::warned(vec![format!("{shown}: nothing was measured")], fix),
        Err(why) => {
            return Judged::warned(
                vec![format!("{shown} cannot be measured: {why}")],
                "run it as a user who may write there",
            );
        }
    };
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
    let sentence = format!(
        "{shown}: fdatasync takes {} at the 99th percentile, {} at the median ({} writes); the limit is {}",
        ms(at(99)),
        ms(at(50)),
        times.len(),
        ms(LIMIT)
    );
    match (at(99) <= LIMIT, is_rehearsal) {
        (true, _) => Judged::passed(sentence),
        (false, true) => Judged::warned(vec![sentence], fix),
        (false, false) => Judged::failed(vec![sentence], fix),
    }
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn the_99th_percentile_counts_and_not_the_worst() {
        let folder = Path::new("/srv/vm");
        let times = |slow: usize| {
            let mut times = vec![Duration::from_millis(2); 1000 - slow];
            times.extend(vec![Duration::from_millis(40); slow]);
            Ok(times)
        };
        assert_eq!(judge(folder, times(10), false).verdict, Verdict::Passed);
        let slow = judge(folder, times(11), false);
        assert_eq!(
            slow.seen,
            [
                "/srv/vm: fdatasync takes 40.0 ms at the 99th percentile, 2.0 ms at the median (1000 writes); the limit is 10.0 ms"
            ]
        );
        assert_eq!(
            (slow.verdict, judge(folder, times(11), true).verdict),
            (Verdict::Failed, Verdict::Warned)
        );
        let refused = Err(io::ErrorKind::PermissionDenied.into());
        assert_eq!(judge(folder, refused, false).verdict, Verdict::Warned);
    }

    #[test]
    fn a_real_disk_is_measured_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let times = measure(folder.path(), Duration::from_millis(1)).unwrap();
        assert!(times.len() >= ENOUGH);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    }
}
