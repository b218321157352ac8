//! What phases need beside them while they run: the ignition server, the media server and the approver.

use std::io::ErrorKind;
use std::sync::Arc;

use hardway_assets::Cluster;
use hardway_base::error_sentence;
use hardway_cluster::approver::{Approver, News};
use hardway_cluster::csr_policy::{CsrVerdict, IgnitionEvidence, PolicySettings};
use hardway_cluster::leader_election::Standing;
use hardway_journal::{Entry, MediumRead};
use hardway_machines::ignition_server::ServerError;
use hardway_machines::media_server::MediaServer;
use hardway_machines::providers::{MediaAddress, Provider, fetches_config};

use super::Install;
use super::view::InstallView;
use crate::clock;
use crate::cluster::{self, ApproverHost, BackgroundApprover, DeclaredHere, approver_words};
use crate::project::Checked;
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::runtime;
use crate::server::{self, ServedFolder};
use crate::terminal::Log;

/// Begun when a phase first needs it, ended with the install.
#[derive(Default)]
pub(crate) struct Background {
    server: Option<server::Background>,
    media: Option<MediaServer>,
    approver: Option<BackgroundApprover>,
    /// A node from a stock pointer that was there before and comes again, since when.
    again: Option<(String, jiff::Timestamp)>,
}

impl Background {
    /// Machines can fetch their configs from now on, unless their media carry them.
    pub(crate) fn serve(&mut self, install: &Install) -> Result<(), Report> {
        if self.server.is_some() || !fetches_config(&install.cluster) {
            return Ok(());
        }
        let release_dir = install.options.make.release.release_dir.as_deref();
        let folder = ServedFolder::of(&install.dir, &install.inputs, release_dir, &install.out)?;
        let (view, log) = (install.view.clone(), install.log.clone());
        let options = server::ServeOptions::default();
        let server =
            server::Background::start(folder, install.journal.clone(), &options, move |event| match event {
                server::ServerEvent::Serving(url) | server::ServerEvent::Booting(url) => {
                    log.line(&format!("serving on {url}"))
                }
                server::ServerEvent::Happened(event) => view.event(&server::words(&event)),
                server::ServerEvent::Trouble(what) => view.event(&format!("ignition server: {what}")),
            })?;
        self.server = Some(server);
        Ok(())
    }

    /// Management controllers can fetch their machines' ISOs from now on, if that is for this computer to do: where the
    /// address is another's, or taken, somebody else serves them.
    pub(crate) fn serve_media(&mut self, install: &Install, provider: &dyn Provider) -> Result<(), Report> {
        let Some(MediaAddress { address, setting }) = provider.media_address() else { return Ok(()) };
        if self.media.is_some() {
            return Ok(());
        }
        let (journal, view) = (install.journal.clone(), install.view.clone());
        let note = move |read: &MediumRead| journal.append(&[Entry::of(clock::now(), read)]).map(drop);
        let trouble = move |what: &str| view.event(&format!("media: {what}"));
        let hosts = install.cluster.inventory.hosts.iter();
        let isos = hosts.map(|host| (host.name.clone(), server::iso(&install.workdir, &host.name))).collect();
        let paths = server::media_paths(&install.workdir)?;
        let starting = MediaServer::start(address, isos, paths, Box::new(note), Box::new(trouble));
        match runtime::block_on(starting)? {
            Ok(server) => self.media = Some(server),
            Err(error) if is_anothers(&error) => install
                .log
                .line(&format!("not serving media, another process does: {}", error_sentence(&error))),
            Err(error) => {
                let fix = format!("let hardway listen there, or change the port in {setting}");
                return Err(Report::from_error(Code::ServeFailed, &error).fix(fix));
            }
        }
        Ok(())
    }

    /// This node was there before, and its machine has no identity of its own: it is a new one, with a new key. To be said before
    /// anybody approves.
    pub(crate) fn expect_again(&mut self, node: &str) -> Result<(), Report> {
        self.again = Some((node.to_owned(), clock::second()));
        Ok(())
    }

    /// Expected nodes get their certificates from now on.
    pub(crate) fn approve(&mut self, install: &Install) -> Result<(), Report> {
        if self.approver.is_some() {
            return Ok(());
        }
        let reach = Reach::local(install.options.make.release.release_dir.as_deref());
        let checked = Checked::of(&install.workdir, &install.inputs, reach, &install.out)?;
        let expected = DeclaredHere::of(&install.workdir, checked)?;
        let rejoin = self.again.clone().into_iter().collect();
        let settings =
            PolicySettings { ignition: evidence(&install.cluster), rejoin, ..PolicySettings::default() };
        let client = install.block_on(cluster::folder_client(&install.workdir))?;
        let (teller, log, view) = (install.view.clone(), install.log.clone(), install.view.clone());
        let approver = Approver {
            client,
            folder: install.dir.clone(),
            fetches: None,
            declared: expected.now(),
            settings,
            identity: cluster::identity(),
            standing: Standing::Principal,
            dry_run: false,
            now: Arc::new(clock::now),
            tell: Arc::new(move |news| tell(news, teller.as_ref(), &log)),
        };
        let warn = move |what: &str| view.event(&format!("approver: {what}"));
        self.approver = Some(BackgroundApprover::start(approver, expected, warn)?);
        Ok(())
    }
}

/// The address is not this computer's, or somebody else has it.
fn is_anothers(error: &ServerError) -> bool {
    let ServerError::Listen { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable)
}

/// Every machine of an install has its config from this very server, and only then may it come in. But for a node that installs
/// itself: that carries its config whole, and is known by the identity in it.
fn evidence(cluster: &Cluster) -> IgnitionEvidence {
    match cluster.is_bootstrap_in_place() {
        true => IgnitionEvidence::IfServed,
        false => IgnitionEvidence::Required,
    }
}

fn tell(news: News<'_>, view: &dyn InstallView, log: &Log) {
    let words = approver_words(news, ApproverHost::Install).unwrap_or_default();
    match news {
        News::Decided(outcome) => {
            let decided = &outcome.decided;
            let (word, node, reason) = (decided.verdict.word(), &decided.node, &decided.reason);
            let line = format!("certificate request of {node}: {word}: {reason}");
            match decided.verdict {
                CsrVerdict::Approve => view.event(&line),
                _ => view.event(&format!("{line}: {}", decided.evidence.join("; "))),
            }
        }
        News::Joined(_) | News::Following(_) => view.event(&words),
        News::Leading | News::Trouble(_) => log.line(&words),
    }
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;
    use hardway_assets::install_config::BootstrapInPlace;

    use super::*;

    #[test]
    fn a_node_that_carries_its_config_is_not_asked_where_it_got_it() {
        let mut cluster = example::cluster();
        assert_eq!(evidence(&cluster), IgnitionEvidence::Required);
        cluster.config.bootstrap_in_place =
            Some(BootstrapInPlace { installation_disk: "/dev/sda".to_owned() });
        assert_eq!(evidence(&cluster), IgnitionEvidence::IfServed);
    }
}
