//! The documents of a manifest file as slices of its text.

/// Splits a YAML stream at its `---` lines, as Kubernetes' own reader does, into documents and the byte each begins at.
/// Documents of blank lines and comments are left out. A file of one document is returned whole, separators included.
pub(crate) fn documents(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_separator(line) {
            found.push((start, &text[start..at]));
            start = at + line.len();
        }
        at += line.len();
    }
    found.push((start, &text[start..]));
    found.retain(|(_, document)| has_content(document));
    if found.len() == 1 { vec![(0, text)] } else { found }
}

/// `---` alone or before a comment. JSON and block scalars cannot hold such a line at its beginning.
fn is_separator(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty() || rest.trim_start().starts_with('#'))
}

fn has_content(part: &str) -> bool {
    part.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_document_is_the_whole_file() {
        for text in ["a: 1\n", "---\na: 1\n", "# c\n---\na: 1\n---\n", "---\na: |\n  ---\n", "{\"a\": 1}"] {
            assert_eq!(documents(text), [(0, text)]);
        }
        assert!(documents("---\n# nothing\n---\n").is_empty());
        assert!(documents("").is_empty());
    }

    #[test]
    fn several_are_slices() {
        assert_eq!(
            documents("a: 1\n---\nb: 2\n--- # third\nc: 3"),
            [(0, "a: 1\n"), (9, "b: 2\n"), (26, "c: 3")]
        );
    }
}
