//! Checking that a release digest was signed by somebody trusted.
//!
//! A signature is an OpenPGP message around a JSON claim that names the digest ("atomic container signature"). `gpgv`
//! checks the message against a keyring; the claim is checked here (library-go `pkg/verify`).

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hardway_base::files::private_folder;
use hardway_base::redaction::without_password;
use serde_json::Value;

use crate::digest::Digest;
use crate::keyring::{KeyringFault, binary};
use crate::registry::{Connection, RegistryError, asked_wait, transport};

/// Where signatures are: `<place>/sha256=<hex>/signature-<n>`.
#[derive(Clone, PartialEq, Eq)]
pub enum SignatureStore {
    /// Below a folder.
    Folder(PathBuf),
    /// Below an `https:` URL.
    Url(String),
    /// One signature in a file.
    File(PathBuf),
}

/// The public stores of OpenShift (openshift/cluster-update-keys).
pub const PUBLIC_STORES: [&str; 2] = [
    "https://storage.googleapis.com/openshift-release/official/signatures/openshift/release",
    "https://mirror.openshift.com/pub/openshift-v4/signatures/openshift/release",
];

/// A signature that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Fingerprint of the key.
    pub key: String,
    /// The pull spec the signer had in mind.
    pub reference: String,
    /// Where the signature was.
    pub found_in: String,
}

/// Why a digest cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// `gpgv` is not there.
    #[error("gpgv cannot be run: {0}; install the package gpgv")]
    NoGpgv(#[source] io::Error),
    /// The keyring is not there, or is none.
    #[error("the keyring {} cannot be used: {fault}", .path.display())]
    Keyring {
        /// The file.
        path: PathBuf,
        /// Why.
        fault: KeyringFault,
    },
    /// Nobody signed it.
    #[error("no signature of {digest} in {}", .stores.join(", "))]
    NoSignature {
        /// Of the release.
        digest: Digest,
        /// Where was looked.
        stores: Vec<String>,
    },
    /// Signatures, but none that counts.
    #[error("no valid signature of {digest}:{}", listed(.refused))]
    NoneValid {
        /// Of the release.
        digest: Digest,
        /// Each signature and why it does not count.
        refused: Vec<(String, SignatureFault)>,
    },
    /// A store could not be asked.
    #[error(transparent)]
    Store(#[from] RegistryError),
    /// A store's file could not be read.
    #[error("{0}")]
    File(#[from] io::Error),
}

/// Why a signature does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// By a key that is not in the keyring, broken, or expired.
    #[error("gpgv refuses it: {0}")]
    Untrusted(String),
    /// Larger than any signature.
    #[error("it is larger than {MOST} bytes")]
    TooLarge,
    /// The claim is not one.
    #[error("its claim is malformed: {0}")]
    Malformed(String),
    /// A signature of something else.
    #[error("it is for {0}")]
    OtherDigest(String),
}

/// As many signatures as are looked for in one store, and the largest size of one (library-go `pkg/verify/store`).
const TRIES: u32 = 9;
const MOST: u64 = 50 << 10;

/// Finds a signature of a release digest that one of the keys made. The keyring may be ASCII-armored.
pub async fn verify(
    digest: &Digest,
    keyring: &Path,
    stores: &[SignatureStore],
    connection: &Connection,
) -> Result<Verified, SignatureError> {
    let unusable = |fault| SignatureError::Keyring { path: keyring.to_owned(), fault };
    let keys = fs_err::read(keyring).map_err(|error| unusable(KeyringFault::Unreadable(error.kind())))?;
    let keys = binary(&keys).map_err(unusable)?;
    let (mut refused, mut unasked) = (Vec::new(), None);
    for store in stores {
        let signatures = match store.signatures(digest, connection).await {
            // Another store may have what this one does not give.
            Err(SignatureError::Store(error)) => {
                unasked.get_or_insert(error);
                continue;
            }
            signatures => signatures?,
        };
        for (name, bytes) in signatures {
            match check(&bytes, digest, &keys)? {
                Ok((key, reference)) => return Ok(Verified { key, reference, found_in: name }),
                Err(fault) => refused.push((name, fault)),
            }
        }
    }
    let digest = digest.clone();
    if let Some(error) = unasked.filter(|_| refused.is_empty()) {
        return Err(error.into());
    }
    if refused.is_empty() {
        return Err(SignatureError::NoSignature {
            digest,
            stores: stores.iter().map(SignatureStore::name).collect(),
        });
    }
    Err(SignatureError::NoneValid { digest, refused })
}

/// All signatures of a digest that stores have, each once; whether they are any good is not asked. A store that cannot be asked
/// is an error only where no other has one.
pub(crate) async fn signatures(
    digest: &Digest,
    stores: &[SignatureStore],
    connection: &Connection,
) -> Result<Vec<Vec<u8>>, SignatureError> {
    let (mut found, mut unasked) = (Vec::new(), None);
    for store in stores {
        match store.signatures(digest, connection).await {
            Ok(signatures) => {
                for (_, bytes) in signatures.into_iter().filter(|(_, bytes)| bytes.len() as u64 <= MOST) {
                    if !found.contains(&bytes) {
                        found.push(bytes);
                    }
                }
            }
            Err(SignatureError::Store(error)) => drop(unasked.get_or_insert(error)),
            Err(error) => return Err(error),
        }
    }
    match unasked.filter(|_| found.is_empty()) {
        Some(error) => Err(error.into()),
        None => Ok(found),
    }
}

impl fmt::Debug for SignatureStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Folder(_) => "Folder",
            Self::Url(_) => "Url",
            Self::File(_) => "File",
        };
        f.debug_tuple(kind).field(&self.name()).finish()
    }
}

impl SignatureStore {
    /// As it may be shown.
    fn name(&self) -> String {
        match self {
            Self::Folder(path) | Self::File(path) => path.display().to_string(),
            Self::Url(url) => without_password(url),
        }
    }

    /// All signatures of a digest, each with the place it is at; the first that is missing ends the search.
    async fn signatures(
        &self,
        digest: &Digest,
        connection: &Connection,
    ) -> Result<Vec<(String, Vec<u8>)>, SignatureError> {
        if let Self::File(path) = self {
            return Ok(vec![(self.name(), beginning_of_file(path)?)]);
        }
        let mut found = Vec::new();
        for n in 1..=TRIES {
            let below = format!("sha256={}/signature-{n}", digest.hex());
            let (name, bytes) = match self {
                Self::Folder(folder) => {
                    let path = folder.join(below);
                    (path.display().to_string(), read_if_there(&path)?)
                }
                Self::Url(base) => {
                    let url = format!("{}/{below}", base.trim_end_matches('/'));
                    let bytes = connection.retry.run(|| download(&url, connection)).await?;
                    (without_password(&url), bytes)
                }
                Self::File(_) => break,
            };
            let Some(bytes) = bytes else { break };
            found.push((name, bytes));
        }
        Ok(found)
    }
}

fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match beginning_of_file(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Enough of it to see that it is too large.
fn beginning_of_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same of what a server sends, which may have no end.
async fn beginning(mut answer: reqwest::Response) -> reqwest::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() as u64 <= MOST
        && let Some(chunk) = answer.chunk().await?
    {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn download(url: &str, connection: &Connection) -> Result<Option<Vec<u8>>, RegistryError> {
    let shown = without_password(url);
    let error = |error: reqwest::Error| transport(&shown, &error);
    let answer = connection.http_client()?.get(url).send().await.map_err(error)?;
    let wait = asked_wait(&answer);
    match answer.status().as_u16() {
        200 => Ok(Some(beginning(answer).await.map_err(error)?)),
        404 => Ok(None),
        429 => Err(RegistryError::TooManyRequests { registry: shown, wait }),
        status => Err(RegistryError::Server { registry: shown, status, detail: String::new(), wait }),
    }
}

type Checked = Result<(String, String), SignatureFault>;

/// The key's fingerprint and the reference of a signature that counts.
fn check(signature: &[u8], digest: &Digest, keys: &[u8]) -> Result<Checked, SignatureError> {
    if signature.len() as u64 > MOST {
        return Ok(Err(SignatureFault::TooLarge));
    }
    let opened = gpgv(signature, keys)?;
    Ok(opened.and_then(|(key, claim)| Ok((key, reference(&claim, digest)?))))
}

/// The fingerprint and the text inside. What counts is gpgv's status line, as its texts are for people.
fn gpgv(signature: &[u8], keys: &[u8]) -> Result<Result<(String, Vec<u8>), SignatureFault>, SignatureError> {
    let dir = private_folder("hardway-signature-")?;
    let (message, claim) = (dir.path().join("signature"), dir.path().join("claim"));
    fs_err::File::create(&message)?.write_all(signature)?;
    let keyring = dir.path().join("keys");
    fs_err::File::create(&keyring)?.write_all(keys)?;
    let output = Command::new("gpgv")
        .args(["--status-fd", "1", "--homedir"])
        .arg(dir.path())
        .arg("--keyring")
        .arg(&keyring)
        .arg("--output")
        .arg(&claim)
        .arg(&message)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(SignatureError::NoGpgv)?;
    let status = String::from_utf8_lossy(&output.stdout).into_owned();
    let valid = status.lines().find_map(|line| line.strip_prefix("[GNUPG:] VALIDSIG "));
    match valid.and_then(|rest| rest.split(' ').next()) {
        Some(key) if output.status.success() => Ok(Ok((key.to_owned(), fs_err::read(claim)?))),
        _ => Ok(Err(SignatureFault::Untrusted(last_line(&output.stderr)))),
    }
}

fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr).into_owned();
    text.lines().last().unwrap_or("it gave no reason").trim_start_matches("gpgv: ").to_owned()
}

/// The reference of a claim about this digest.
fn reference(claim: &[u8], digest: &Digest) -> Result<String, SignatureFault> {
    let malformed = |detail: &str| SignatureFault::Malformed(detail.to_owned());
    let claim: Value = serde_json::from_slice(claim).map_err(|_| malformed("it is not JSON"))?;
    let critical = &claim["critical"];
    if critical["type"] != "atomic container signature" {
        return Err(malformed("critical.type is not \"atomic container signature\""));
    }
    let named = critical["image"]["docker-manifest-digest"].as_str();
    let named = named.ok_or_else(|| malformed("it names no digest"))?;
    if named != digest.to_string() {
        return Err(SignatureFault::OtherDigest(named.to_owned()));
    }
    let reference = critical["identity"]["docker-reference"].as_str().filter(|text| !text.is_empty());
    Ok(reference.ok_or_else(|| malformed("it names no image"))?.to_owned())
}

fn listed(refused: &[(String, SignatureFault)]) -> String {
    refused.iter().map(|(place, fault)| format!("\n  {place}: {fault}")).collect()
}
