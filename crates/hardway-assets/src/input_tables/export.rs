//! The tables as JSON Schema (draft 2020-12), for editors and other tools.

use serde_json::{Map, Value, json};

use super::{HOSTED_INVENTORY, INSTALL_CONFIG, INVENTORY};
use crate::explain::{Catalogue, Kind as Explained};
use crate::schema::{Field, FieldKind, Presence, Table, join};

/// The schema of `install-config.yaml`.
///
/// ```
/// let schema = hardway_assets::input_tables::install_config_schema();
/// assert_eq!(schema["properties"]["publish"]["default"], "External");
/// ```
pub fn install_config_schema() -> Value {
    json_schema(&INSTALL_CONFIG)
}

/// The schema of `inventory.yaml`.
pub fn inventory_schema() -> Value {
    json_schema(&INVENTORY)
}

/// The schema of `hosted-inventory.yaml`.
pub fn hosted_inventory_schema() -> Value {
    json_schema(&HOSTED_INVENTORY)
}

/// A table as JSON Schema. Descriptions are the explanations' first line.
pub fn json_schema(table: &Table) -> Value {
    let catalogue = Catalogue::of_assets();
    let mut schema = object("", table, table.fields, &catalogue);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(table.file);
    schema
}

fn object(path: &str, table: &Table, fields: &'static [Field], catalogue: &Catalogue) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut others = json!(false);
    for field in fields {
        let described = described(&join(path, field.name), table, field, catalogue);
        if field.is_placeholder() {
            others = described;
            continue;
        }
        properties.insert(field.name.to_owned(), described);
        if matches!(field.presence, Presence::Required(_) | Presence::RequiredByRule | Presence::RequiredWord)
        {
            required.push(field.name);
        }
    }
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": others});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn described(path: &str, table: &Table, field: &'static Field, catalogue: &Catalogue) -> Value {
    let mut schema = typed(path, table, &field.kind, catalogue);
    // What a provider can be told is the same in both inventories, and explained once.
    let of = |prefix: &str| catalogue.get(Explained::Field, &format!("{prefix}{path}"));
    if let Some(explanation) = of(table.prefix).or_else(|| of(INVENTORY.prefix)) {
        schema["description"] = json!(explanation.what);
    }
    if !field.allowed.is_empty() {
        schema["enum"] = json!(field.allowed);
    }
    if !field.default.is_empty() {
        schema["default"] = match field.kind {
            FieldKind::String | FieldKind::Cidr | FieldKind::Ip => json!(field.default),
            _ => serde_json::from_str(field.default).unwrap_or_else(|_| json!(field.default)),
        };
    }
    if field.secret {
        schema["writeOnly"] = json!(true);
    }
    if field.presence == Presence::RefusedByRule {
        schema["not"] = json!({});
    }
    schema
}

fn typed(path: &str, table: &Table, kind: &'static FieldKind, catalogue: &Catalogue) -> Value {
    match kind {
        FieldKind::String => json!({"type": "string"}),
        FieldKind::Bool => json!({"type": "boolean"}),
        FieldKind::Int(i64::MIN, i64::MAX) => json!({"type": "integer"}),
        FieldKind::Int(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        FieldKind::Cidr => json!({"type": "string", "pattern": "^[0-9a-fA-F.:]+/[0-9]{1,3}$"}),
        FieldKind::Ip => json!({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}),
        FieldKind::List(inner) => json!({"type": "array", "items": typed(path, table, inner, catalogue)}),
        FieldKind::OneOrMany(inner) => {
            let one = typed(path, table, inner, catalogue);
            json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]})
        }
        FieldKind::Object(fields) => object(path, table, fields, catalogue),
        FieldKind::AnyObject => json!({"type": "object"}),
        FieldKind::Any => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_says_what_the_table_says() {
        let schema = install_config_schema();
        assert_eq!(
            schema["required"],
            json!(["apiVersion", "metadata", "baseDomain", "platform", "pullSecret"])
        );
        let cluster = &schema["properties"]["networking"]["properties"]["clusterNetwork"];
        assert_eq!(cluster["default"], json!([{"cidr": "10.128.0.0/14", "hostPrefix": 23}]));
        assert_eq!(cluster["items"]["properties"]["hostPrefix"]["type"], "integer");
        assert_eq!(cluster["items"]["additionalProperties"], false);
        assert_eq!(schema["properties"]["pullSecret"]["writeOnly"], true);

        let schema = inventory_schema();
        let machines = &schema["properties"]["machines"]["properties"];
        let bmc = &machines["bare-metal"]["properties"]["hosts"]["additionalProperties"]["properties"]["bmc"];
        assert_eq!(bmc["required"], json!(["address", "user", "passwordFile"]));
        assert_eq!(
            (&bmc["properties"]["password"]["not"], &bmc["additionalProperties"]),
            (&json!({}), &json!(false))
        );
        assert_eq!(machines["gce"]["properties"]["externalAddresses"]["default"], true);
        let host = &schema["properties"]["hosts"]["items"]["properties"];
        assert_eq!(host["role"]["enum"], json!(["bootstrap", "master", "worker"]));
        assert_eq!(host["ip"]["anyOf"][1]["type"], "array");
        assert_eq!(schema["properties"]["pki"]["properties"]["shortLivedHours"]["default"], 24);
    }
}
