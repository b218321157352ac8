//! One rule of a schema.

use std::sync::OnceLock;

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use super::evaluation::{Failure, Scope};
use super::expression::Expression;
use super::syntax_error::SyntaxError;
use super::value::Val;

/// A rule as it stands in a CRD; its text is read when it is first tried.
#[derive(Debug)]
pub(crate) struct ValidationRule {
    pub(crate) text: String,
    message: String,
    message_expression: String,
    /// Below the value, where the mistake is: `.currentRevision`.
    pub(crate) field_path: String,
    pub(crate) reason: FieldErrorKind,
    optional_old_self: bool,
    compiled: OnceLock<Result<Compiled, SyntaxError>>,
}

#[derive(Debug)]
struct Compiled {
    rule: Expression,
    message: Option<Expression>,
    uses_old_self: bool,
}

/// What trying a rule came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tested {
    Holds,
    /// It compares with what was there before, and nothing was.
    ComparesOnly,
    Broken(String),
    /// It cannot be read or evaluated here.
    Unknown(String),
}

impl ValidationRule {
    pub(crate) fn read(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        Self {
            text: text("rule"),
            message: text("message"),
            message_expression: text("messageExpression"),
            field_path: text("fieldPath"),
            reason: match text("reason").as_str() {
                "FieldValueForbidden" => FieldErrorKind::Forbidden,
                "FieldValueRequired" => FieldErrorKind::Required,
                "FieldValueDuplicate" => FieldErrorKind::Duplicate,
                _ => FieldErrorKind::Invalid,
            },
            optional_old_self: value.get("optionalOldSelf") == Some(&Value::Bool(true)),
            compiled: OnceLock::new(),
        }
    }

    /// Tries it on a new value, as at creation. The value is only made where it is needed.
    pub(crate) fn test(&self, itself: impl FnOnce() -> Val) -> Tested {
        let compiled = match self.compiled.get_or_init(|| self.compile()) {
            Ok(compiled) => compiled,
            Err(why) => return Tested::Unknown(format!("{}: {why}", self.text)),
        };
        if compiled.uses_old_self && !self.optional_old_self {
            return Tested::ComparesOnly;
        }
        let mut scope = Scope::with(&[("self", itself()), ("oldSelf", Val::Optional(None))]);
        match compiled.rule.evaluate(&mut scope) {
            Ok(Val::Bool(true)) => Tested::Holds,
            Ok(_) => Tested::Broken(self.told(compiled, &mut scope)),
            Err(Failure::Unknown(what)) => Tested::Unknown(what),
            Err(Failure::Absent(why) | Failure::Error(why)) => {
                let rule = if self.message.is_empty() { &self.text } else { &self.message };
                Tested::Broken(format!("{why} evaluating rule: {rule}"))
            }
        }
    }

    /// What is wrong with its text, if anything.
    pub(crate) fn syntax_error(&self) -> Option<&SyntaxError> {
        self.compiled.get_or_init(|| self.compile()).as_ref().err()
    }

    fn compile(&self) -> Result<Compiled, SyntaxError> {
        let rule = Expression::read(&self.text)?;
        let message = match self.message_expression.as_str() {
            "" => None,
            text => Some(Expression::read(text)?),
        };
        let uses_old_self = rule.names("oldSelf");
        Ok(Compiled { rule, message, uses_old_self })
    }

    fn told(&self, compiled: &Compiled, scope: &mut Scope) -> String {
        let computed = compiled.message.as_ref().and_then(|message| match message.evaluate(scope) {
            Ok(Val::Text(text)) => {
                Some(text.trim().to_owned()).filter(|text| !text.is_empty() && !text.contains('\n'))
            }
            _ => None,
        });
        computed.unwrap_or_else(|| match self.message.as_str() {
            "" => format!("failed rule: {}", self.text),
            message => message.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Schema;

    fn test(rule: &str, schema: &Value, value: &Value) -> Tested {
        let schema = Schema::read(schema);
        ValidationRule::read(&json!({"rule": rule, "message": "no"})).test(|| Val::of(value, &schema, false))
    }

    #[test]
    fn rules_come_to_what_they_say() {
        let anything = json!({"x-kubernetes-preserve-unknown-fields": true});
        let value = json!({"a": 1, "s": "x/y/z", "l": [1, 2, 2], "m": {"k": "v"}, "ip": "10.0.0.1", "t": "2024-01-02T03:04:05Z"});
        let yes = [
            "self.a == 1 && self.a < 2.5 && self.a in [1, 2]",
            "has(self.a) && !has(self.b)",
            "self.s.split('/', 2)[1] == 'y/z' && self.s.split('/').size() == 3",
            "self.l.all(x, x > 0) && self.l.exists_one(x, x == 1) && !self.l.exists_one(x, x == 2)",
            "self.l.filter(x, x == 2).size() == 2 && self.l.map(x, x * 2) == [2, 4, 4]",
            "'k' in self.m && self.m['k'] == 'v' && self.m.all(k, k == 'k')",
            "self.?b.c.orValue('d') == 'd' && self.?a.orValue(0) == 1 && self.m[?'z'].hasValue() == false",
            "ip(self.ip).family() == 4 && cidr('10.0.0.0/8').containsIP(self.ip) && isCIDR('fd00::/64') && !isIP('01.2.3.4')",
            "timestamp(self.t) < timestamp('2025-01-01T00:00:00Z') && duration('1h') > duration('59m')",
            "true || self.nowhere == 1",
            "self.nowhere == 1 || true",
            "url('https://a:1/b').getHostname() == 'a' && quantity('1Gi').isGreaterThan(quantity('1G'))",
            "'%s-%d'.format(['a', 1]) == 'a-1' && 'AbC'.lowerAscii() == 'abc' && 'hello'.substring(1, 3) == 'el'",
            "(has(self.b) ? self.b : 'z') == 'z' && size(self.l) == 3 && -self.a == -1 && type(self.a) == int",
            "sets.contains([1, 2, 3], [2]) && [1, 2].isSorted() && [3, 1].max() == 3 && 7 % 3 == 1 && 1.0 / 2.0 == 0.5",
            "optional.of(1).optMap(x, x + 1).value() == 2 && r'\\d' == '\\\\d' && \"a\\x41\" == 'aA' && {'a': 1}.a == 1",
        ];
        for rule in yes {
            assert_eq!(test(rule, &anything, &value), Tested::Holds, "{rule}");
        }
        for rule in ["self.nowhere == 1", "self.a == 2", "self.l[7] == 1", "self.s + 1 == 2", "1 / 0 == 1"] {
            assert!(matches!(test(rule, &anything, &value), Tested::Broken(_)), "{rule}");
        }
        for rule in ["frobnicate(self)", "self.a.frobnicate()", "self.a ==", "math.greatest(1, 2) == 2"] {
            assert!(matches!(test(rule, &anything, &value), Tested::Unknown(_)), "{rule}");
        }
        assert_eq!(test("self == oldSelf", &anything, &value), Tested::ComparesOnly);
    }

    /// As somebody would write them who wants this program to stop: each ends, and says that nobody can say.
    #[test]
    fn rules_without_end_are_given_up() {
        let anything = json!({"x-kubernetes-preserve-unknown-fields": true});
        let value = json!({"s": "x".repeat(100), "l": vec![1; 60]});
        let mut doubled = "[self.s]".to_owned();
        (0..31).for_each(|_| doubled += ".map(a, a + a)");
        let nested = (0..6).rev().fold("true".to_owned(), |inner, n| format!("self.l.all(a{n}, {inner})"));
        for rule in [
            doubled + ".size() == 1",
            nested,
            format!("1{} < 0", "-1".repeat(4_000)),
            format!("{}true{}", "(".repeat(4_000), ")".repeat(4_000)),
            format!("self{} == 1", ".a".repeat(4_000)),
            "false || ".repeat(20_000) + "true",
        ] {
            assert!(matches!(test(&rule, &anything, &value), Tested::Unknown(_)), "{}", &rule[..60]);
        }
        let chain = "false || ".repeat(4_000) + "true";
        assert_eq!(test(&chain, &anything, &value), Tested::Holds);
    }

    #[test]
    fn the_schema_says_what_a_value_means() {
        let set = json!({"type": "object", "properties": {
            "s": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "when": {"type": "string", "format": "date-time"},
            "my-name": {"type": "string"}, "namespace": {"type": "string"}}});
        let value =
            json!({"s": ["a", "b"], "when": "2024-01-02T03:04:05Z", "my-name": "x", "namespace": "n"});
        let rule = "self.s == ['b', 'a'] && self.when.getFullYear() == 2024 && self.my__dash__name == 'x' && self.__namespace__ == 'n'";
        assert_eq!(test(rule, &set, &value), Tested::Holds);
    }
}
