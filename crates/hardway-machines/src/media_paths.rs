//! Where install media are served: under paths that nobody guesses.
//!
//! A medium holds its host's pointer or whole config, and most controllers can be given nothing but a URL. So the URL is the
//! secret: a keyed hash of the host, of the medium as it was made, and of which life of the machine it is for. Nothing is stored
//! to know one again, so whoever inserts a medium and whoever serves it need not talk to each other, and a server that was
//! killed goes on where it was. A path ends when the host has joined, bootstrapping is complete, or the machine is taken away;
//! a medium that was made before that has no path at all.

use std::fmt;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hardway_assets::ignition::TokenKey;
use hardway_base::Secret;
use hardway_base::redaction::HIDDEN;
use hardway_journal::{Hosts, JournalError, LiveHistory};
use jiff::Timestamp;

/// Makes and knows the paths of one working folder.
pub struct MediaPaths {
    key: TokenKey,
    history: Mutex<LiveHistory>,
}

/// Whether a medium is still needed cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum MediaPathError {
    /// The journal says who has joined.
    #[error("cannot read the journal entries of {host}")]
    Journal {
        /// As in the inventory.
        host: String,
        /// Why.
        #[source]
        source: JournalError,
    },
    /// The medium is there, and cannot be looked at.
    #[error("cannot read the medium of {host}")]
    Medium {
        /// As in the inventory.
        host: String,
        /// Why, with its path.
        #[source]
        source: std::io::Error,
    },
    /// The thread that looked did not come to its end.
    #[error("nobody could look")]
    Thread(#[from] tokio::task::JoinError),
}

impl MediaPaths {
    /// Of the folder with this key and this journal, which need not be there yet.
    pub fn new(key: TokenKey, journal: &Path) -> Self {
        Self { key, history: Mutex::new(LiveHistory::of(journal)) }
    }

    /// The part of the URL that stands before the name of a host's medium. Nothing for a medium that is not there, or that
    /// nobody needs any more.
    ///
    /// # Errors
    /// When journal or medium cannot be looked at.
    pub fn of(&self, host: &str, medium: &Path) -> Result<Option<Secret>, MediaPathError> {
        Ok(self.name(host, medium)?.map(|name| self.key.url_part(&name.words(host))))
    }

    /// Whether this is the part of the URL that stands before the name of a host's medium.
    ///
    /// # Errors
    /// When journal or medium cannot be looked at.
    pub fn leads(&self, part: &str, host: &str, medium: &Path) -> Result<bool, MediaPathError> {
        let is_its = |name: Name| self.key.is_url_part(part.as_bytes(), &name.words(host));
        Ok(self.name(host, medium)?.is_some_and(is_its))
    }

    /// The part of the URL that stands before everything that machines boot from over the network. One for all: DHCP names it
    /// to machines of which nothing is known yet.
    pub fn boot(&self) -> Secret {
        self.key.url_part(&["boot"])
    }

    /// Whether this is that part.
    pub fn leads_to_boot(&self, part: &str) -> bool {
        self.key.is_url_part(part.as_bytes(), &["boot"])
    }

    fn name(&self, host: &str, medium: &Path) -> Result<Option<Name>, MediaPathError> {
        let metadata = match fs_err::metadata(medium) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(MediaPathError::Medium { host: host.to_owned(), source }),
        };
        let (seconds, nanoseconds) = (metadata.mtime(), metadata.mtime_nsec());
        let made = format!("{seconds}.{nanoseconds:09}-{}", metadata.len());
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let history =
            history.now().map_err(|source| MediaPathError::Journal { host: host.to_owned(), source })?;
        let made_at = i32::try_from(nanoseconds).ok().and_then(|rest| Timestamp::new(seconds, rest).ok());
        let is_needed = made_at.is_none_or(|at| !is_over(&history.hosts, host, at));
        Ok(is_needed.then(|| Name { made, life: history.hosts.life(host).to_string() }))
    }
}

/// The part of a medium's URL that is secret, if it has one.
pub fn secret_in(url: &str) -> Option<&str> {
    let is_one =
        |part: &&str| part.len() == 32 && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    url.split('/').find(is_one)
}

/// A medium's URL as it may be shown.
pub fn shown(url: &str) -> String {
    secret_in(url).map_or_else(|| url.to_owned(), |part| url.replace(part, HIDDEN))
}

/// Without the key.
impl fmt::Debug for MediaPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MediaPaths(<redacted>)")
    }
}

/// What a path is of, beside its host.
struct Name {
    made: String,
    life: String,
}

impl Name {
    fn words<'n>(&'n self, host: &'n str) -> [&'n str; 4] {
        ["medium", host, &self.made, &self.life]
    }
}

/// Whether the machine that a medium was made for has joined since, or is gone.
fn is_over(hosts: &Hosts, host: &str, made: Timestamp) -> bool {
    hosts.is_retired(host)
        || [hosts.joined(host), hosts.ended(host)].into_iter().flatten().any(|end| end >= made)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use hardway_journal::{BootstrapComplete, Entry, Fact, Journal, MachineGone, MachineRetired, NodeJoined};

    use super::*;

    struct Site {
        dir: tempfile::TempDir,
        journal: Journal,
        paths: MediaPaths,
    }

    impl Site {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("journal.jsonl");
            let paths = MediaPaths::new(TokenKey::new(&Secret::new("key")), &path);
            Self { journal: Journal::open(&path).unwrap(), dir, paths }
        }

        /// Made at a minute of the day.
        fn make(&self, host: &str, minute: u64) {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(minute * 60);
            fs_err::write(self.medium(host), "iso").unwrap();
            let file = std::fs::File::options().write(true).open(self.medium(host)).unwrap();
            file.set_modified(at).unwrap();
        }

        fn medium(&self, host: &str) -> std::path::PathBuf {
            self.dir.path().join(format!("{host}.iso"))
        }

        fn of(&self, host: &str) -> Option<String> {
            let part = self.paths.of(host, &self.medium(host)).unwrap();
            let part = part.map(|part| part.expose_text().to_owned());
            if let Some(part) = &part {
                assert!(self.leads(part, host));
            }
            part
        }

        fn leads(&self, part: &str, host: &str) -> bool {
            self.paths.leads(part, host, &self.medium(host)).unwrap()
        }

        fn tell(&self, minute: i64, fact: &impl Fact) {
            let at = Timestamp::from_second(minute * 60).unwrap();
            self.journal.append(&[Entry::of(at, fact)]).unwrap();
        }
    }

    #[test]
    fn a_path_is_of_one_host_and_one_medium() {
        let site = Site::new();
        assert_eq!(site.of("a"), None, "there is no medium");
        site.make("a", 10);
        site.make("b", 10);
        let (a, b) = (site.of("a").unwrap(), site.of("b").unwrap());
        assert!(a != b && a.len() == 32, "{a} {b}");
        assert!(!site.leads(&a, "b") && !site.leads("", "a") && !site.leads(&a[1..], "a"));
        assert_ne!(a, site.paths.boot().expose_text());
        assert!(site.paths.leads_to_boot(site.paths.boot().expose_text()) && !site.paths.leads_to_boot(&a));
        let other = MediaPaths::new(TokenKey::new(&Secret::new("other")), &site.dir.path().join("none"));
        assert!(!other.leads(&a, "a", &site.medium("a")).unwrap());
        site.make("a", 11);
        assert!(!site.leads(&a, "a"), "made again, it has another");
        assert_eq!(format!("{:?}", site.paths), "MediaPaths(<redacted>)");
    }

    #[test]
    fn it_ends_with_what_it_is_for() {
        let host = || "a".to_owned();
        let ends: [&dyn Fn(&Site); 3] = [
            &|site| site.tell(20, &NodeJoined { host: host() }),
            &|site| site.tell(20, &BootstrapComplete { host: host() }),
            &|site| site.tell(20, &MachineGone { host: host() }),
        ];
        for end in ends {
            let site = Site::new();
            site.make("a", 10);
            let before = site.of("a").unwrap();
            site.tell(15, &NodeJoined { host: "b".to_owned() });
            assert!(site.leads(&before, "a"), "somebody else's end");
            end(&site);
            assert!(!site.leads(&before, "a") && site.of("a").is_none());
            // For the machine's next life, also by a clock that was wrong.
            site.make("a", 30);
            assert!(!site.leads(&before, "a") && site.of("a").is_some());
            site.make("a", 10);
            assert!(!site.leads(&before, "a"));
        }
        let site = Site::new();
        site.tell(20, &MachineRetired { host: host() });
        site.make("a", 30);
        assert_eq!(site.of("a"), None, "a retired machine is never installed again");
    }

    #[test]
    fn a_url_is_shown_without_its_secret() {
        let part = "0123456789abcdef0123456789abcdef";
        let url = format!("http://192.168.126.2:8080/{part}/master-0.iso");
        assert_eq!(secret_in(&url), Some(part));
        assert_eq!(shown(&url), "http://192.168.126.2:8080/<redacted>/master-0.iso");
        assert_eq!(shown("http://web/media/master-0.iso"), "http://web/media/master-0.iso");
    }

    #[test]
    fn what_cannot_be_read_opens_nothing() {
        let site = Site::new();
        site.make("a", 10);
        let part = site.of("a").unwrap();
        fs_err::write(site.dir.path().join("journal.jsonl"), "no journal\n").unwrap();
        let refused = site.paths.leads(&part, "a", &site.medium("a")).unwrap_err();
        assert_eq!(refused.to_string(), "cannot read the journal entries of a");
    }
}
