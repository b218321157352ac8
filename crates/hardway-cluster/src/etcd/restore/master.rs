//! What is done on a master. Every script looks first and can be run again, wherever it was cut off.
//!
//! Whether etcd runs is asked of the database itself: whoever has it open holds a lock on it (etcd-io/bbolt `db.go`), whatever kubelet
//! and runtime say. `/var/lib/etcd` may be a disk of its own, so data are put into their place inside it, by renaming.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::RestoredData;
use crate::remote::{Remote, RemoteError};

/// What is on a master.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MasterLook {
    /// It has an etcd pod, running or stopped.
    pub has_pod: bool,
    /// etcd has its database open.
    pub is_running: bool,
    /// Bytes that are free where etcd has its data.
    pub free: u64,
}

/// A shell on a master, for one restore.
#[derive(Clone, Debug)]
pub struct MasterShell {
    remote: Remote,
    restore: String,
}

impl MasterShell {
    /// For a restore of this name.
    pub fn new(remote: Remote, restore: &str) -> Self {
        Self { remote, restore: restore.to_owned() }
    }

    /// What is there. Nothing is changed.
    ///
    /// # Errors
    /// When nobody can log in there.
    pub async fn look(remote: &Remote) -> Result<MasterLook, RemoteError> {
        let said = remote.run(&format!("{COMMON}{LOOK}")).await?;
        let value = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
        Ok(MasterLook {
            has_pod: value("pod=") == Some("yes"),
            is_running: value("running=") == Some("yes"),
            free: value("free=").and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0),
        })
    }

    /// Takes etcd's pod from the kubelet, and waits until etcd has ended.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn stop(&self) -> Result<(), RemoteError> {
        self.script(STOP, 5).await
    }

    /// Puts the restored data beside the old ones.
    ///
    /// # Errors
    /// When they do not arrive as they were sent.
    pub async fn send(&self, data: &RestoredData) -> Result<(), RemoteError> {
        let script = format!("{}size={} sum={}\n{SEND}", self.head(), data.size, data.sum);
        // As slow as ten megabits a second.
        let patience = Duration::from_secs(120 + data.size / 1_000_000);
        self.remote.clone().patient(patience).feed(&script, Path::new(&data.archive)).await.map(drop)
    }

    /// Puts them in the place of the old ones, which are kept in `/var/lib/etcd-backup`.
    ///
    /// # Errors
    /// When etcd runs, or nothing was sent.
    pub async fn swap(&self) -> Result<(), RemoteError> {
        self.script(&format!("{SWAP}{KEEP_OLD}"), 30).await
    }

    /// Gives etcd's pod back to the kubelet.
    ///
    /// # Errors
    /// When it was never taken from it.
    pub async fn start(&self) -> Result<(), RemoteError> {
        self.script(START, 1).await
    }

    /// The same without its old data, which are kept: it waits until the operator adds it as a new member.
    ///
    /// # Errors
    /// When etcd runs on the old ones.
    pub async fn join_anew(&self) -> Result<(), RemoteError> {
        self.script(&format!("{SET_ASIDE}{KEEP_OLD}{START}"), 30).await
    }

    async fn script(&self, script: &str, minutes: u64) -> Result<(), RemoteError> {
        let remote = self.remote.clone().patient(Duration::from_secs(60 * minutes));
        remote.run(&format!("{}{script}", self.head())).await.map(drop)
    }

    fn head(&self) -> String {
        format!("{COMMON}restore={}\n{PLACES}", hardway_base::shell_word(&self.restore))
    }
}

const COMMON: &str = r#"set -euo pipefail
umask 077
pod=/etc/kubernetes/manifests/etcd-pod.yaml
stopped=/home/core/assets/manifests-stopped
data=/var/lib/etcd
runs() { [ -e "$1/snap/db" ] && ! flock --nonblock "$1/snap/db" true; }
fail() { echo "$1" >&2; exit 1; }
"#;

/// A script goes on for a while when whoever started it is killed: the next one waits for its end.
const PLACES: &str = r#"place=$data/hardway-$restore
keep=/var/lib/etcd-backup/hardway-$restore
exec 9>/run/hardway-etcd-restore.lock
flock --timeout 300 9 || fail "another script of hardway's still runs here"
"#;

const LOOK: &str = r#"if [ -e "$pod" ] || [ -e "$stopped/etcd-pod.yaml" ]; then echo pod=yes; fi
if runs $data/member; then echo running=yes; fi
echo "free=$(df --output=avail --block-size=1 -- "$(if [ -d $data ]; then echo $data; else echo /var/lib; fi)" | tail -n 1)"
"#;

const STOP: &str = r#"mkdir -p "$stopped"
if [ -e "$pod" ]; then
  cp -p "$pod" "$stopped/.etcd-pod.yaml"
  mv "$stopped/.etcd-pod.yaml" "$stopped/etcd-pod.yaml"
  sync -f "$stopped"
  rm "$pod"
fi
for _ in $(seq 240); do
  runs $data/member || exit 0
  sleep 1
done
fail "etcd still runs four minutes after its pod was taken from the kubelet: does the kubelet run?"
"#;

/// What comes behind the last line is not a script any more, but the archive.
const SEND: &str = r#"receive() {
  if [ -e "$keep/swapped" ]; then cat >/dev/null; exit 0; fi
  rm -rf "$place/data" "$place/part"
  mkdir -p "$place/part"
  head -c "$size" >"$place/part.tar"
  echo "$sum  $place/part.tar" | sha256sum --check --status || fail "the data did not arrive as they were sent"
  tar -x --no-same-owner -f "$place/part.tar" -C "$place/part"
  rm "$place/part.tar"
  if command -v restorecon >/dev/null; then restorecon -R "$place/part" || true; fi
  sync -f "$place"
  mv "$place/part" "$place/data"
  sync -f "$place"
}
receive; exit
"#;

const SWAP: &str = r#"mkdir -p "$keep"
if [ ! -e "$keep/swapped" ]; then
  if runs $data/member; then fail "etcd runs on $data"; fi
  if [ -d "$place/data/member" ]; then
    if [ -d $data/member ]; then
      [ ! -e "$place/old" ] || fail "$data/member was made while its old data were already set aside: did somebody start etcd?"
      mv $data/member "$place/old"
    fi
    mv "$place/data/member" $data/member
    sync -f $data
  elif [ ! -d "$place" ] || [ ! -d $data/member ]; then
    fail "no restored data are on this master"
  fi
  if [ -e $data/revision.json ]; then mv -f $data/revision.json "$keep/"; fi
  touch "$keep/swapped"
  sync -f "$keep"
fi
"#;

const SET_ASIDE: &str = r#"mkdir -p "$keep"
if [ ! -e "$keep/aside" ]; then
  if runs $data/member; then fail "etcd runs on $data"; fi
  if [ -d $data/member ]; then mkdir -p "$place"; rm -rf "$place/old"; mv $data/member "$place/old"; fi
  if [ -e $data/revision.json ]; then mv -f $data/revision.json "$keep/"; fi
  touch "$keep/aside"
  sync -f "$keep"
fi
"#;

/// Behind either of them: the old data are kept, and their place is given back.
const KEEP_OLD: &str = r#"if [ -d "$place/old" ]; then
  rm -rf "$keep/member" "$keep/part"
  cp -a "$place/old" "$keep/part"
  mv "$keep/part" "$keep/member"
  sync -f "$keep"
fi
rm -rf "$place"
"#;

const START: &str = r#"if [ ! -e "$pod" ]; then
  [ -e "$stopped/etcd-pod.yaml" ] || fail "there is no etcd-pod.yaml in $stopped"
  cp -p "$stopped/etcd-pod.yaml" "${pod%/*}/.etcd-pod.yaml"
  mv "${pod%/*}/.etcd-pod.yaml" "$pod"
  sync -f "$pod"
fi
rm -f "$stopped/etcd-pod.yaml"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_good_shell() {
        let shell = MasterShell::new(
            Remote { command: Vec::new(), environment: Vec::new(), patience: Duration::ZERO, host: None },
            "20261115T120000Z",
        );
        for script in [STOP, SEND, SWAP, SET_ASIDE, KEEP_OLD, START, LOOK] {
            let text = format!("{}{script}", shell.head());
            let checked = std::process::Command::new("bash").args(["-n", "-c", &text]).output().unwrap();
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}
