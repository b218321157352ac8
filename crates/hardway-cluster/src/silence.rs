//! An API that does not answer: said soon, and then now and again, so that whoever waits knows that somebody does.

use std::time::Duration;

use tokio::time::Instant;

/// The first word about it comes so soon.
const FIRST: Duration = Duration::from_millis(2500);

/// And then the next.
const NEXT: Duration = Duration::from_secs(12);

/// How long nothing was heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    began: Instant,
    said: Option<Instant>,
}

impl Silence {
    /// From now on.
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now(), said: None }
    }

    /// What is to be said now, if anything. Asked often, and with what was heard last.
    pub(crate) fn line(&mut self, is_heard: bool, why: Option<&str>) -> Option<String> {
        self.line_at(Instant::now(), is_heard, why)
    }

    fn line_at(&mut self, now: Instant, is_heard: bool, why: Option<&str>) -> Option<String> {
        if is_heard {
            *self = Self { began: now, said: None };
            return None;
        }
        let is_due = match self.said {
            None => now - self.began >= FIRST,
            Some(said) => now - said >= NEXT,
        };
        if !is_due {
            return None;
        }
        self.said = Some(now);
        let seconds = (now - self.began).as_secs_f32().round();
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        Some(format!("no answer for {seconds} s{why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_within_three_seconds_and_then_every_twelve() {
        let mut silence = Silence::begin();
        let at = |half_seconds: u32| silence.began + Duration::from_millis(500) * half_seconds;
        let moments: Vec<Instant> = (0..60).map(at).collect();
        let mut said = Vec::new();
        for (half_seconds, now) in moments.iter().enumerate() {
            said.extend(silence.line_at(*now, false, Some("refused")).map(|line| (half_seconds, line)));
        }
        let when: Vec<usize> = said.iter().map(|(half_seconds, _)| *half_seconds).collect();
        assert_eq!(when, [5, 29, 53]);
        assert_eq!(said[2].1, "no answer for 27 s: refused", "{said:?}");

        let later = moments[59];
        assert_eq!(silence.line_at(later, true, None), None);
        assert_eq!(silence.line_at(later, false, None), None, "it begins anew");
        let line = silence.line_at(later + Duration::from_secs(3), false, None);
        assert_eq!(line.as_deref(), Some("no answer for 3 s"));
    }
}
