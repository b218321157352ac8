//! `hardway release bundle`: one file to carry.

use std::path::{Path, PathBuf};

use hardway_assets::release_payload::SAMPLE;
use hardway_base::shell_word;
use hardway_release::bundle::{
    Bundle, BundleContents, BundleError, BundlePlan, BundleWishes, Bundles, write,
};
use hardway_release::{BlobCache, Contents, Digest, FetchOptions, PullSpec};
use indicatif::HumanBytes;
use serde_json::{Value, json};

use super::bundle_media::wanted_media;
use super::mirror::image_report;
use super::{Opened, media, of_inventory, others};
use crate::cli::{BundleArgs, Format, Global};
use crate::release::{SignatureOptions, check_signature, checked_stores, signature_report, unusable};
use crate::report::{Code, Exit, Report, is_there};
use crate::runtime;
use crate::terminal::{Downloads, Output};

pub(super) fn run(global: &Global, args: &BundleArgs, out: &Output) -> Result<Exit, Report> {
    match &args.to {
        Some(to) => make(global, args, to, out),
        None => verify(args, out),
    }
}

/// Bundles that were read to their ends and found good, and that somebody trusted has signed where that is asked for.
pub(super) fn opened(
    files: &[PathBuf],
    signature: &SignatureOptions,
    out: &Output,
) -> Result<Bundles, Report> {
    files.iter().try_for_each(|file| is_there(file))?;
    let bundles = Bundles::open(files).map_err(|error| bundle_report(&error))?;
    bundles.check(&Downloads::new(out)).map_err(|error| bundle_report(&error))?;
    let io = |error: std::io::Error| Report::from_error(Code::WorkdirUnusable, &error);
    let folder = tempfile::tempdir().map_err(io)?;
    bundles.write_signatures(folder.path()).map_err(|error| bundle_report(&error))?;
    let mut wanted = signature.clone();
    if wanted.files.is_empty() && wanted.stores.is_empty() {
        wanted.stores = vec![folder.path().display().to_string()];
    }
    let options = FetchOptions::new(BlobCache::at(folder.path()));
    for bundle in bundles.all() {
        let image: PullSpec = bundle.contents().release.parse().map_err(|error| unusable(&error))?;
        check_signature(&wanted, &image, image.digest.as_ref(), &options, out)?;
    }
    Ok(bundles)
}

fn make(global: &Global, args: &BundleArgs, to: &Path, out: &Output) -> Result<Exit, Report> {
    let have: Vec<Bundle> = args
        .differential
        .iter()
        .map(|path| Bundle::open(path).map_err(|error| bundle_report(&error)))
        .collect::<Result<_, _>>()?;
    let image = match &args.pull_spec {
        Some(image) => image.clone(),
        None => of_inventory(global)?,
    };
    if image == SAMPLE {
        return Err(Report::new(
            Code::Usage,
            "the sample release is in no registry: there is nothing to bundle",
        ));
    }
    let opened = Opened::fetch(global, &image, &args.access, Contents::Manifests, None, out)?;
    let program = match &args.program {
        Some(program) => {
            is_there(program)?;
            program.clone()
        }
        None => std::env::current_exe().map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?,
    };
    let wishes = BundleWishes {
        others: others(global, out)?.into_iter().map(|own| own.image).collect(),
        program,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        signatures: checked_stores(&(&args.access.signature).into()),
        media: wanted_media(global, args, &opened, out)?,
        media_mirrors: args.media_mirror.clone(),
    };
    let Opened { release, options, progress } = &opened;
    let plan = BundlePlan::make(release, &wishes, options, progress);
    let mut plan = runtime::block_on(plan)?.map_err(|error| bundle_report(&error))?;
    plan.leave_out(&have);
    announce(plan.contents(), plan.length(), out);
    let written =
        runtime::block_on(write(&plan, to, options, progress))?.map_err(|error| bundle_report(&error))?;
    if written.kept > 0 {
        out.info(&format!("{} of {} parts were there already", written.kept, written.parts));
    }
    let contents = plan.contents();
    let size = HumanBytes(written.bytes);
    out.info(&format!("{} holds release {}: {size}, {}", to.display(), contents.version, written.id));
    if args.output == Format::Text {
        next(to, &args.differential, out);
    } else {
        out.value(&told(to, contents, &written.id, written.bytes), args.output);
    }
    Ok(Exit::Done)
}

fn announce(contents: &BundleContents, length: u64, out: &Output) {
    let images = contents.images.iter().filter(|image| !image.tag.ends_with(".sig")).count();
    out.info(&format!(
        "bundling release {}: {images} images, {} parts, {}",
        contents.version,
        contents.parts.len(),
        HumanBytes(length)
    ));
    if !contents.elsewhere.is_empty() {
        let bytes: u64 = contents.elsewhere.iter().map(|part| part.size).sum();
        let (count, bytes) = (contents.elsewhere.len(), HumanBytes(bytes));
        let versions: Vec<&str> = contents.needs.iter().map(|needed| needed.version.as_str()).collect();
        out.info(&format!(
            "leaving out {count} parts, {bytes}: the bundle of {} has them",
            versions.join(", ")
        ));
    }
    if contents.signatures().next().is_none() {
        out.warn("the bundle contains no signature of the release: pass --keyring, or nobody can check on the other side who made it");
    }
}

fn next(to: &Path, differential: &[PathBuf], out: &Output) {
    let name = |path: &PathBuf| shell_word(&path.file_name().unwrap_or_default().to_string_lossy());
    let files: Vec<String> = std::iter::once(&to.to_owned()).chain(differential).map(name).collect();
    let also = if files.len() > 1 { ", with those that it was made after" } else { "" };
    out.info(&format!(
        "carry it to the other side{also}, then run: tar xf {} hardway && ./hardway release serve {}",
        files[0],
        files.join(" ")
    ));
}

fn verify(args: &BundleArgs, out: &Output) -> Result<Exit, Report> {
    let bundles = opened(&args.verify, &(&args.access.signature).into(), out)?;
    if args.output != Format::Text {
        let value = |bundle: &Bundle| told(bundle.path(), bundle.contents(), bundle.id(), bundle.length());
        out.value(&bundles.all().iter().map(value).collect::<Value>(), args.output);
        return Ok(Exit::Done);
    }
    for bundle in bundles.all() {
        out.data(&text(bundle));
    }
    Ok(Exit::Done)
}

fn text(bundle: &Bundle) -> String {
    let contents = bundle.contents();
    let signatures = contents.signatures().count();
    let mut rows = vec![
        ("bundle", bundle.path().display().to_string()),
        ("id", bundle.id().to_string()),
        ("version", contents.version.clone()),
        ("release", contents.release.clone()),
        ("architecture", contents.architecture.clone()),
        ("size", format!("{} in {} parts, all intact", HumanBytes(bundle.length()), contents.parts.len())),
        ("signatures", signatures.to_string()),
    ];
    rows.extend(contents.media().map(|(name, _)| ("boot image", name.to_owned())));
    for needed in &contents.needs {
        let count = contents.elsewhere.len();
        rows.push(("needs", format!("the bundle of {} ({}), for {count} parts", needed.version, needed.id)));
    }
    let mut text: String = rows.iter().map(|(key, value)| format!("{key:13} {value}\n")).collect();
    text.push('\n');
    let width = contents.images.iter().map(|image| image.name.len()).max().unwrap_or_default();
    for image in &contents.images {
        text += &format!("{:width$}  {}@{}\n", image.name, image.source, image.digest);
    }
    text
}

fn told(path: &Path, contents: &BundleContents, id: &Digest, bytes: u64) -> Value {
    let mut told = json!(contents);
    told["file"] = path.display().to_string().into();
    told["id"] = id.to_string().into();
    told["bytes"] = bytes.into();
    told
}

/// What is wrong with a bundle, as a person reads it.
pub(super) fn bundle_report(error: &BundleError) -> Report {
    let damaged = || Report::from_error(Code::ReleaseBundleUnusable, error);
    match error {
        BundleError::NotBundle { .. } => damaged().fix("name a file that `hardway release bundle` wrote"),
        BundleError::Cut { .. } | BundleError::Damaged { .. } => damaged().fix(
            "copy the file again; `hardway release bundle --verify FILE` shows whether the original is intact",
        ),
        BundleError::Elsewhere { .. } => damaged().fix("also name that bundle, after this one"),
        BundleError::Incomplete { .. } => damaged().fix("make the bundle again"),
        BundleError::Occupied { .. } => {
            Report::from_error(Code::Usage, error).fix("name another file with --to, or remove that one")
        }
        BundleError::Locked(_) => {
            Report::from_error(Code::WorkdirLocked, error).fix("wait for it, or name another file with --to")
        }
        BundleError::Name(_) => unusable(error),
        BundleError::Images(error) => image_report(error),
        BundleError::Media(error) => media::failed(error),
        BundleError::Signature(error) => signature_report(error),
        BundleError::File(_) => Report::from_error(Code::WorkdirUnusable, error),
    }
}
