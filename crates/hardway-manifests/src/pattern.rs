//! Regular expressions as Go's RE2 reads them, put into the words of the regex crate.

use std::sync::OnceLock;

use regex::Regex;

/// A pattern of a schema, compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), compiled: OnceLock::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is found in a text; nothing when the pattern itself cannot be read.
    pub(crate) fn is_in(&self, text: &str) -> Option<bool> {
        self.compiled.get_or_init(|| compile(&self.text)).as_ref().map(|regex| regex.is_match(text))
    }
}

/// As Go would, or nothing where Go's syntax has something that the crate has not.
pub(crate) fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&translate(pattern)).ok()
}

/// `\d`, `\w`, `\s` and `\b` know ASCII only in Go; a class has no operators there; `{` that counts nothing is a brace.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    let mut at_class_start = false;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let starts_class = std::mem::take(&mut at_class_start);
        rest = match c {
            '\\' => escape(&mut out, after, in_class),
            '[' if !in_class => {
                in_class = true;
                at_class_start = true;
                out.push('[');
                match after.strip_prefix('^') {
                    Some(after) => {
                        out.push('^');
                        after
                    }
                    None => after,
                }
            }
            '[' => match after.starts_with(':').then(|| after.find(":]")).flatten() {
                Some(end) => {
                    out.push('[');
                    out.push_str(&after[..end + 2]);
                    &after[end + 2..]
                }
                None => {
                    out.push_str("\\[");
                    after
                }
            },
            ']' if in_class && starts_class => {
                out.push_str("\\]");
                after
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
                after
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
                after
            }
            '-' if in_class && after.starts_with('-') => {
                out.push_str("\\-");
                after
            }
            '{' if !in_class && !counts(after) => {
                out.push_str("\\{");
                after
            }
            '}' if !in_class => {
                out.push('}');
                after
            }
            _ => {
                out.push(c);
                after
            }
        };
    }
    out
}

fn escape<'p>(out: &mut String, after: &'p str, in_class: bool) -> &'p str {
    let Some(c) = after.chars().next() else {
        out.push('\\');
        return after;
    };
    let rest = &after[c.len_utf8()..];
    let class = match c {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => "\\t\\n\\f\\r ",
        'D' => "^0-9",
        'W' => "^0-9A-Za-z_",
        'S' => "^\\t\\n\\f\\r ",
        _ => "",
    };
    match (class, c) {
        ("", 'b' | 'B') if !in_class => {
            out.push_str("(?-u:\\");
            out.push(c);
            out.push(')');
        }
        ("", 'Q') => return quoted(out, rest),
        ("", '<' | '>' | '"' | '\'' | '/' | '%' | '=' | ',' | ':' | ';' | '@' | '!' | '`' | ' ' | '_') => {
            out.push(c)
        }
        ("", _) => {
            out.push('\\');
            out.push(c);
        }
        (class, _) if in_class && !class.starts_with('^') => out.push_str(class),
        (class, _) => {
            out.push('[');
            out.push_str(class);
            out.push(']');
        }
    }
    rest
}

fn quoted<'p>(out: &mut String, rest: &'p str) -> &'p str {
    let (inner, after) = rest.split_once("\\E").unwrap_or((rest, ""));
    out.push_str(&regex::escape(inner));
    after
}

/// `2}`, `2,}` or `2,5}` is how often.
fn counts(after: &str) -> bool {
    let Some((inside, _)) = after.split_once('}') else { return false };
    let (from, to) = inside.split_once(',').unwrap_or((inside, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !from.is_empty() && digits(from) && digits(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_go_reads() {
        let found = |pattern: &str, text: &str| Pattern::new(pattern).is_in(text).unwrap();
        assert!(!found(r"^\d+$", "٣"), "ASCII digits only");
        assert!(found(r"^[a-zA-Z0-9-_\(\)\.]+$", "a-_b.(c)"));
        assert!(found(r"^[[:xdigit:]]{2}$", "aF"));
        assert!(found(r"^[^[]$", "x") && !found(r"^[^[]$", "["));
        assert!(found(r"^[]a]+$", "]a"));
        assert!(found(r"^[a&&b]+$", "a&b"));
        assert!(found(r"^a{,2}$", "a{,2}"));
        assert!(found(r"^\/x\<y$", "/x<y"));
        assert!(found(r"^[\w.-]+$", "a.b-c_9") && !found(r"^[\w.-]+$", "é"));
        assert!(found(r"^\Qa.b\E$", "a.b") && !found(r"^\Qa.b\E$", "axb"));
        assert!(found("^[0-9A-Za-z_.:/=+-@ ]+$", "a,b;<"), "+-@ is a range");
        assert_eq!(Pattern::new("(").is_in(""), None);
    }
}
