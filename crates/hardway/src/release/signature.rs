//! Who signed a release.
//!
//! Without a keyring nothing is checked, and that is said. It could not be otherwise: the keys that a release brings
//! along cannot vouch for the release itself, and OpenShift too checks signatures of updates only, with the keys of
//! the release that is installed already (openshift/cluster-version-operator `pkg/cvo/updatepayload.go`).

use hardway_release::{
    Digest, FetchOptions, PUBLIC_STORES, PullSpec, SignatureError, SignatureStore, verify,
};

use super::{SignatureOptions, registry_report};
use crate::report::{Code, Report};
use crate::runtime;
use crate::terminal::Output;

/// An error unless a key of the keyring signed the digest; a warning where there is no keyring, or where the check is
/// not wanted.
pub(crate) fn check_signature(
    wanted: &SignatureOptions,
    image: &PullSpec,
    digest: Option<&Digest>,
    options: &FetchOptions,
    out: &Output,
) -> Result<(), Report> {
    let Some(digest) = digest else { return Ok(()) };
    if wanted.is_skipped {
        let place = image.registry();
        out.warn(&format!(
            "--insecure-skip-signature: not verifying who made {digest}. Anyone who can write to {place} decides what runs on \
             every machine of the cluster, as root"
        ));
        return Ok(());
    }
    let Some(keyring) = &wanted.keyring else {
        let known = match &image.digest {
            Some(_) => "The requested digest guarantees the content, not who made it",
            None => "The tag resolved to this digest just now; use the digest next time",
        };
        out.warn(&format!("not verifying the signature of {digest}: no --keyring is given. {known}"));
        return Ok(());
    };
    let verified = runtime::block_on(verify(digest, keyring, &stores(wanted), &options.connection))?
        .map_err(|error| signature_report(&error))?;
    out.info(&format!("{digest} is signed by key {} as {}", verified.key, verified.reference));
    out.debug(&format!("signature: {}", verified.found_in));
    Ok(())
}

/// Where signatures are that may go along with a release: those that were checked.
pub(crate) fn checked_stores(wanted: &SignatureOptions) -> Vec<SignatureStore> {
    if wanted.keyring.is_some() && !wanted.is_skipped { stores(wanted) } else { Vec::new() }
}

/// Those given; the public ones where none are.
fn stores(wanted: &SignatureOptions) -> Vec<SignatureStore> {
    let files = wanted.files.iter().map(|path| SignatureStore::File(path.clone()));
    let stores = wanted.stores.iter().map(|place| match place.contains("://") {
        true => SignatureStore::Url(place.clone()),
        false => SignatureStore::Folder(place.into()),
    });
    let given: Vec<_> = files.chain(stores).collect();
    if given.is_empty() {
        return PUBLIC_STORES.iter().map(|url| SignatureStore::Url((*url).to_owned())).collect();
    }
    given
}

pub(crate) fn signature_report(error: &SignatureError) -> Report {
    match error {
        SignatureError::Store(error) => registry_report(error),
        SignatureError::NoGpgv(_) | SignatureError::Keyring { .. } | SignatureError::File(_) => {
            Report::from_error(Code::SignatureInvalid, error)
        }
        SignatureError::NoSignature { .. } | SignatureError::NoneValid { .. } => {
            Report::from_error(Code::SignatureInvalid, error)
                .fix("check the pull spec and the keyring; do not use this release until you know the cause")
        }
    }
}
