//! The table that a bench prints.

use std::fmt::Write as _;

use super::measure::Walls;

/// Rows of what was measured, each beside its bar.
#[derive(Debug, Default)]
pub(crate) struct Table(String);

impl Table {
    /// A time: the median is held against the bar.
    pub(crate) fn seconds(&mut self, what: &str, walls: &Walls, bar: Option<f64>) {
        let shown = format!("{:.3} s", walls.median());
        let note = format!("lowest {:.3} s", walls.lowest());
        self.row(what, &shown, bar.map(|bar| (format!("{bar} s"), walls.median() <= bar)), &note);
    }

    /// A figure that was measured once.
    pub(crate) fn figure(&mut self, what: &str, (value, unit): (f64, &str), bar: Option<f64>, note: &str) {
        self.row(
            what,
            &format!("{value:.1} {unit}"),
            bar.map(|bar| (format!("{bar} {unit}"), value <= bar)),
            note,
        );
    }

    /// A size in memory.
    pub(crate) fn megabytes(&mut self, what: &str, megabytes: f64, bar: Option<f64>) {
        let shown = format!("{megabytes:.0} MB");
        self.row(what, &shown, bar.map(|bar| (format!("{bar} MB"), megabytes <= bar)), "");
    }

    /// Bytes of a whole.
    pub(crate) fn share(&mut self, what: &str, part: u64, whole: u64, bar: Option<f64>) {
        let share = part as f64 / whole as f64;
        let note = format!("{} kB of {} kB", part / 1000, whole / 1000);
        let bar = bar.map(|bar| (format!("{} %", bar * 100.0), share <= bar));
        self.row(what, &format!("{:.3} %", share * 100.0), bar, &note);
    }

    /// How many times as long as another.
    pub(crate) fn ratio(&mut self, what: &str, ours: &Walls, theirs: &Walls, bar: Option<f64>) {
        let ratio = ours.median() / theirs.median();
        let note = format!("lowest to lowest {}", figure(ours.lowest() / theirs.lowest()));
        self.row(what, &figure(ratio), bar.map(|bar| (bar.to_string(), ratio <= bar)), &note);
    }

    /// Answers each second; more is better.
    pub(crate) fn rate(&mut self, what: &str, rate: f64, bar: Option<f64>) {
        self.row(what, &format!("{rate:.0}/s"), bar.map(|bar| (format!("{bar:.0}/s"), rate >= bar)), "");
    }

    /// How many times as many as another.
    pub(crate) fn at_least(&mut self, what: &str, ratio: f64, bar: f64) {
        self.row(what, &format!("{ratio:.2}"), Some((bar.to_string(), ratio >= bar)), "");
    }

    /// Something that could not be measured.
    pub(crate) fn missing(&mut self, what: &str, why: &str) {
        self.row(what, "-", None, why);
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        format!("{:48} {:>9} {:>8}\n{}", "", "median", "bar", self.0)
    }

    fn row(&mut self, what: &str, shown: &str, bar: Option<(String, bool)>, note: &str) {
        let (bar, verdict) = match bar {
            Some((bar, true)) => (bar, "ok"),
            Some((bar, false)) => (bar, "miss"),
            None => (String::new(), ""),
        };
        let line = format!("{what:48} {shown:>9} {bar:>8}  {verdict:4}  {note}");
        let _ = writeln!(self.0, "{}", line.trim_end());
    }
}

/// With more digits where two would say nothing.
fn figure(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.4}") } else { format!("{ratio:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_stands_beside_its_bar() {
        let mut ours = Walls::default();
        ours.add(1.2);
        let mut theirs = Walls::default();
        theirs.add(1.0);
        let mut table = Table::default();
        table.seconds("a", &ours, Some(1.5));
        table.ratio("b", &ours, &theirs, Some(1.1));
        table.share("c", 5_000, 1_000_000, Some(0.01));
        let lines: Vec<String> =
            table.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines[1], "a 1.200 s 1.5 s ok lowest 1.200 s");
        assert_eq!(lines[2], "b 1.20 1.1 miss lowest to lowest 1.20");
        assert_eq!(lines[3], "c 0.500 % 1 % ok 5 kB of 1000 kB");
    }
}
