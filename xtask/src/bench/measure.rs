//! Running a program and watching it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// How long runs took, in seconds, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walls(Vec<f64>);

impl Walls {
    /// Notes one more run.
    pub(crate) fn add(&mut self, seconds: f64) {
        self.0.push(seconds);
        self.0.sort_by(f64::total_cmp);
    }

    /// The run in the middle.
    pub(crate) fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// The quickest run: on a machine with other work, the one that was disturbed least.
    pub(crate) fn lowest(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }
}

/// Seconds from the start to the end of a program.
pub(crate) fn wall(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    crate::said(command)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Seconds that a program measured itself and wrote to its output.
pub(crate) fn seconds_told(command: &mut Command) -> Result<f64> {
    Ok(crate::said(command)?.trim().parse()?)
}

/// The most memory a program held, in MB. The kernel keeps the high-water mark, so asking now and then is enough; but
/// asking costs time, so this is never the run that is timed.
pub(crate) fn peak_megabytes(command: &mut Command) -> Result<f64> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut kilobytes = 0.0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        // A program that just ended has no memory any more, and so no such line.
        kilobytes =
            fs_err::read_to_string(&status_file).ok().and_then(|text| peak(&text)).unwrap_or(kilobytes);
        std::thread::sleep(Duration::from_millis(1));
    };
    ensure!(status.success(), "{command:?}: {status}");
    Ok(kilobytes * 1024.0 / 1e6)
}

/// The most memory that a program which still runs has held so far, in MB.
pub(crate) fn peak_of(id: u32) -> Result<f64> {
    let status = fs_err::read_to_string(format!("/proc/{id}/status"))?;
    let kilobytes = peak(&status).context("the kernel does not tell")?;
    Ok(kilobytes * 1024.0 / 1e6)
}

/// The line `VmHWM:   12345 kB`.
fn peak(status: &str) -> Option<f64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_do_not_follow_one_slow_run() {
        let mut walls = Walls::default();
        [3.0, 1.0, 90.0, 2.0, 4.0].into_iter().for_each(|seconds| walls.add(seconds));
        assert_eq!((walls.median(), walls.lowest()), (3.0, 1.0));
    }

    #[test]
    fn the_high_water_mark_is_read() {
        assert_eq!(peak("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t    1234 kB\nThreads:\t1\n"), Some(1234.0));
        assert_eq!(peak("Name:\tx\nState:\tZ (zombie)\n"), None);
    }
}
