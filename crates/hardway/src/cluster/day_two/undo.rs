//! The way back: what was created is deleted, and what was changed gets its former values.

use hardway_assets::day_two::DayTwoStep;
use hardway_assets::yaml;
use hardway_cluster::day_two::Objects;
use hardway_journal::{DayTwoState, DayTwoUndone, FILE_NAME, Former, Journal};
use serde_json::{Value, json};

use super::{append, before_path, failed};
use crate::cluster::{Access, Intent, WayIn, client};
use crate::inputs::{Workdir, io};
use crate::journal::{history, journal_report};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// What would happen to each object; none where the step was never begun.
pub(crate) fn undo_text(workdir: &Workdir, step: DayTwoStep) -> Result<Option<String>, Report> {
    let Some(state) = begun(workdir, step)? else { return Ok(None) };
    let line = |(object, was): (&String, &Former)| match was {
        Former::Absent => format!("{object}: deleted\n"),
        Former::Present => format!("{object}: its former values restored\n"),
    };
    Ok(Some(state.objects.iter().map(line).collect()))
}

/// Takes a step back. Can be repeated, and goes on where it was cut off. Must run inside an async runtime.
pub(crate) async fn undo(
    workdir: &Workdir,
    access: &Access,
    step: DayTwoStep,
    out: &Output,
) -> Result<(), Report> {
    let Some(state) = begun(workdir, step)? else { return Ok(()) };
    let way = WayIn::find(workdir, access.kubeconfig.as_deref(), Intent::Change, out).await?;
    let managed = Objects::of_step(client(way.config)?, step.name());
    // What points to others first: nothing shall point to what is gone.
    for (id, _) in state.objects.iter().filter(|(_, was)| **was == Former::Present) {
        let before = kept(workdir, step, id)?;
        let ours = applied(workdir, step, id)?.unwrap_or_else(|| before.clone());
        managed.restore(&ours, &before).await.map_err(|error| failed(&error))?;
        out.info(&format!("{id}: restored"));
    }
    for (id, _) in state.objects.iter().filter(|(_, was)| **was == Former::Absent) {
        match managed.delete_own(&bare(id)).await.map_err(|error| failed(&error))? {
            true => out.info(&format!("{id}: deleted")),
            false => out.warn(&format!("{id}: stays, because somebody else has created it since")),
        }
    }
    let journal = Journal::open(&workdir.path(FILE_NAME)).map_err(|error| journal_report(&error))?;
    append(&journal, &DayTwoUndone { step: step.name().to_owned() })?;
    // Only now: until it is written down, an undo that is cut off needs them. The secrets in them have served their purpose.
    for folder in ["before", "secret"] {
        match fs_err::remove_dir_all(workdir.path(&format!("day2/{}/{folder}", step.name()))) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(&error)),
            _ => {}
        }
    }
    Ok(())
}

fn begun(workdir: &Workdir, step: DayTwoStep) -> Result<Option<DayTwoState>, Report> {
    let state = history(workdir)?.day_two.step(step.name()).cloned();
    if state.is_some() && step.row().is_final {
        let what = format!("{} cannot be undone", step.name());
        return Err(Report::new(Code::DayTwoFailed, what).fix(step.row().back).exit(Exit::Blocked));
    }
    Ok(state)
}

/// What an object was like.
fn kept(workdir: &Workdir, step: DayTwoStep, id: &str) -> Result<Value, Report> {
    let path = before_path(step, id);
    let text = workdir.text(&path)?;
    let read = text.as_deref().and_then(|text| yaml::read(text).ok()).map(|node| node.to_json());
    read.ok_or_else(|| {
        Report::new(Code::DayTwoFailed, format!("{} is missing or damaged", workdir.shown(&path))).fix(
            format!("restore the file from a copy of the folder, or give {id} its former values by hand"),
        )
    })
}

/// What the step made of it, as it was written when it was last applied.
fn applied(workdir: &Workdir, step: DayTwoStep, id: &str) -> Result<Option<Value>, Report> {
    let wanted = bare(id);
    let text = |pointer: &str| wanted.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let file = format!("{}-{}.yaml", text("/kind").to_lowercase(), text("/metadata/name"));
    for below in ["", "secret/"] {
        if let Some(text) = workdir.text(&format!("day2/{}/{below}{file}", step.name()))?
            && let Ok(node) = yaml::read(&text)
        {
            return Ok(Some(node.to_json()));
        }
    }
    Ok(None)
}

/// An object by its identity alone: `v1/Secret a/b`.
fn bare(id: &str) -> Value {
    let (kind, name) = id.split_once(' ').unwrap_or((id, ""));
    let (api_version, kind) = kind.rsplit_once('/').unwrap_or(("v1", kind));
    let metadata = match name.split_once('/') {
        Some((namespace, name)) => json!({"namespace": namespace, "name": name}),
        None => json!({"name": name}),
    };
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_enough_to_find_an_object() {
        assert_eq!(
            bare("config.openshift.io/v1/OAuth cluster"),
            json!({"apiVersion": "config.openshift.io/v1", "kind": "OAuth", "metadata": {"name": "cluster"}})
        );
        assert_eq!(
            bare("v1/Secret a/b"),
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "a", "name": "b"}})
        );
    }
}
