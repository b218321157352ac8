//! The software bill of materials, as CycloneDX 1.5: every crate that is in the program, from Cargo.lock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::{Value, json};

use super::Source;
use crate::said;

pub(super) fn make(source: &Source, to: &Path) -> Result<()> {
    let metadata = said(
        Command::new("cargo")
            .args([
                "metadata",
                "--locked",
                "--format-version=1",
                "--filter-platform=x86_64-unknown-linux-gnu",
            ])
            .current_dir(&source.repository),
    )?;
    let text = serde_json::to_string_pretty(&of(&serde_json::from_str(&metadata)?, source)?)?;
    Ok(fs::write(to.join(format!("hardway-{}.cdx.json", source.version)), text + "\n")?)
}

fn of(metadata: &Value, source: &Source) -> Result<Value> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let program = packages
        .iter()
        .find(|(_, package)| package["name"] == "hardway")
        .map(|(id, _)| *id)
        .context("there is no crate hardway")?;

    // What tests and build scripts use is not in the program.
    let mut inside = BTreeSet::new();
    let mut next = vec![program];
    while let Some(id) = next.pop() {
        if inside.insert(id) {
            next.extend(normal_dependencies(nodes[id]));
        }
    }
    let reference =
        |id: &str| format!("pkg:cargo/{}@{}", text(&packages[id]["name"]), text(&packages[id]["version"]));
    let mut components: Vec<Value> = inside
        .iter()
        .filter(|id| **id != program)
        .map(|id| component(packages[id], &reference(id)))
        .collect();
    components.sort_by_key(|component| text(&component["bom-ref"]).to_owned());
    let mut dependencies: Vec<Value> = inside
        .iter()
        .map(|id| {
            let on: BTreeSet<String> = normal_dependencies(nodes[id]).map(reference).collect();
            json!({"ref": reference(id), "dependsOn": on})
        })
        .collect();
    dependencies.sort_by_key(|dependency| text(&dependency["ref"]).to_owned());
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": jiff::Timestamp::from_second(i64::try_from(source.epoch)?)?.to_string(),
            "component": {"type": "application", "name": "hardway", "version": source.version, "bom-ref": reference(program)},
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn component(package: &Value, reference: &str) -> Value {
    let mut component = json!({
        "type": "library",
        "name": package["name"],
        "version": package["version"],
        "bom-ref": reference,
        "purl": reference,
    });
    if let Some(license) = package["license"].as_str() {
        // Older crates write a slash for "or".
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    component
}

fn normal_dependencies(node: &Value) -> impl Iterator<Item = &str> {
    list(&node["deps"])
        .filter(|dependency| list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()))
        .map(|dependency| text(&dependency["pkg"]))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
