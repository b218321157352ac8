//! Both input files without a mistake, and the release they name.

use hardway_assets::graph::Stale;
use hardway_assets::install_config::{InstallConfig, Rules, architecture};
use hardway_assets::inventory::{Errors, Inventory};
use hardway_assets::release_payload::SAMPLE;
use hardway_assets::violation::Violation;
use hardway_assets::yaml::Node;

use crate::inputs::{
    InputFile, InputFiles, Purpose, Workdir, check_before, invalid, release_image, unready_note,
};
use crate::release::{self, Chosen, Reach};
use crate::report::Report;
use crate::terminal::Output;

/// Both files, checked, and the release.
pub(crate) struct Checked {
    pub(crate) config: InstallConfig,
    pub(crate) inventory: Inventory,
    pub(crate) release: Chosen,
    /// What machines need to boot that the inventory does not say yet, in a line.
    pub(crate) unready: Option<String>,
    config_file: InputFile,
    config_node: Node,
}

impl Checked {
    /// Reads and checks; shows every mistake of both files at once. Which fields exist depends on the version of the
    /// release: what its name tells of that is enough to stop at mistakes before a registry is asked.
    pub(crate) fn load(workdir: &Workdir, reach: Reach<'_>, out: &Output) -> Result<Self, Report> {
        Self::of(workdir, &InputFiles::open(workdir)?, reach, out)
    }

    /// The same, of files that were read before.
    pub(crate) fn of(
        workdir: &Workdir,
        files: &InputFiles,
        reach: Reach<'_>,
        out: &Output,
    ) -> Result<Self, Report> {
        let (checked, warnings) = Self::with_warnings(workdir, files, reach, out)?;
        warnings.iter().for_each(|warning| out.finding(warning));
        Ok(checked)
    }

    /// The same for somebody who has told what is odd, or does so later.
    pub(crate) fn with_warnings(
        workdir: &Workdir,
        files: &InputFiles,
        reach: Reach<'_>,
        out: &Output,
    ) -> Result<(Self, Vec<String>), Report> {
        let InputFiles { config, inventory, .. } = files;
        let image = release_image(inventory);
        let is_fips = host_is_fips(out);
        check_before(files, image.as_deref(), is_fips)?;
        let release = Chosen::find(workdir, config, image.as_deref(), reach, out)?;
        let rules = Rules::for_version(&release.payload.version)
            .of_architecture(&release.payload.architecture)
            .on_fips_host(is_fips);
        let read = files.check(rules, Purpose::Files)?;
        let of_config = read.config.warnings.iter().map(|warning| config.warning(warning));
        let of_inventory = read.inventory.warnings.iter().map(|warning| inventory.warning(warning));
        let warnings = of_config.chain(of_inventory).collect();
        let checked = Self {
            config: read.config.value.clone(),
            inventory: read.inventory.value.clone(),
            release,
            unready: unready_note(inventory, &read.unready),
            config_file: config.clone(),
            config_node: read.config.node.clone(),
        };
        checked.refuse(architecture(&checked.config, &checked.release.payload.architecture))?;
        Ok((checked, warnings))
    }

    /// Why the release has to be fetched before anything can be said, if so.
    pub(crate) fn reason_to_fetch(workdir: &Workdir, files: &InputFiles) -> Result<Option<Stale>, Report> {
        let image = release_image(&files.inventory).filter(|image| image != SAMPLE);
        let Some(image) = image else { return Ok(None) };
        check_before(files, Some(&image), true)?;
        release::reason_to_fetch(workdir, &image)
    }

    /// An error when there are violations of install-config.yaml.
    pub(crate) fn refuse(&self, violations: Vec<Violation>) -> Result<(), Report> {
        if violations.is_empty() {
            return Ok(());
        }
        let placed: Vec<Violation> = violations
            .into_iter()
            .map(|violation| Violation { span: Some(self.config_node.locate(&violation.path)), ..violation })
            .collect();
        let errors = Errors { install_config: placed, ..Errors::default() };
        Err(invalid(&self.config_file, &self.config_file, &errors))
    }
}

/// Whether this host runs in FIPS mode, or its user takes that on themselves, with openshift-install's variable.
fn host_is_fips(out: &Output) -> bool {
    const SKIP: &str = "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION";
    if std::env::var_os(SKIP).is_some() {
        out.warn(&format!("{SKIP} is set: not checking whether this host may make keys for a FIPS cluster"));
        return true;
    }
    fs_err::read_to_string("/proc/sys/crypto/fips_enabled").is_ok_and(|text| text.trim() == "1")
}
