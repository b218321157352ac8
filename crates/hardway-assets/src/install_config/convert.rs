//! Up-conversion: fields of older versions of the file become the ones that replaced them (installer
//! `pkg/types/conversion/installconfig.go`).
//!
//! It is done on the tree, not on typed data: the new field keeps the place of the old one, so that an error about
//! `networking.machineNetwork[0]` points at the `machineCIDR` the user wrote.

use crate::violation::{FieldErrorKind, Violation};
use crate::yaml::{Key, Node, Value};

/// The tree with the new names, and a note for each old field that was found.
pub(super) fn convert(node: &Node) -> (Node, Vec<Violation>) {
    let mut node = node.clone();
    let mut notes = Vec::new();
    if let Some(networking) = get_mut(&mut node, "networking") {
        for (old, new) in [
            ("clusterNetworks", "clusterNetwork"),
            ("machineCIDR", "machineNetwork"),
            ("serviceCIDR", "serviceNetwork"),
            ("type", "networkType"),
        ] {
            if let Some(note) = rename(networking, old, new) {
                notes.push(note);
            }
        }
        if let Some(Value::List(entries)) = get_mut(networking, "clusterNetwork").map(|list| &mut list.value)
        {
            entries.iter_mut().for_each(host_subnet_length);
        }
        if let Some(network_type) = get_mut(networking, "networkType") {
            normalise(network_type);
        }
    }
    (node, notes)
}

/// Moves the old field to the new name, unless the new one is there too.
fn rename(networking: &mut Node, old: &str, new: &str) -> Option<Violation> {
    let Value::Map(entries) = &mut networking.value else { return None };
    let at = entries.iter().position(|(key, value)| key.text == old && value.value != Value::Null)?;
    let note = Violation {
        span: Some(entries[at].0.span),
        ..Violation::new(
            format!("networking.{old}"),
            FieldErrorKind::Forbidden,
            None,
            format!("deprecated, use networking.{new}"),
        )
    };
    if entries.iter().any(|(key, value)| key.text == new && !is_empty(value)) {
        return Some(note);
    }
    entries.retain(|(key, _)| key.text != new);
    let at = entries.iter().position(|(key, _)| key.text == old)?;
    let (key, value) = entries.remove(at);
    let list = |value| Node { span: key.span, value: Value::List(vec![value]) };
    let value = match old {
        "machineCIDR" => {
            let cidr = Key { text: "cidr".to_owned(), span: key.span };
            list(Node { span: value.span, value: Value::Map(vec![(cidr, value)]) })
        }
        "serviceCIDR" => list(value),
        _ => value,
    };
    entries.push((Key { text: new.to_owned(), span: key.span }, value));
    Some(note)
}

/// `hostSubnetLength` counts the bits of a node's share from the other end.
fn host_subnet_length(entry: &mut Node) {
    let number = |key| match entry.get(key).map(|node| &node.value) {
        Some(Value::Int(number)) => *number,
        _ => 0,
    };
    let (prefix, length) = (number("hostPrefix"), number("hostSubnetLength"));
    let bits = match entry.get("cidr").map(|node| &node.value) {
        Some(Value::String(text)) if text.contains(':') => 128,
        _ => 32,
    };
    let Value::Map(entries) = &mut entry.value else { return };
    if prefix != 0 || length == 0 {
        return;
    }
    entries.retain(|(key, _)| key.text != "hostPrefix");
    for (key, value) in entries {
        if key.text == "hostSubnetLength" {
            key.text = "hostPrefix".to_owned();
            value.value = Value::Int(i64::saturating_sub(bits, length));
        }
    }
}

/// Names of plugins are recognised in any capitalisation. 4.18 does so only for OpenShiftSDN; with `ovnkubernetes` it fails much
/// later, which nobody can want.
fn normalise(network_type: &mut Node) {
    if let Value::String(text) = &mut network_type.value {
        for name in ["OVNKubernetes", "OpenShiftSDN", "Kuryr"] {
            if text.eq_ignore_ascii_case(name) {
                *text = name.to_owned();
            }
        }
    }
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

fn get_mut<'n>(node: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    match &mut node.value {
        Value::Map(entries) => entries.iter_mut().find(|(key, _)| key.text == name).map(|(_, value)| value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn old_fields_become_new_ones_and_keep_their_place() {
        let text = "networking:\n  type: ovnkubernetes\n  machineCIDR: 10.1.0.0/16\n  serviceCIDR: 172.31.0.0/16\n  \
                    clusterNetworks:\n  - {cidr: 10.132.0.0/14, hostSubnetLength: 9}\n";
        let (node, notes) = convert(&crate::yaml::read(text).unwrap());
        assert_eq!(
            node.to_json(),
            json!({"networking": {
                "networkType": "OVNKubernetes",
                "machineNetwork": [{"cidr": "10.1.0.0/16"}],
                "serviceNetwork": ["172.31.0.0/16"],
                "clusterNetwork": [{"cidr": "10.132.0.0/14", "hostPrefix": 23}],
            }})
        );
        assert_eq!(notes.len(), 4);
        let at = node.locate("networking.machineNetwork[0].cidr");
        assert_eq!(&text[at.start..at.end], "10.1.0.0/16");
    }

    #[test]
    fn a_new_field_wins() {
        let text = "networking: {machineCIDR: 10.1.0.0/16, machineNetwork: [{cidr: 10.2.0.0/16}]}";
        let (node, _) = convert(&crate::yaml::read(text).unwrap());
        assert_eq!(
            node.get("networking").unwrap().to_json()["machineNetwork"],
            json!([{"cidr": "10.2.0.0/16"}])
        );
        let text = "networking: {machineCIDR: 10.1.0.0/16, machineNetwork: []}";
        let (node, _) = convert(&crate::yaml::read(text).unwrap());
        assert_eq!(
            node.get("networking").unwrap().to_json()["machineNetwork"],
            json!([{"cidr": "10.1.0.0/16"}])
        );
    }
}
