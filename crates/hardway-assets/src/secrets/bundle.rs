//! All secrets of a cluster, as they lie in `secrets/`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use hardway_base::Secret;
use hardway_base::hex;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::{Comes, HostGeneration, Identity, KeyError, PrivateKey, Random, kubeadmin_password};
use crate::host_identity;
use crate::inventory::KeyAlgorithm;

/// The files of `secrets/`, by name without the folder.
///
/// ```
/// use hardway_assets::inventory::KeyAlgorithm;
/// use hardway_assets::secrets::SecretBundle;
///
/// let mut secrets = SecretBundle::default();
/// secrets.draw_identity("ocp4", "2026-11-15T00:00:00Z".parse()?);
/// secrets.complete(&[("root-ca".to_owned(), KeyAlgorithm::EcdsaP256)])?;
/// assert!(secrets.get("root-ca.key")?.expose_text().starts_with("-----BEGIN PRIVATE KEY-----"));
/// assert!(!format!("{secrets:?}").contains("BEGIN"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SecretBundle {
    files: BTreeMap<String, Entry>,
}

/// A file, and the key in it once someone asked for it: reading a key checks its arithmetic, and a signer's key is
/// wanted by every certificate below it.
#[derive(Clone, Debug)]
struct Entry {
    secret: Secret,
    key: OnceLock<Arc<PrivateKey>>,
}

impl From<Secret> for Entry {
    fn from(secret: Secret) -> Self {
        Self { secret, key: OnceLock::new() }
    }
}

impl From<PrivateKey> for Entry {
    fn from(key: PrivateKey) -> Self {
        Self { secret: key.to_pem(), key: OnceLock::from(Arc::new(key)) }
    }
}

/// The secrets cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// A file of the bundle does not hold what its name says.
    #[error("secrets/{file}: {reason}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it, without its content.
        reason: String,
    },
    /// An asset asked for a secret that was never made.
    #[error("secrets/{0} is missing")]
    Missing(String),
    /// Making a key failed.
    #[error("secrets/{file}")]
    Key {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: KeyError,
    },
}

const IDENTITY: &str = "identity.json";
/// What tokens of the ignition server and the URLs of install media are made with.
pub const TOKEN_KEY: &str = "ignition-token-key";
const PASSWORD: &str = "kubeadmin-password";
const PASSWORD_HASH: &str = "kubeadmin-password.hash";
/// The OAuth server refuses a shorter one (library-go `bootstrapauthenticator`).
const SHORTEST_PASSWORD: usize = 23;
/// bcrypt looks at no more than this.
const LONGEST_PASSWORD: usize = 72;
/// Go's default cost, which the installer uses.
const BCRYPT_COST: u32 = 10;

/// Whether the login server takes it, as it is typed.
pub fn is_kubeadmin_password(password: &[u8]) -> bool {
    (SHORTEST_PASSWORD..=LONGEST_PASSWORD).contains(&password.len())
}

impl SecretBundle {
    /// A bundle of the files that are there.
    pub fn from_files(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { files: files.into_iter().map(|(name, bytes)| (name, Secret::new(bytes).into())).collect() }
    }

    /// Every file by name, in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.files.iter().map(|(name, entry)| (name.as_str(), &entry.secret))
    }

    /// A secret by file name.
    pub fn get(&self, name: &str) -> Result<&Secret, SecretsError> {
        self.entry(name).map(|entry| &entry.secret)
    }

    /// The key of a certificate or key pair, read from `<name>.key`.
    pub fn key(&self, name: &str) -> Result<&PrivateKey, SecretsError> {
        let file = format!("{name}.key");
        let entry = self.entry(&file)?;
        if let Some(key) = entry.key.get() {
            return Ok(key);
        }
        match PrivateKey::from_pem(entry.secret.expose_text()) {
            Ok(key) => Ok(entry.key.get_or_init(|| Arc::new(key))),
            Err(source) => Err(SecretsError::Key { file, source }),
        }
    }

    /// The names and dates drawn once.
    pub fn identity(&self) -> Result<Identity, SecretsError> {
        let secret = self.get(IDENTITY)?;
        serde_json::from_slice(secret.expose()).map_err(|error| SecretsError::Damaged {
            file: IDENTITY.to_owned(),
            reason: format!(
                "line {}, column {}: not the identity of a cluster",
                error.line(),
                error.column()
            ),
        })
    }

    /// Writes the identity back, after a renewal was noted in it.
    pub fn set_identity(&mut self, identity: &Identity) {
        let text = serde_json::to_string_pretty(identity).unwrap_or_default() + "\n";
        self.files.insert(IDENTITY.to_owned(), Secret::new(text).into());
    }

    /// Draws the identity, unless there is one.
    pub fn draw_identity(&mut self, cluster_name: &str, now: Timestamp) {
        if !self.files.contains_key(IDENTITY) {
            self.set_identity(&Identity::draw(cluster_name, now, &Random::default()));
        }
    }

    /// Draws what tokens of the ignition server and the URLs of install media are made with, unless it is there.
    pub fn draw_token_key(&mut self) {
        self.files.entry(TOKEN_KEY.to_owned()).or_insert_with(|| token_key(&Random::default()).into());
    }

    /// The next generation of a host's boot identity, with a new key; its certificate counts as issued at `now`. A host that is
    /// installed anew has a new ssh key as well. The generation before is worth nothing once this is written.
    /// `host-identity-<host>.key` comes before `identity.json` in the order of
    /// the files: were only the former written, this generation would have a new key, and no old key a new generation.
    pub fn next_generation(&mut self, host: &str, comes: Comes, now: Timestamp) -> Result<u32, SecretsError> {
        let mut identity = self.identity()?;
        let since = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let number = identity.generation(host).saturating_add(1);
        identity.generations.insert(host.to_owned(), HostGeneration { number, since, comes });
        let certificate = host_identity::certificate(host);
        let (file, key) = Job::Key(format!("{certificate}.key"), KeyAlgorithm::EcdsaP256).run()?;
        self.files.insert(file, key);
        if comes == Comes::WithConfig {
            let (file, key) =
                Job::Key(format!("{}.key", host_identity::ssh_host_key(host)), KeyAlgorithm::EcdsaP256)
                    .run()?;
            self.files.insert(file, key);
        }
        identity.renewed.insert(certificate, since);
        self.set_identity(&identity);
        Ok(number)
    }

    /// Draws what is missing and leaves what is there alone. `keys` are (name, algorithm) of every key needed.
    ///
    /// All cores make keys: they are nearly all of the time that making a cluster's assets takes.
    pub fn complete(&mut self, keys: &[(String, KeyAlgorithm)]) -> Result<(), SecretsError> {
        let random = Random::default();
        let mut jobs: Vec<Job> = Vec::new();
        for (name, algorithm) in keys {
            let file = format!("{name}.key");
            if !self.files.contains_key(&file) {
                jobs.push(Job::Key(file, *algorithm));
            }
        }
        self.draw_token_key();
        let password = self.password(&random)?;
        let salt = self.salt(&password)?;
        if !self.get(PASSWORD_HASH).is_ok_and(|hash| has_salt(hash.expose_text(), salt)) {
            jobs.push(Job::Hash(password, salt));
        }
        self.files.extend(run(jobs)?);
        Ok(())
    }

    /// Like [`complete`](Self::complete), for a preview: these keys are never kept, so a single one stands in for all missing ones.
    /// A cluster of 10,000 hosts has twice as many.
    pub fn complete_to_look(&mut self, names: impl Iterator<Item = String>) -> Result<(), SecretsError> {
        let files = names.map(|name| format!("{name}.key"));
        let missing: Vec<String> = files.filter(|file| !self.files.contains_key(file)).collect();
        if let Some(first) = missing.first() {
            let (_, entry) = Job::Key(first.clone(), KeyAlgorithm::EcdsaP256).run()?;
            self.files.extend(missing.into_iter().map(|file| (file, entry.clone())));
        }
        self.complete(&[])
    }

    /// The password that is there, or a new one. Editors end a file with a newline that nobody types at a prompt.
    fn password(&mut self, random: &Random) -> Result<Secret, SecretsError> {
        let Some(given) = self.files.get(PASSWORD) else {
            let drawn = Secret::new(kubeadmin_password(random));
            self.files.insert(PASSWORD.to_owned(), drawn.clone().into());
            return Ok(drawn);
        };
        let password = Secret::new(given.secret.expose().trim_ascii_end());
        if !is_kubeadmin_password(password.expose()) {
            let reason =
                format!("the password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters");
            return Err(SecretsError::Damaged { file: PASSWORD.to_owned(), reason });
        }
        Ok(password)
    }

    /// The salt of the password's hash. It is derived from the password, so that the hash of another password is recognised by its
    /// salt alone, without the tenth of a second that bcrypt takes; and keyed, so that it reveals nothing to anybody else.
    fn salt(&self, password: &Secret) -> Result<[u8; 16], SecretsError> {
        let key = self.identity()?.fingerprint_key;
        let digest = Sha256::new()
            .chain_update(key)
            .chain_update(b"\0salt\0")
            .chain_update(password.expose())
            .finalize();
        let mut salt = [0; 16];
        salt.copy_from_slice(&digest[..16]);
        Ok(salt)
    }

    fn entry(&self, file: &str) -> Result<&Entry, SecretsError> {
        self.files.get(file).ok_or_else(|| SecretsError::Missing(file.to_owned()))
    }
}

/// As text, so that it can be looked at and copied like every other secret.
fn token_key(random: &Random) -> Secret {
    let hex = hex::encode(random.bytes::<32>());
    Secret::new(hex + "\n")
}

/// Whether a bcrypt hash (`$2a$10$`, 22 characters of salt, 31 of hash) was made with a salt.
fn has_salt(hash: &str, salt: [u8; 16]) -> bool {
    use base64::Engine as _;
    use base64::alphabet::BCRYPT;
    use base64::engine::GeneralPurpose;
    use base64::engine::general_purpose::NO_PAD;
    let encoded = GeneralPurpose::new(&BCRYPT, NO_PAD).encode(salt);
    hash.len() == 60 && hash.starts_with(&format!("$2a${BCRYPT_COST}${encoded}"))
}

enum Job {
    Key(String, KeyAlgorithm),
    Hash(Secret, [u8; 16]),
}

/// Runs the jobs on all cores, the slowest first, so that no core is left alone with a long one at the end.
fn run(mut jobs: Vec<Job>) -> Result<Vec<(String, Entry)>, SecretsError> {
    jobs.sort_by_key(|job| Reverse(job.rank()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let queue = Mutex::new(jobs);
    let made = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = queue.lock().ok().and_then(|mut queue| queue.pop()) {
                    let result = job.run();
                    if let Ok(mut made) = made.lock() {
                        made.push(result);
                    }
                }
            });
        }
    });
    made.into_inner().unwrap_or_default().into_iter().collect()
}

impl Job {
    /// The slowest first: an RSA key takes about 90 ms, the hash 50 ms, an ECDSA key no time.
    fn rank(&self) -> u8 {
        match self {
            Self::Key(_, KeyAlgorithm::Rsa2048) => 0,
            Self::Hash(..) => 1,
            Self::Key(_, KeyAlgorithm::EcdsaP256) => 2,
        }
    }

    fn run(self) -> Result<(String, Entry), SecretsError> {
        match self {
            Self::Key(file, algorithm) => match PrivateKey::generate(algorithm, &Random::default()) {
                Ok(key) => Ok((file, key.into())),
                Err(source) => Err(SecretsError::Key { file, source }),
            },
            Self::Hash(password, salt) => {
                match bcrypt::hash_with_salt(password.expose(), BCRYPT_COST, salt) {
                    // Go writes and expects the 2a prefix.
                    Ok(parts) => {
                        let hash = parts.format_for_version(bcrypt::Version::TwoA);
                        Ok((PASSWORD_HASH.to_owned(), Secret::new(hash).into()))
                    }
                    Err(_) => Err(SecretsError::Damaged {
                        file: PASSWORD.to_owned(),
                        reason: "the password cannot be hashed with bcrypt".to_owned(),
                    }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_looks_draws_one_key_and_changes_none() {
        let mut bundle = SecretBundle::default();
        bundle.draw_identity("ocp4", "2026-11-15T00:00:00Z".parse().unwrap());
        bundle.complete(&[("root-ca".to_owned(), KeyAlgorithm::EcdsaP256)]).unwrap();
        let own = bundle.get("root-ca.key").unwrap().clone();
        let names = ["root-ca", "etcd-signer", "kubelet-signer"];
        bundle.complete_to_look(names.into_iter().map(str::to_owned)).unwrap();
        let text = |name: &str| bundle.get(name).unwrap().expose_text().to_owned();
        assert_eq!(text("root-ca.key"), own.expose_text());
        assert_eq!(text("etcd-signer.key"), text("kubelet-signer.key"));
        assert_ne!(text("etcd-signer.key"), own.expose_text());
    }

    #[test]
    fn a_key_is_read_once() {
        let mut made = SecretBundle::default();
        made.draw_identity("ocp4", Timestamp::UNIX_EPOCH);
        made.complete(&[("a".to_owned(), KeyAlgorithm::EcdsaP256)]).unwrap();
        let files = made.files().map(|(name, secret)| (name.to_owned(), secret.expose().to_vec()));
        let read = SecretBundle::from_files(files.collect::<Vec<_>>());
        assert_eq!(made.key("a").unwrap().public_bits(), read.key("a").unwrap().public_bits());
        assert!(std::ptr::eq(read.key("a").unwrap(), read.key("a").unwrap()));
        assert_eq!(read.key("b").unwrap_err(), SecretsError::Missing("b.key".to_owned()));
    }

    #[test]
    fn the_next_generation_of_a_host_has_a_new_key_which_is_written_first() {
        let now = Timestamp::from_second(1_000).unwrap();
        let mut secrets = SecretBundle::default();
        secrets.draw_identity("ocp4", Timestamp::UNIX_EPOCH);
        secrets.complete(&[("host-identity-w".to_owned(), KeyAlgorithm::EcdsaP256)]).unwrap();
        let before = secrets.clone();
        assert_eq!(before.identity().unwrap().generation("w"), 1);
        assert_eq!(secrets.next_generation("w", Comes::InPlace, now).unwrap(), 2);
        assert!(secrets.get("ssh-host-w.key").is_err(), "a host that stays as it is keeps its ssh key");
        assert_eq!(secrets.next_generation("w", Comes::WithConfig, now).unwrap(), 3);
        let third_key = secrets.get("ssh-host-w.key").unwrap().clone();
        let mut later = secrets.clone();
        later.next_generation("w", Comes::WithConfig, now).unwrap();
        assert_ne!(
            *later.get("ssh-host-w.key").unwrap(),
            third_key,
            "a host that is installed anew has another"
        );
        let identity = secrets.identity().unwrap();
        let third = HostGeneration { number: 3, since: now, comes: Comes::WithConfig };
        assert_eq!(identity.generations["w"], third);
        assert_eq!((identity.generation("w"), identity.generation("x")), (3, 1));
        assert_eq!(identity.issued("host-identity-w"), now);
        let changed: Vec<&str> = secrets
            .files()
            .filter(|(name, secret)| before.get(name).ok() != Some(secret))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(changed, ["host-identity-w.key", "identity.json", "ssh-host-w.key"]);
    }

    #[test]
    fn a_password_of_ones_own_is_hashed_as_it_is_typed_and_again_when_it_changes() {
        let mut secrets =
            SecretBundle::from_files([(PASSWORD.to_owned(), b"abcde-fghij-klmno-pqrst\n".to_vec())]);
        secrets.draw_identity("ocp4", Timestamp::UNIX_EPOCH);
        secrets.complete(&[]).unwrap();
        let hash = secrets.get(PASSWORD_HASH).unwrap().clone();
        assert!(bcrypt::verify("abcde-fghij-klmno-pqrst", hash.expose_text()).unwrap());
        secrets.complete(&[]).unwrap();
        assert_eq!(*secrets.get(PASSWORD_HASH).unwrap(), hash, "the same password keeps its hash");
        secrets.files.insert(PASSWORD.to_owned(), Secret::new("ABCDE-fghij-klmno-pqrst").into());
        secrets.complete(&[]).unwrap();
        let hash = secrets.get(PASSWORD_HASH).unwrap();
        assert!(bcrypt::verify("ABCDE-fghij-klmno-pqrst", hash.expose_text()).unwrap());
    }

    #[test]
    fn a_password_the_oauth_server_would_refuse_is_refused() {
        let mut secrets = SecretBundle::from_files([(PASSWORD.to_owned(), b"short\n".to_vec())]);
        secrets.draw_identity("ocp4", Timestamp::UNIX_EPOCH);
        let error = secrets.complete(&[]).unwrap_err().to_string();
        assert_eq!(error, "secrets/kubeadmin-password: the password must have 23 to 72 characters");
    }
}
