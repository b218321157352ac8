//! Rows: a name, a verdict, what was seen, and what to do. Checks, gates and diagnoses are all printed as these.

use std::fmt::{Display, Write as _};

use hardway_base::{Judged, Verdict};

use crate::report::{ERROR, FAINT, FIX, GOOD, WARNING};

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Row<'r> {
    pub(crate) name: &'r str,
    /// In a word, or in a sentence where it stands behind the name.
    pub(crate) outcome: &'r str,
    /// Sentences; the first stands in the row itself.
    pub(crate) detail: Vec<&'r str>,
    pub(crate) advice: Option<&'r str>,
}

impl<'r> Row<'r> {
    /// Of what was judged.
    pub(crate) fn judged(name: &'r str, judged: &'r Judged) -> Self {
        Self {
            name,
            outcome: judged.verdict.name(),
            detail: judged.seen.iter().map(String::as_str).collect(),
            advice: judged.fix.as_deref(),
        }
    }
}

/// How wide the columns of a table are: what stands before the row, outcome and name each with the gap behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) indent: usize,
    pub(crate) outcome: (usize, usize),
    pub(crate) name: (usize, usize),
    /// Where advice begins: below the names, or below what was seen.
    pub(crate) advice: Place,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Name,
    Detail,
}

impl Columns {
    /// One row, and below it the rest of what was seen and what to do.
    pub(crate) fn write(self, text: &mut String, row: &Row<'_>) {
        self.write_words(text, row, &row.outcome, &"fix:");
    }

    /// The same, with the verdict and what to do in colours.
    pub(crate) fn write_painted(self, text: &mut String, row: &Row<'_>) {
        let paint = match row.outcome {
            "passed" => GOOD,
            "warned" => WARNING,
            "failed" => ERROR,
            _ => FAINT,
        };
        // Colours have no width.
        let width = self.outcome.0;
        self.write_words(text, row, &paint.of(format!("{:width$}", row.outcome)), &FIX.of("fix:"));
    }

    fn write_words(self, text: &mut String, row: &Row<'_>, word: &dyn Display, mark: &dyn Display) {
        let Self { indent, outcome: (outcome, after), name: (name, behind), advice } = self;
        let first = row.detail.first().copied().unwrap_or_default();
        let word = format!("{:indent$}{word:outcome$}{:after$}", "", "");
        let _ = writeln!(text, "{word}{:name$}{:behind$}{first}", row.name, "");
        let names = indent + outcome + after;
        let details = names + name + behind;
        for more in row.detail.iter().skip(1) {
            let _ = writeln!(text, "{:details$}{more}", "");
        }
        if let Some(fix) = row.advice {
            let place = if advice == Place::Name { names } else { details };
            let _ = writeln!(text, "{:place$}{mark} {fix}", "");
        }
    }
}

/// One row as a paragraph of labelled lines; `cause` stands before the advice, and `more` says who explains it.
pub(crate) fn paragraph(row: &Row<'_>, cause: &str, more: &str) -> String {
    let mut text = format!("{} {}\n", row.name, row.outcome);
    for line in &row.detail {
        let _ = writeln!(text, "  seen   {line}");
    }
    let _ = writeln!(text, "  cause  {cause}");
    if let Some(fix) = row.advice {
        let _ = writeln!(text, "  fix    {fix}");
    }
    let _ = writeln!(text, "  more   {more}");
    text
}

/// `3 passed, 1 warned, 0 failed`, of these verdicts and in their order.
pub(crate) fn counts<'j>(judged: impl Iterator<Item = &'j Judged>, verdicts: &[Verdict]) -> String {
    let all: Vec<Verdict> = judged.map(|judged| judged.verdict).collect();
    let count = |verdict: &Verdict| all.iter().filter(|one| *one == verdict).count();
    let words =
        verdicts.iter().map(|verdict| format!("{} {}", count(verdict), verdict.name().replace('-', " ")));
    words.collect::<Vec<_>>().join(", ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_stands_below_what_it_is_about() {
        let judged = Judged::failed(vec!["one".into(), "two".into()], "mend it");
        let mut columns = Columns { indent: 2, outcome: (6, 1), name: (5, 2), advice: Place::Detail };
        let mut text = String::new();
        columns.write(&mut text, &Row::judged("names", &judged));
        assert_eq!(text, "  failed names  one\n                two\n                fix: mend it\n");
        columns.advice = Place::Name;
        let mut text = String::new();
        columns.write(&mut text, &Row { detail: vec!["one"], ..Row::judged("names", &judged) });
        assert_eq!(text, "  failed names  one\n         fix: mend it\n");
    }

    #[test]
    fn verdicts_are_counted_in_words() {
        let all = [Judged::passed("a"), Judged::not_applicable("b"), Judged::passed("c")];
        assert_eq!(
            counts(all.iter(), &[Verdict::Passed, Verdict::NotApplicable]),
            "2 passed, 1 not applicable\n"
        );
    }
}
