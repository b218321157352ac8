//! Steps of day two in a folder's cluster: planned, carried out, checked, taken back.

mod checks;
mod undo;

use std::collections::BTreeMap;
use std::path::Path;

use hardway_assets::day_two::{
    DayTwoInputs, DayTwoObject, DayTwoStep, NodeEffect, files as manifest_files, objects, provider_names,
};
use hardway_assets::secrets::TOKEN_KEY;
use hardway_assets::violation::{FieldErrorKind, Violation};
use hardway_assets::{Cluster, File, yaml};
use hardway_base::Secret;
use hardway_cluster::api_error::sentence;
use hardway_cluster::day_two::{
    AskError, Forecast, Objects, ObjectsError, Planned, PlannedObject, ask_ldap, ask_open_id, verify_newcomer,
};
use hardway_journal::{
    DayTwoApplied, DayTwoBegun, DayTwoObject as Recorded, Entry, FILE_NAME, Fact, Former, Journal,
};
use kube::Client;
use serde_json::json;

use super::{Access, Live, client};
use crate::clock;
use crate::inputs::{InputFiles, Workdir};
use crate::journal::{history, journal_report};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

pub(crate) use checks::{StepCheck, check};
pub(crate) use undo::{undo, undo_text};

/// A step of a cluster that can be asked.
pub(crate) struct DayTwo<'w> {
    workdir: &'w Workdir,
    pub(crate) step: DayTwoStep,
    live: Live,
    client: Client,
    files: BTreeMap<String, Secret>,
    objects: Vec<DayTwoObject>,
}

/// What a step would do.
pub(crate) struct StepPlan {
    pub(crate) objects: Vec<PlannedObject>,
    /// Nodes that it concerns, if any object would change.
    pub(crate) nodes: Option<(NodeEffect, Forecast)>,
    /// What a person should know before.
    pub(crate) notes: Vec<String>,
}

impl StepPlan {
    /// Whether nothing would happen.
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.iter().all(|object| object.planned == Planned::Kept)
    }
}

/// How a step is carried out.
#[derive(Debug, Default)]
pub(crate) struct ApplyOptions {
    /// Fields that somebody else has set are overwritten.
    pub(crate) take_over: bool,
    /// A person has agreed to reboots, or to what cannot be undone.
    pub(crate) is_agreed: bool,
    /// Of the administrator.
    pub(crate) token: Option<Secret>,
}

impl<'w> DayTwo<'w> {
    /// Reads settings and the files they name, and makes the step's objects. Must run inside an async runtime.
    pub(crate) async fn open(
        workdir: &'w Workdir,
        access: &Access,
        step: DayTwoStep,
        out: &Output,
    ) -> Result<Self, Report> {
        let inputs = InputFiles::open(workdir)?;
        let live = Live::open_with(workdir, access, &inputs, out).await?;
        let cluster = live.cluster.as_ref().ok_or_else(no_inputs)?;
        let settings = &cluster.inventory.day_two;
        if let Some(section) = step.row().section.filter(|_| !settings.has(step)) {
            let detail = format!("step {} has no settings", step.name());
            let violation = Violation::required(format!("day2.{section}"), detail).fix(format!(
                "add the section; hardway explain inventory day2.{section} says what goes into it"
            ));
            return Err(inputs.in_inventory(vec![violation]));
        }
        let (files, mut wrong) = read_files(workdir, cluster, step, out);
        let secrets = workdir.secrets()?;
        let salt_key =
            secrets.get(TOKEN_KEY).map_err(|error| Report::from_error(Code::SecretsDamaged, &error))?;
        let made = DayTwoInputs { cluster, files: &files, salt_key: salt_key.expose(), now: clock::now() };
        let objects = objects(step, &made).unwrap_or_else(|violations| {
            wrong.extend(violations);
            Vec::new()
        });
        if !wrong.is_empty() {
            return Err(inputs.in_inventory(wrong));
        }
        let client = client(live.config.clone())?;
        Ok(Self { workdir, step, live, client, files, objects })
    }

    fn cluster(&self) -> Result<&Cluster, Report> {
        self.live.cluster.as_ref().ok_or_else(no_inputs)
    }

    /// What would happen. Nothing is changed.
    pub(crate) async fn plan(&self, take_over: bool) -> Result<StepPlan, Report> {
        let managed = Objects::of_step(self.client.clone(), self.step.name());
        let row = self.step.row();
        let mut planned = Vec::new();
        for object in &self.objects {
            let one = managed.plan(&object.value, take_over || row.takes_over).await;
            planned.push(one.map_err(|error| failed(&error))?);
        }
        let mut plan = StepPlan { objects: planned, nodes: None, notes: Vec::new() };
        if row.nodes != NodeEffect::Nothing && !plan.is_empty() {
            let forecast = Forecast::ask(&self.client).await;
            let forecast = forecast.map_err(|error| Report::from_error(Code::DayTwoFailed, &error))?;
            plan.nodes = Some((row.nodes, forecast));
        }
        plan.notes.extend(self.asked().await?.into_iter().map(|error| error.to_string()));
        let settings = &self.cluster()?.inventory.day_two;
        let is_api = settings.certificates.as_ref().is_some_and(|both| both.api.is_some());
        if self.step == DayTwoStep::Certificates && is_api {
            plan.notes.push(
                "auth/kubeconfig trusts the cluster's own CAs alone: afterwards, put the CA of the new certificate into a copy of it and use that \
                 with --kubeconfig"
                    .to_owned(),
            );
        }
        Ok(plan)
    }

    /// Asks the servers that people will log in with. One that cannot be asked from here is told; one that answers wrongly ends it.
    async fn asked(&self) -> Result<Vec<AskError>, Report> {
        let Some(identity) = self.cluster()?.inventory.day_two.identity.as_ref() else {
            return Ok(Vec::new());
        };
        if self.step != DayTwoStep::Identity {
            return Ok(Vec::new());
        }
        let mut answers = Vec::new();
        if let Some(open_id) = &identity.open_id {
            let ca = open_id.ca_file.as_ref().and_then(|path| self.files.get(path));
            answers.push(("day2.identity.openID", ask_open_id(&open_id.issuer, ca).await));
        }
        if let Some(ldap) = &identity.ldap {
            let password = ldap
                .bind_password_file
                .as_ref()
                .and_then(|path| self.files.get(path))
                .map(|secret| Secret::new(secret.expose_text().trim_end_matches(['\n', '\r'])));
            let bind = ldap.bind_dn.as_deref().zip(password.as_ref());
            let ca = ldap.ca_file.as_ref().map(|path| self.workdir.path("").join(path));
            let scratch = tempfile::tempdir()
                .map_err(|error| Report::new(Code::DayTwoFailed, format!("no temporary folder: {error}")))?;
            answers
                .push(("day2.identity.ldap", ask_ldap(&ldap.url, bind, ca.as_deref(), scratch.path()).await));
        }
        let mut unasked = Vec::new();
        for (section, answer) in answers {
            match answer {
                Ok(()) => {}
                Err(error @ AskError::Unasked(_)) => unasked.push(error),
                Err(error) => {
                    return Err(Report::from_error(Code::DayTwoFailed, &error).fix(format!(
                        "people could not log in; correct {section} in inventory.yaml, or the server"
                    )));
                }
            }
        }
        Ok(unasked)
    }

    /// Carries the step out. What was there before is in the folder and in the journal before anything is changed.
    pub(crate) async fn apply(&self, options: &ApplyOptions, out: &Output) -> Result<(), Report> {
        if self.step == DayTwoStep::KubeadminGone {
            return self.kubeadmin_gone(options, out).await;
        }
        let row = self.step.row();
        let plan = self.plan(options.take_over).await?;
        plan.notes.iter().for_each(|note| out.warn(note));
        self.refuse(&plan)?;
        for file in manifest_files(self.step, &self.objects) {
            self.workdir.write(&file)?;
        }
        let known = history(self.workdir)?.day_two.step(row.name).cloned();
        if plan.is_empty() && known.as_ref().is_some_and(|state| state.applied.is_some()) {
            out.info(&format!("{}: nothing to change", row.name));
            return Ok(());
        }
        if matches!(plan.nodes, Some((NodeEffect::Reboots, _))) && !options.is_agreed {
            let what = format!("{} reboots nodes: nothing was changed", row.name);
            return Err(Report::new(Code::DayTwoFailed, what)
                .fix(format!("see which with `hardway day2 plan {}`, and pass --yes", row.name))
                .exit(Exit::Blocked));
        }
        let journal = self.journal()?;
        let is_new = |object: &&PlannedObject| {
            !known.as_ref().is_some_and(|state| state.objects.contains_key(&object.id))
        };
        let fresh: Vec<&PlannedObject> = plan.objects.iter().filter(is_new).collect();
        for object in &fresh {
            if let Some(before) = &object.before {
                self.workdir.write(&File::secret(before_path(self.step, &object.id), yaml::write(before)))?;
            }
        }
        let former = |object: &&PlannedObject| Recorded {
            object: object.id.clone(),
            was: if object.before.is_some() { Former::Present } else { Former::Absent },
        };
        let objects = fresh.iter().map(former).collect();
        append(&journal, &DayTwoBegun { step: row.name.to_owned(), objects })?;
        let managed = Objects::of_step(self.client.clone(), row.name);
        for object in &self.objects {
            managed
                .apply(&object.value, options.take_over || row.takes_over)
                .await
                .map_err(|error| failed(&error))?;
            out.info(&format!("{}: applied", object.name()));
        }
        append(&journal, &DayTwoApplied { step: row.name.to_owned() })
    }

    /// Stops at what the API server would not take.
    fn refuse(&self, plan: &StepPlan) -> Result<(), Report> {
        let mut contested = false;
        let evidence: Vec<String> = plan
            .objects
            .iter()
            .filter_map(|object| match &object.planned {
                Planned::Contested(why) => {
                    contested = true;
                    Some(format!("{}: {why}", object.id))
                }
                Planned::Refused(why) => Some(format!("{}: {why}", object.id)),
                _ => None,
            })
            .collect();
        if evidence.is_empty() {
            return Ok(());
        }
        let what = format!("{}: the API server would reject this; nothing was changed", self.step.name());
        let report = Report::new(Code::DayTwoFailed, what).evidence(evidence);
        Err(match contested {
            true => report.fix("somebody else has set these fields: pass --take-over to overwrite them; `hardway day2 undo` puts them back"),
            false => report.fix("the reason above is the API server's; check the cluster with `hardway verify`"),
        })
    }

    async fn kubeadmin_gone(&self, options: &ApplyOptions, out: &Output) -> Result<(), Report> {
        let Some(identity) = self.cluster()?.inventory.day_two.identity.as_ref() else {
            let what = "there is no administrator in the inventory: day2.identity";
            return Err(Report::new(Code::DayTwoFailed, what)
                .fix("apply the step identity first, and log in")
                .exit(Exit::Blocked));
        };
        let managed = Objects::of_step(self.client.clone(), self.step.name());
        let secret = kubeadmin();
        let planned = managed.plan(&secret, true).await.map_err(|error| failed(&error))?;
        if planned.before.is_none() {
            out.info("kubeadmin is gone already");
            return Ok(());
        }
        let Some(token) = &options.token else {
            let what = format!("nobody has shown that {} can log in", identity.admin);
            return Err(Report::new(Code::DayTwoFailed, what)
                .fix(format!(
                    "log in as {} (oc login) and pass the token: oc whoami -t | hardway day2 apply kubeadmin-gone --yes --token-file -",
                    identity.admin
                ))
                .exit(Exit::Blocked));
        };
        verify_newcomer(&self.live.config, token, &identity.admin, &provider_names(identity)).await.map_err(
            |error| {
                Report::from_error(Code::DayTwoFailed, &error)
                    .fix("kubeadmin stays until the administrator has logged in")
                    .exit(Exit::Blocked)
            },
        )?;
        out.info(&format!("{} has logged in, and is cluster-admin", identity.admin));
        if !options.is_agreed {
            return Err(Report::new(Code::DayTwoFailed, "this cannot be undone: nothing was changed")
                .fix("pass --yes")
                .exit(Exit::Blocked));
        }
        let journal = self.journal()?;
        let step = self.step.name().to_owned();
        let objects = vec![Recorded { object: planned.id, was: Former::Present }];
        append(&journal, &DayTwoBegun { step: step.clone(), objects })?;
        managed.delete(&secret).await.map_err(|error| failed(&error))?;
        out.info("the kubeadmin password no longer works");
        append(&journal, &DayTwoApplied { step })
    }

    fn journal(&self) -> Result<Journal, Report> {
        Journal::open(&self.workdir.path(FILE_NAME)).map_err(|error| journal_report(&error))
    }
}

/// The first user's password.
fn kubeadmin() -> serde_json::Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "kube-system", "name": "kubeadmin"}})
}

/// Where it is kept what an object was like: `v1/Secret a/b` → `day2/STEP/before/v1_Secret_a_b.yaml`.
fn before_path(step: DayTwoStep, id: &str) -> String {
    let name = id.replace(['/', ' '], "_");
    format!("day2/{}/before/{name}.yaml", step.name())
}

/// The files that settings name; those that cannot be read are mistakes, each at its setting.
fn read_files(
    workdir: &Workdir,
    cluster: &Cluster,
    step: DayTwoStep,
    out: &Output,
) -> (BTreeMap<String, Secret>, Vec<Violation>) {
    let (mut files, mut wrong) = (BTreeMap::new(), Vec::new());
    for named in cluster.inventory.day_two.files(step) {
        let path = workdir.path("").join(&named.path);
        match fs_err::read(&path) {
            Ok(bytes) => {
                if named.is_secret && is_open(&path) {
                    out.warn(&format!("{} can be read by others: chmod 600 {}", named.field, path.display()));
                }
                files.insert(named.path, Secret::new(bytes));
            }
            Err(error) => {
                let detail = format!("{} cannot be read: {}", path.display(), error.kind());
                wrong.push(
                    Violation::new(named.field, FieldErrorKind::NotFound, None, detail)
                        .fix("paths are relative to the cluster's folder"),
                );
            }
        }
    }
    (files, wrong)
}

fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

fn append<F: Fact>(journal: &Journal, fact: &F) -> Result<(), Report> {
    journal.append(&[Entry::of(clock::now(), fact)]).map(drop).map_err(|error| journal_report(&error))
}

fn failed(error: &ObjectsError) -> Report {
    let report = Report::new(Code::DayTwoFailed, sentence(error));
    match error {
        ObjectsError::KindUnknown { .. } => report.fix("the operator that brings this kind is not installed, or has not come up yet"),
        _ => report.fix("make sure that the cluster answers (`hardway verify`), then run the same command again to continue"),
    }
}

fn no_inputs() -> Report {
    Report::new(Code::ConfigMissing, "no install-config.yaml and inventory.yaml here")
        .fix("use the folder that the cluster was installed from; name it with --dir")
}
