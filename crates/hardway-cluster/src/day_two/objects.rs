//! Objects of a cluster as a step of day two wants them, by server-side apply: each step is a field manager of its own, so that what
//! somebody else has set is not overwritten without a word, and what the step no longer says is taken out again.

use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::core::{GroupVersionKind, TypeMeta};
use kube::discovery::{Scope, pinned_kind};
use kube::{Api, Client};
use serde_json::{Map, Value, json};

use super::FieldChange;
use super::difference::{difference, written};
use crate::api_error::{sentence, unless_absent};

/// The objects that one step manages.
pub struct Objects {
    client: Client,
    manager: String,
}

/// What would happen to an object.
#[derive(Clone, Debug)]
pub struct PlannedObject {
    /// `v1/Secret openshift-config/pull-secret`
    pub id: String,
    /// What is there now; none if nothing is.
    pub before: Option<Value>,
    /// What would happen.
    pub planned: Planned,
}

/// What would happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// It would be created.
    Created,
    /// It would be changed.
    Changed(Vec<FieldChange>),
    /// It is as it should be.
    Kept,
    /// Somebody else has set fields that the step wants otherwise: the API server's words.
    Contested(String),
    /// The API server refuses it: its words.
    Refused(String),
}

/// Why objects cannot be looked at or changed.
#[derive(Debug, thiserror::Error)]
pub enum ObjectsError {
    /// The API server does not know the kind.
    #[error("the cluster has no kind {kind} in {api_version}")]
    KindUnknown {
        /// Of the object.
        api_version: String,
        /// Of the object.
        kind: String,
        /// What it said.
        #[source]
        source: Box<kube::Error>,
    },
    /// It refused, or does not answer.
    #[error("{object}: {}", sentence(.source))]
    Api {
        /// Which.
        object: String,
        /// What it said.
        source: Box<kube::Error>,
    },
    /// Whoever made the objects made something else.
    #[error("{0} is not an object")]
    Malformed(String),
}

/// The identity of an object: how journal and folder name it.
pub(super) fn id(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
    match text("/metadata/namespace") {
        "" => format!("{api_version}/{kind} {name}"),
        namespace => format!("{api_version}/{kind} {namespace}/{name}"),
    }
}

impl Objects {
    /// Of the step of this name.
    pub fn of_step(client: Client, step: &str) -> Self {
        Self { client, manager: format!("hardway-day2-{step}") }
    }

    /// What is there, and what would happen. Nothing is changed: the API server is asked to pretend.
    ///
    /// # Errors
    /// When it cannot be asked. A refusal is an answer.
    pub async fn plan(&self, object: &Value, takes_over: bool) -> Result<PlannedObject, ObjectsError> {
        let api = self.api(object).await?;
        let before = self.now(&api, object).await?;
        let mut params = self.params(takes_over);
        params.dry_run = true;
        let planned = match api.patch(&name(object), &params, &Patch::Apply(object)).await {
            Ok(after) => {
                let after = value(&after);
                match &before {
                    None => Planned::Created,
                    Some(before) => match difference(before, &after) {
                        changes if changes.is_empty() => Planned::Kept,
                        changes => Planned::Changed(changes),
                    },
                }
            }
            Err(kube::Error::Api(status)) if status.code == 409 => Planned::Contested(status.message.clone()),
            // Its namespace is missing, or what is in it is wrong.
            Err(kube::Error::Api(status)) if matches!(status.code, 400 | 403 | 404 | 422) => {
                Planned::Refused(status.message.clone())
            }
            Err(error) => return Err(failed(object, error)),
        };
        Ok(PlannedObject { id: id(object), before, planned })
    }

    /// Makes it so.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn apply(&self, object: &Value, takes_over: bool) -> Result<(), ObjectsError> {
        let api = self.api(object).await?;
        let applied = api.patch(&name(object), &self.params(takes_over), &Patch::Apply(object)).await;
        applied.map(drop).map_err(|error| failed(object, error))
    }

    /// Deletes what nobody had before; none is fine.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete(&self, object: &Value) -> Result<(), ObjectsError> {
        let api = self.api(object).await?;
        let Some(found) = self.now(&api, object).await? else { return Ok(()) };
        let uid = found.pointer("/metadata/uid").and_then(Value::as_str).map(str::to_owned);
        let params = DeleteParams {
            preconditions: Some(Preconditions { uid, resource_version: None }),
            ..DeleteParams::default()
        };
        unless_absent(api.delete(&name(object), &params).await.map(Some))
            .map(drop)
            .map_err(|error| failed(object, error))
    }

    /// The same, and false for one that the step has no part in: somebody else has made it anew under that name.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete_own(&self, object: &Value) -> Result<bool, ObjectsError> {
        let api = self.api(object).await?;
        let Some(found) = self.now(&api, object).await? else { return Ok(true) };
        let managers = found.pointer("/metadata/managedFields").and_then(Value::as_array);
        if !managers.into_iter().flatten().any(|one| one["manager"] == self.manager.as_str()) {
            return Ok(false);
        }
        self.delete(object).await.map(|()| true)
    }

    /// Takes out what the step has set, and puts back what stood there. An object that is gone stays gone.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn restore(&self, object: &Value, before: &Value) -> Result<(), ObjectsError> {
        let api = self.api(object).await?;
        if self.now(&api, object).await?.is_none() {
            return Ok(());
        }
        let bare = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {"name": object["metadata"]["name"], "namespace": object["metadata"]["namespace"]},
        });
        let bare = without_null(bare);
        // Required fields of a kind cannot be taken out; then only their values go back.
        match api.patch(&name(object), &self.params(true), &Patch::Apply(&bare)).await {
            Err(kube::Error::Api(status)) if status.code == 422 => {}
            other => drop(other.map_err(|error| failed(object, error))?),
        }
        let Some(now) = self.now(&api, object).await? else { return Ok(()) };
        let patch = way_back(&written(object), &written(before), &written(&now));
        if patch.as_object().is_none_or(Map::is_empty) {
            return Ok(());
        }
        let put = api.patch(&name(object), &PatchParams::default(), &Patch::Merge(&patch)).await;
        put.map(drop).map_err(|error| failed(object, error))
    }

    async fn api(&self, object: &Value) -> Result<Api<DynamicObject>, ObjectsError> {
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        let types = TypeMeta { api_version: text("apiVersion"), kind: text("kind") };
        let gvk = GroupVersionKind::try_from(types).map_err(|_| ObjectsError::Malformed(id(object)))?;
        let (resource, capabilities): (ApiResource, _) =
            pinned_kind(&self.client, &gvk).await.map_err(|source| match source {
                kube::Error::Discovery(_) => ObjectsError::KindUnknown {
                    api_version: text("apiVersion"),
                    kind: text("kind"),
                    source: Box::new(source),
                },
                kube::Error::Api(status) if status.code == 404 => ObjectsError::KindUnknown {
                    api_version: text("apiVersion"),
                    kind: text("kind"),
                    source: Box::new(kube::Error::Api(status)),
                },
                source => failed(object, source),
            })?;
        Ok(match (capabilities.scope, object["metadata"]["namespace"].as_str()) {
            (Scope::Namespaced, Some(namespace)) => {
                Api::namespaced_with(self.client.clone(), namespace, &resource)
            }
            _ => Api::all_with(self.client.clone(), &resource),
        })
    }

    async fn now(&self, api: &Api<DynamicObject>, object: &Value) -> Result<Option<Value>, ObjectsError> {
        let found = unless_absent(api.get_opt(&name(object)).await);
        Ok(found.map_err(|error| failed(object, error))?.map(|found| value(&found)))
    }

    fn params(&self, takes_over: bool) -> PatchParams {
        let params = PatchParams::apply(&self.manager);
        if takes_over { params.force() } else { params }
    }
}

/// A merge patch that gives every field of `ours` the value it had before, where it has another one now.
fn way_back(ours: &Value, before: &Value, now: &Value) -> Value {
    let (Value::Object(ours), Value::Object(now)) = (ours, now) else { return json!({}) };
    let empty = Map::new();
    let before = before.as_object().unwrap_or(&empty);
    let mut patch = Map::new();
    for (key, wanted) in ours {
        let (had, has) = (before.get(key), now.get(key));
        if had == has {
            continue;
        }
        match (wanted, had, has) {
            (Value::Object(_), Some(Value::Object(_)), Some(has @ Value::Object(_))) => {
                let below = way_back(wanted, &before[key], has);
                if below.as_object().is_some_and(|fields| !fields.is_empty()) {
                    patch.insert(key.clone(), below);
                }
            }
            (_, had, _) => _ = patch.insert(key.clone(), had.cloned().unwrap_or(Value::Null)),
        }
    }
    Value::Object(patch)
}

fn without_null(mut object: Value) -> Value {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.retain(|_, value| !value.is_null());
    }
    object
}

fn value(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

fn failed(object: &Value, source: kube::Error) -> ObjectsError {
    ObjectsError::Api { object: id(object), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_what_stood_there_and_nothing_else() {
        let ours = json!({"spec": {"mode": "Managed", "storage": {"pvc": {"claim": "x"}}, "new": 1}});
        let before = json!({"spec": {"mode": "Removed", "storage": {"emptyDir": {}}, "other": 7}});
        let now = json!({"spec": {"mode": "Managed", "storage": {"emptyDir": {}, "pvc": {"claim": "x"}}, "new": 1, "other": 8}});
        let patch = way_back(&ours, &before, &now);
        assert_eq!(patch, json!({"spec": {"mode": "Removed", "new": null, "storage": {"pvc": null}}}));
        assert_eq!(way_back(&ours, &before, &before), json!({}));
    }
}
