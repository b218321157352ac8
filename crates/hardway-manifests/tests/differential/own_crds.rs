//! A CRD that uses every keyword that a kube-apiserver acts on, so that the comparison is never empty.

use serde_json::{Value, json};

pub(crate) fn own_crds() -> Vec<Value> {
    vec![definition("Everything", "everythings", "Namespaced", &everything())]
}

fn definition(kind: &str, plural: &str, scope: &str, schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.test.example.com")},
        "spec": {
            "group": "test.example.com",
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
            "scope": scope,
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema},
                "subresources": {"status": {}},
            }],
        },
    })
}

fn everything() -> Value {
    let format = |name: &str| json!({"type": "string", "format": name});
    let formats: serde_json::Map<String, Value> = [
        "byte",
        "cidr",
        "date",
        "date-time",
        "duration",
        "email",
        "hexcolor",
        "hostname",
        "ipv4",
        "ipv6",
        "mac",
        "uri",
        "uuid",
        "uuid4",
        "rgbcolor",
        "isbn10",
        "password",
        "int32",
    ]
    .into_iter()
    .map(|name| (name.replace('-', "").to_owned() + "Text", format(name)))
    .collect();
    json!({"type": "object", "required": ["spec"], "properties": {
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        "spec": {"type": "object", "required": ["name"], "minProperties": 2, "properties": {
            "name": {"type": "string", "minLength": 2, "maxLength": 20, "pattern": "^[a-z][\\w-]*$"},
            "mode": {"type": "string", "enum": ["Always", "Never"], "default": "Always"},
            "level": {"type": "integer", "enum": [1, 2, 3]},
            "count": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9, "multipleOf": 1},
            "share": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 1, "exclusiveMaximum": true},
            "even": {"type": "integer", "multipleOf": 2, "default": 4},
            "isOn": {"type": "boolean"},
            "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "maybe": {"type": "string", "nullable": true},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
            "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "protocol"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "protocol": {"type": "string", "default": "TCP"}}}},
            "labels": {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string", "maxLength": 5}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                "known": {"type": "object", "properties": {"a": {"type": "integer"}}}}},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
            "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "all": {"type": "string", "allOf": [{"minLength": 1}, {"maxLength": 4}], "not": {"enum": ["bad"]}},
            "formats": {"type": "object", "properties": formats},
            "range": {"type": "object", "properties": {"min": {"type": "integer"}, "max": {"type": "integer"},
                "when": {"type": "string", "format": "date-time"}, "my-key": {"type": "string"}},
                "x-kubernetes-validations": [
                    {"rule": "!has(self.min) || !has(self.max) || self.min <= self.max",
                     "messageExpression": "self.min > 5 ? 'min is far too large' : 'min is more than max'"},
                    {"rule": "!has(self.when) || self.when.getFullYear() >= 2000", "message": "too long ago", "fieldPath": ".when"},
                    {"rule": "!has(self.my__dash__key) || self.my__dash__key != 'forbidden'", "reason": "FieldValueForbidden",
                     "message": "not this one"},
                    {"rule": "self == oldSelf", "message": "immutable"},
                ]},
            "text": {"type": "string", "maxLength": 60, "x-kubernetes-validations": [
                {"rule": "self.split('/').size() < 4 && !self.startsWith('-') && self.lowerAscii() == self", "message": "no such text"},
                {"rule": "!isURL(self) || url(self).getScheme() in ['https', '']"},
                {"rule": "!isIP(self) || ip(self).family() == 4"},
                {"rule": "!isCIDR(self) || cidr(self).prefixLength() <= 24"},
                {"rule": "self.find('[0-9]+') == '' || int(self.find('[0-9]+')) < 1000"},
            ]},
            "numbers": {"type": "array", "maxItems": 5, "items": {"type": "integer"}, "x-kubernetes-validations": [
                {"rule": "self.all(x, x >= 0) && self.isSorted() && self.sum() < 100", "message": "sorted and small"},
                {"rule": "self.exists_one(x, x == 1)"}, {"rule": "self.map(x, x * 2).filter(x, x > 2).size() < 2"}]},
            "amount": {"type": "string", "maxLength": 10, "x-kubernetes-validations": [
                {"rule": "isQuantity(self) && quantity(self).isLessThan(quantity('10Gi'))"}]},
        }, "x-kubernetes-validations": [
            {"rule": "self.mode == 'Always' || !has(self.level)", "message": "level needs Always"},
            {"rule": "self.?one.a.orValue('') != 'x'", "message": "not x"},
            {"rule": "oldSelf.hasValue() || self.name != 'taken'", "optionalOldSelf": true, "message": "taken"},
        ]},
    }})
}
