//! Where the lines of a text begin.

/// The newlines of a text, found once.
#[derive(Clone, Debug)]
pub struct LineIndex {
    newlines: Vec<usize>,
}

impl LineIndex {
    /// Looks for them.
    pub fn of(text: &str) -> Self {
        Self { newlines: text.match_indices('\n').map(|(offset, _)| offset).collect() }
    }

    /// The line of a byte, from zero.
    pub fn line(&self, offset: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < offset)
    }

    /// Where a line begins, from zero; nothing behind the last one.
    pub fn start(&self, line: usize) -> Option<usize> {
        match line.checked_sub(1) {
            None => Some(0),
            Some(before) => self.newlines.get(before).map(|newline| newline + 1),
        }
    }

    /// Line and column of a byte of this text, both from one.
    pub fn line_and_column(&self, text: &str, offset: usize) -> (usize, usize) {
        let before = text.get(..offset).unwrap_or(text);
        let line = self.line(before.len());
        let start = self.start(line).unwrap_or_default();
        (line + 1, before[start..].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_from_one_and_in_characters() {
        let text = "ä: 1\nb: é2\n";
        let lines = LineIndex::of(text);
        let at = |what: &str| lines.line_and_column(text, text.find(what).unwrap());
        assert_eq!([at("ä"), at("1"), at("b"), at("2")], [(1, 1), (1, 4), (2, 1), (2, 5)]);
        assert_eq!(lines.line_and_column(text, text.len()), (3, 1));
        assert_eq!((lines.start(0), lines.start(2), lines.start(3)), (Some(0), Some(text.len()), None));
    }
}
