//! `hardway bmc`: the machines of provider bare-metal, through their controllers or by hand.
//!
//! The install runs these commands as its own steps. The login is read here, from the file that the inventory names, and
//! appears neither on a command line nor in the journal.

mod by_hand;

use std::path::PathBuf;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Host, Provider};
use hardway_base::Secret;
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings, HostFacts};
use hardway_machines::redfish::{Bmc, BootFrom, Controller, Power, RedfishError};
use serde_json::json;

use crate::cli::{BmcArgs, BmcVerb, Format, Global};
use crate::inputs::{InputFiles, Workdir};
use crate::journal::history;
use crate::machines::{self, HostedSite};
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::server::{media_paths, path_of_iso};
use crate::terminal::Output;

/// One verb for one machine.
pub(crate) fn run(global: &Global, args: &BmcArgs, out: &Output) -> Result<Exit, Report> {
    let site = Site::open(global, out)?;
    match &args.verb {
        BmcVerb::ByHand { host } => by_hand::run(&site, host.as_deref()),
        BmcVerb::Seen(host) => by_hand::seen(&site, site.host(&host.name)?),
        BmcVerb::BootOnceCd(host) => site.ask(&host.name, Wish::Boot(BootFrom::VirtualCd), out),
        BmcVerb::BootOncePxe(host) => site.ask(&host.name, Wish::Boot(BootFrom::Network), out),
        BmcVerb::Eject(host) => site.ask(&host.name, Wish::Eject, out),
        BmcVerb::Insert(host) => site.ask(&host.name, Wish::Insert, out),
        BmcVerb::PowerOff(host) => site.ask(&host.name, Wish::Power(Power::Off), out),
        BmcVerb::PowerOn(host) => site.ask(&host.name, Wish::Power(Power::On), out),
        BmcVerb::ShutDown(host) => site.ask(&host.name, Wish::ShutDown, out),
        BmcVerb::Status { host, output } => site.ask(&host.name, Wish::Status(*output), out),
    }
}

const OTHER_PROVIDER: &str = "`hardway bmc` works with machines.provider bare-metal only";

/// The working folder of machines that are there.
struct Site {
    workdir: Workdir,
    cluster: Cluster,
    settings: BareMetalSettings,
}

/// What is asked of a controller.
#[derive(Clone, Copy)]
enum Wish {
    Boot(BootFrom),
    Eject,
    Insert,
    Power(Power),
    ShutDown,
    Status(Format),
}

impl Site {
    fn open(global: &Global, out: &Output) -> Result<Self, Report> {
        let workdir = Workdir::open(&global.dir)?;
        if let Some(HostedSite { file, cluster }) = HostedSite::open(&workdir)? {
            if cluster.inventory.machines.provider != Provider::BareMetal {
                return Err(Report::new(Code::Usage, OTHER_PROVIDER));
            }
            let settings =
                BareMetalSettings::read(&cluster).map_err(|violations| file.invalid(violations))?;
            return Ok(Self { workdir, cluster, settings });
        }
        let files = InputFiles::open(&workdir)?;
        let checked = Checked::of(&workdir, &files, Reach::Kept, out)?;
        if checked.inventory.machines.provider != Provider::BareMetal {
            return Err(Report::new(Code::Usage, OTHER_PROVIDER));
        }
        let cluster = project::cluster_of(&workdir, checked)?;
        let settings =
            BareMetalSettings::read(&cluster).map_err(|violations| files.in_inventory(violations))?;
        Ok(Self { workdir, cluster, settings })
    }

    fn host(&self, name: &str) -> Result<&Host, Report> {
        let hosts = &self.cluster.inventory.hosts;
        hosts.iter().find(|host| host.name == name).ok_or_else(|| {
            let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            Report::new(Code::Usage, format!("no host {name:?} in the inventory"))
                .fix(format!("hosts in the inventory: {}", names.join(", ")))
        })
    }

    fn stage(&self) -> Result<InstallStage, Report> {
        Ok(machines::stage(&self.cluster, &history(&self.workdir)?))
    }

    fn provider(&self) -> BareMetal {
        BareMetal {
            cluster: self.cluster.clone(),
            settings: self.settings.clone(),
            program: PathBuf::from("hardway"),
            folder: self.workdir.path(""),
            stage: InstallStage::Bootstrapping,
            facts: HostFacts::default(),
        }
    }

    fn ask(&self, name: &str, wish: Wish, out: &Output) -> Result<Exit, Report> {
        let host = self.host(name)?;
        let bmc = self.controller(host)?;
        let iso = match wish {
            Wish::Insert => self.iso_url(host)?,
            _ => Secret::new(""),
        };
        let told = runtime::run("asking the controller", async {
            carry_out(&bmc, wish, &iso).await.map_err(|error| failed(host, &error))
        })?;
        if let Some((text, value)) = told {
            match wish {
                Wish::Status(Format::Text) => out.data(&text),
                Wish::Status(format) => out.value(&value, format),
                _ => {}
            }
        }
        Ok(Exit::Done)
    }

    /// Where the controller fetches a host's medium.
    fn iso_url(&self, host: &Host) -> Result<Secret, Report> {
        let path = path_of_iso(&self.workdir, &media_paths(&self.workdir)?, &host.name)?;
        self.settings.iso_url(&host.name, path.as_ref()).ok_or_else(|| {
            let what = format!(
                "no current medium for {}: none was made, or the host has joined or was removed since",
                host.name
            );
            Report::new(Code::MediaUnusable, what).fix(format!("hardway media iso --host {}", host.name))
        })
    }

    fn controller(&self, host: &Host) -> Result<Bmc, Report> {
        let Some(settings) = self.settings.controllers.get(&host.name) else {
            let what = format!("inventory.yaml has no management controller for {}", host.name);
            return Err(Report::new(Code::Usage, what).fix(format!(
                "set machines.bare-metal.hosts.{0}.bmc, or boot it by hand: hardway bmc by-hand --host {0}",
                host.name
            )));
        };
        settings.open(&self.workdir.path("")).map_err(|error| {
            let fix = error.fix(&self.workdir.path("").join(&settings.password_file));
            Report::from_error(Code::BmcFailed, &error).exit(Exit::Config).fix(fix)
        })
    }
}

/// Text and data of a status; nothing of what only does.
async fn carry_out(
    bmc: &Bmc,
    wish: Wish,
    iso: &Secret,
) -> Result<Option<(String, serde_json::Value)>, RedfishError> {
    let controller = Controller::connect(bmc).await?;
    let result = async {
        match wish {
            Wish::Boot(from) => controller.boot_once(from).await.map(|()| None),
            Wish::Eject => controller.eject().await.map(|()| None),
            Wish::Insert => controller.insert(iso).await.map(|()| None),
            Wish::Power(power) => controller.set_power(power).await.map(|()| None),
            Wish::ShutDown => controller.shut_down().await.map(|()| None),
            Wish::Status(_) => {
                controller.status().await.map(|status| Some((status.to_string(), json!(status))))
            }
        }
    }
    .await;
    // A session that cannot be given back ends by itself.
    let _ = controller.close().await;
    result
}

fn failed(host: &Host, error: &RedfishError) -> Report {
    let report = Report::from_error(Code::BmcFailed, error).fix(error.fix());
    Report { what: format!("the controller of {}: {}", host.name, report.what), ..report }
}
