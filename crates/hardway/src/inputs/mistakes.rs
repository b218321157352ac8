//! Mistakes in the two input files, and those that can be seen before the release is known.

use std::collections::BTreeSet;

use hardway_assets::Cluster;
use hardway_assets::install_config::{InstallConfig, Rules};
use hardway_assets::inventory::{Errors, Inventory, document, read_both};
use hardway_assets::release_payload::{ReleaseWord, SAMPLE, VersionContract};
use hardway_assets::schema::Read;
use hardway_assets::secrets::SecretBundle;
use hardway_assets::violation::{FieldErrorKind, Violation};
use hardway_assets::yaml;
use hardway_base::counted;
use hardway_machines::providers;
use hardway_release::PullSpec;
use jiff::Timestamp;

use super::{InputFile, InputFiles};
use crate::report::{Code, Report};

/// `release.image`, where it is a text. Anything else is the inventory's mistake, and is told with the others.
pub(crate) fn release_image(inventory: &InputFile) -> Option<String> {
    match &document(&inventory.text.0).ok()?.get("release")?.get("image")?.value {
        yaml::Value::String(image) => Some(image.clone()),
        _ => None,
    }
}

/// Both files, without a mistake in them.
pub(crate) struct FilesRead {
    pub(crate) config: Read<InstallConfig>,
    pub(crate) inventory: Read<Inventory>,
    /// What the machine provider still has to be told before machines can boot. Files can be made without.
    pub(crate) unready: Vec<Violation>,
}

/// What the files are read for: which mistakes are worth telling. It does not decide whether there are any: what machines lack is no
/// mistake of the files, is handed out as [`FilesRead::unready`], and is refused by whoever plans machines (`machines::provider_of`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Files are made: what only machines lack is left out.
    Files,
    /// Machines are made or looked for: what they lack is told beside the mistakes.
    Machines,
}

/// Reads both files, and has the machine provider look at its settings: every mistake at once.
pub(super) fn examine(
    config: &InputFile,
    inventory: &InputFile,
    rules: Rules,
    purpose: Purpose,
) -> Result<FilesRead, Errors> {
    let read = read_both(&config.text.0, &inventory.text.0, rules);
    let (told, understood) = match &read {
        Ok((config, inventory)) => (&[][..], Some((&config.value, &inventory.value))),
        Err(errors) => (&errors.inventory[..], errors.understood.as_deref().map(|(c, i)| (c, i))),
    };
    let found = understood.map(|(config, inventory)| of_provider(config, inventory)).unwrap_or_default();
    let node = document(&inventory.text.0).ok();
    let place = |violation: Violation| {
        let span = node.as_ref().map(|node| node.locate(&violation.path));
        Violation { span, ..violation }
    };
    let told: BTreeSet<&str> = told.iter().map(|told| told.path.as_str()).collect();
    let is_told = |violation: &Violation| is_at(&violation.path, &told);
    let found = found.into_iter().filter(|violation| !is_told(violation)).map(place);
    let (unready, mut wrong): (Vec<_>, Vec<_>) = found.partition(is_unready);
    let mut errors = match read {
        Ok((config, inventory)) if wrong.is_empty() => return Ok(FilesRead { config, inventory, unready }),
        Ok((config, inventory)) => Errors {
            odd_install_config: config.warnings,
            odd_inventory: inventory.warnings,
            ..Errors::default()
        },
        Err(errors) => errors,
    };
    wrong.extend(unready.into_iter().filter(|_| purpose == Purpose::Machines));
    errors.inventory.extend(wrong);
    Err(errors)
}

/// What the provider says. The cluster's identity decides about nothing but the length of names: any will do.
fn of_provider(config: &InstallConfig, inventory: &Inventory) -> Vec<Violation> {
    let mut secrets = SecretBundle::default();
    secrets.draw_identity(&config.metadata.name, Timestamp::UNIX_EPOCH);
    let Ok(identity) = secrets.identity() else { return Vec::new() };
    providers::mistakes(&Cluster { config: config.clone(), inventory: inventory.clone(), identity })
}

/// Whether a value, or what it stands in, was complained about already.
fn is_at(path: &str, told: &BTreeSet<&str>) -> bool {
    let outer = path.match_indices(['.', '[']).map(|(end, _)| &path[..end]);
    outer.chain([path]).any(|path| !path.is_empty() && told.contains(path))
}

/// Something of a host, or around it, that only whoever boots machines has to know.
fn is_unready(violation: &Violation) -> bool {
    violation.kind == FieldErrorKind::Required && !violation.path.starts_with("machines.")
}

/// What is missing before machines can boot, in a line.
pub(crate) fn unready_note(inventory: &InputFile, unready: &[Violation]) -> Option<String> {
    let (first, others) = unready.split_first()?;
    let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
    Some(format!(
        "{} is complete enough to make files, but not to boot machines: {first}{more}; `hardway check` lists all",
        inventory.path
    ))
}

/// Stops at mistakes that can be seen without the release: a registry is not asked for nothing.
pub(crate) fn check_before(files: &InputFiles, image: Option<&str>, is_fips: bool) -> Result<(), Report> {
    let Some(image) = image.filter(|image| *image != SAMPLE) else { return Ok(()) };
    let word = ReleaseWord::read(image);
    let spec = if word.is_none() { Some(image.parse::<PullSpec>()) } else { None };
    let tag = spec.as_ref().and_then(|spec| spec.as_ref().ok()?.tag.as_deref());
    let named = tag.and_then(version_in).map(str::to_owned);
    let version = word.and_then(|word| word.like()).or(named);
    if version.is_none() && !matches!(spec, Some(Err(_))) {
        return Ok(());
    }
    let rules = Rules::for_version(version.as_deref().unwrap_or_default())
        .of_architecture(tag.map(architecture_in).unwrap_or_default())
        .on_fips_host(is_fips);
    let mut errors = files.examine(rules, Purpose::Files).err().unwrap_or_default();
    if let Some(Err(error)) = spec
        && !errors.inventory.iter().any(|violation| violation.path == IMAGE)
    {
        let span = yaml::read(&files.inventory.text.0).ok().map(|node| node.locate(IMAGE));
        let violation = Violation::invalid(IMAGE, image, error.fault.to_string());
        errors.inventory.push(Violation { span, ..violation });
    }
    match errors.install_config.is_empty() && errors.inventory.is_empty() {
        true => Ok(()),
        false => Err(files.invalid(&errors)),
    }
}

const IMAGE: &str = "release.image";

/// What release tags end in after the version: the architecture, as `uname` has it, and Go's name of it.
const PLATFORMS: [(&str, &str); 6] = [
    ("-x86_64", "amd64"),
    ("-aarch64", "arm64"),
    ("-ppc64le", "ppc64le"),
    ("-s390x", "s390x"),
    ("-multi", "multi"),
    ("", ""),
];

/// The version that a tag such as `4.18.1-x86_64` names.
pub(crate) fn version_in(tag: &str) -> Option<&str> {
    let version = PLATFORMS.iter().find_map(|(platform, _)| tag.strip_suffix(platform))?;
    VersionContract::new(version).is_ok().then_some(version)
}

/// The architecture that a tag such as `4.18.1-aarch64` names; empty if it names none.
pub(crate) fn architecture_in(tag: &str) -> &'static str {
    PLATFORMS.iter().find(|(platform, _)| tag.ends_with(platform)).map_or("", |(_, name)| name)
}

/// Every mistake of both files, each in its place, and what is odd beside them.
pub(crate) fn invalid(config: &InputFile, inventory: &InputFile, errors: &Errors) -> Report {
    let (in_config, in_inventory) = (&errors.install_config, &errors.inventory);
    let count = in_config.len() + in_inventory.len();
    let mistakes = counted(count, "mistake");
    let report = if in_config.is_empty() {
        Report::new(Code::InventoryInvalid, format!("{mistakes} in {}", inventory.path))
    } else if in_inventory.is_empty() {
        Report::new(Code::ConfigInvalid, format!("{mistakes} in {}", config.path))
    } else {
        Report::new(Code::ConfigInvalid, format!("{mistakes} in {} and {}", config.path, inventory.path))
    };
    report
        .evidence(in_config.iter().map(|violation| config.error(violation)))
        .evidence(in_inventory.iter().map(|violation| inventory.error(violation)))
        .evidence(errors.odd_install_config.iter().map(|violation| config.warning(violation)))
        .evidence(errors.odd_inventory.iter().map(|violation| inventory.warning(violation)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_version_and_architecture() {
        for (tag, version, architecture) in [
            ("4.18.1-x86_64", Some("4.18.1"), "amd64"),
            ("4.20.0-rc.1-aarch64", Some("4.20.0-rc.1"), "arm64"),
            ("4.19.2-multi", Some("4.19.2"), "multi"),
            ("4.18.0-okd-scos.3", Some("4.18.0-okd-scos.3"), ""),
            ("latest", None, ""),
        ] {
            assert_eq!((version_in(tag), architecture_in(tag)), (version, architecture), "{tag}");
        }
    }
}
