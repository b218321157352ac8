//! All secrets of a cluster, as they lie in `secrets/`.

use std::collections::BTreeMap;
use std::sync::Mutex;

use jiff::Timestamp;

use super::{Identity, KeyError, PrivateKey, Random, Secret, kubeadmin_password};
use crate::inventory::KeyAlgorithm;

/// The files of `secrets/`, by name without the folder.
#[derive(Clone, Debug, Default)]
pub struct SecretBundle {
    files: BTreeMap<String, Secret>,
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
const PASSWORD: &str = "kubeadmin-password";
const PASSWORD_HASH: &str = "kubeadmin-password.hash";
/// Go's default cost, which the installer uses.
const BCRYPT_COST: u32 = 10;

impl SecretBundle {
    /// A bundle of the files that are there.
    pub fn from_files(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { files: files.into_iter().map(|(name, bytes)| (name, Secret::new(bytes))).collect() }
    }

    /// Every file by name, in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.files.iter().map(|(name, secret)| (name.as_str(), secret))
    }

    /// A secret by file name.
    pub fn get(&self, name: &str) -> Result<&Secret, SecretsError> {
        self.files.get(name).ok_or_else(|| SecretsError::Missing(name.to_owned()))
    }

    /// The key of a certificate or key pair, read from `<name>.key`.
    pub fn key(&self, name: &str) -> Result<PrivateKey, SecretsError> {
        let file = format!("{name}.key");
        let secret = self.get(&file)?;
        PrivateKey::from_pem(secret.expose_text()).map_err(|source| SecretsError::Key { file, source })
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
        self.files.insert(IDENTITY.to_owned(), Secret::new(text));
    }

    /// Draws the identity, unless there is one.
    pub fn draw_identity(&mut self, cluster_name: &str, now: Timestamp) {
        if !self.files.contains_key(IDENTITY) {
            self.set_identity(&Identity::draw(cluster_name, now, &Random::default()));
        }
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
        if !self.files.contains_key(PASSWORD_HASH) {
            let password = match self.files.get(PASSWORD) {
                Some(given) => given.clone(),
                None => Secret::new(kubeadmin_password(&random)),
            };
            self.files.insert(PASSWORD.to_owned(), password.clone());
            jobs.push(Job::Hash(password));
        }
        self.files.extend(run(jobs)?);
        Ok(())
    }
}

/// The `authorized_keys` line of an ECDSA key (RFC 5656 §3.1).
pub fn ssh_public_key(key: &PrivateKey, comment: &str) -> String {
    use base64::Engine as _;
    let mut blob = Vec::new();
    for part in [b"ecdsa-sha2-nistp256".as_slice(), b"nistp256", &key.public_bits()] {
        blob.extend(u32::try_from(part.len()).unwrap_or_default().to_be_bytes());
        blob.extend(part);
    }
    format!("ecdsa-sha2-nistp256 {} {comment}", base64::engine::general_purpose::STANDARD.encode(blob))
}

enum Job {
    Key(String, KeyAlgorithm),
    Hash(Secret),
}

/// Runs the jobs on all cores, the slow RSA keys and the hash first.
fn run(mut jobs: Vec<Job>) -> Result<Vec<(String, Secret)>, SecretsError> {
    jobs.sort_by_key(|job| !matches!(job, Job::Key(_, KeyAlgorithm::EcdsaP256)));
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
    fn run(self) -> Result<(String, Secret), SecretsError> {
        match self {
            Self::Key(file, algorithm) => match PrivateKey::generate(algorithm, &Random::default()) {
                Ok(key) => Ok((file, key.to_pem())),
                Err(source) => Err(SecretsError::Key { file, source }),
            },
            Self::Hash(password) => {
                let salt = Random::default().bytes::<16>();
                match bcrypt::hash_with_salt(password.expose(), BCRYPT_COST, salt) {
                    // Go writes and expects the 2a prefix.
                    Ok(parts) => {
                        let hash = parts.format_for_version(bcrypt::Version::TwoA);
                        Ok((PASSWORD_HASH.to_owned(), Secret::new(hash)))
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
