//! The tables and the explanations agree: every field is explained, nothing else is.

use std::collections::BTreeSet;

use hardway_assets::explain::{Catalogue, Kind};
use hardway_assets::input_tables::{
    HOSTED_INVENTORY, INSTALL_CONFIG, INVENTORY, hosted_inventory_schema, install_config_schema,
    inventory_schema,
};
use hardway_assets::schema::Table;
use serde_json::Value;

fn names(table: &Table) -> Vec<String> {
    table.paths().into_iter().map(|(path, _)| format!("{}{path}", table.prefix)).collect()
}

#[test]
fn tables_and_explanations_name_the_same_fields() {
    let catalogue = Catalogue::of_assets();
    // What a provider can be told is explained with `inventory.yaml`.
    let own = names(&HOSTED_INVENTORY).into_iter().filter(|name| !name.contains(" machines."));
    let fields: BTreeSet<String> =
        names(&INSTALL_CONFIG).into_iter().chain(names(&INVENTORY)).chain(own).collect();
    let explained: Vec<&str> = catalogue.iter().filter(|e| e.kind == Kind::Field).map(|e| e.name).collect();
    let unexplained: Vec<&String> =
        fields.iter().filter(|name| !explained.contains(&name.as_str())).collect();
    assert!(unexplained.is_empty(), "fields without an explanation: {unexplained:#?}");
    let gone: Vec<&&str> = explained.iter().filter(|name| !fields.contains(**name)).collect();
    assert!(gone.is_empty(), "explanations of no field: {gone:#?}");
    let unique: BTreeSet<&&str> = explained.iter().collect();
    assert_eq!(unique.len(), explained.len(), "a field is explained twice");
}

#[test]
fn every_explanation_is_whole() {
    for e in Catalogue::of_assets().iter().filter(|e| e.kind == Kind::Field) {
        for (label, text) in [
            ("what", e.what),
            ("why", e.why),
            ("readers", e.readers),
            ("without", e.without),
            ("source", e.source),
        ] {
            assert!(!text.is_empty(), "{} has no {label}", e.name);
        }
    }
}

#[test]
fn every_property_of_the_schemas_is_described() {
    for schema in [install_config_schema(), inventory_schema(), hosted_inventory_schema()] {
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        described("", &schema);
    }
}

fn described(path: &str, schema: &Value) {
    if let Some(properties) = schema["properties"].as_object() {
        for (name, property) in properties {
            let path = format!("{path}.{name}");
            assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{path}");
            described(&path, property);
        }
    }
    if schema["items"].is_object() {
        described(path, &schema["items"]);
    }
}
