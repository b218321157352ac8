//! The API server would take every object as it is, by the schemas of the real 4.18 CRDs where they are at hand.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{World, worlds};
use crate::yaml;

/// CRDs of the default feature set. Not part of the project.
const CRDS: &str = "crds-4.18";

#[test]
fn no_field_is_unknown_missing_or_of_the_wrong_type() {
    let Some(folder) = hardway_testing::real_data(CRDS) else { return };
    let schemas = schemas(&folder);
    let mut checked = 0;
    for (name, world) in worlds() {
        // The schemas are of 4.18: later objects are left out by making all of them for that release.
        let world = World { release: World::new().release, ..world };
        for (path, bytes) in world.made().iter() {
            let object = yaml::read(std::str::from_utf8(bytes).unwrap()).unwrap().to_json();
            let key = format!("{} {}", text(&object["apiVersion"]), text(&object["kind"]));
            if let Some(schema) = schemas.get(&key) {
                let mut faults = Vec::new();
                check(schema, &object, "", &mut faults);
                assert!(faults.is_empty(), "{name}: {path}: {faults:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "only {checked} objects were checked");
}

/// The schema of each served version, by `apiVersion kind`.
fn schemas(folder: &Path) -> BTreeMap<String, Value> {
    let mut schemas = BTreeMap::new();
    for entry in folder.read_dir().unwrap() {
        let file = std::fs::File::open(entry.unwrap().path()).unwrap();
        let crd = yaml::read(&std::io::read_to_string(file).unwrap()).unwrap().to_json();
        let spec = &crd["spec"];
        for version in spec["versions"].as_array().unwrap() {
            let api_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
            let key = format!("{api_version} {}", text(&spec["names"]["kind"]));
            schemas.insert(key, version["schema"]["openAPIV3Schema"].clone());
        }
    }
    schemas
}

fn check(schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
    let is_right = match text(&schema["type"]) {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => true,
    };
    if !is_right {
        faults.push(format!("{path}: {value} is no {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        faults.push(format!("{path}: {value} is none of {}", schema["enum"]));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        check(&schema["items"], item, &format!("{path}[{i}]"), faults);
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        if value.get(text(required)).is_none() {
            faults.push(format!("{path}: {required} is missing"));
        }
    }
    for (key, child) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        match (schema["properties"].get(key), schema.get("additionalProperties")) {
            (Some(property), _) | (None, Some(property)) => check(property, child, &path, faults),
            // Metadata is the API server's own; some objects are open by intent.
            (None, None) if path.starts_with(".metadata") => {}
            (None, None) if schema["x-kubernetes-preserve-unknown-fields"] == true => {}
            (None, None) => faults.push(format!("{path} is unknown")),
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
