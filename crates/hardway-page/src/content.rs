//! What the page shows. The program brings it, browsers ask for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;

/// One document of things that stay, what can be explained of them, and moments in their order.
#[derive(Debug)]
pub struct Content {
    shown: Mutex<Shown>,
    /// Goes up with every change: whoever streams looks again.
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Shown {
    document: Bytes,
    explanations: Bytes,
    /// Goes up when the moments begin anew: a journal was moved away, and another began.
    generation: u64,
    moments: Vec<Bytes>,
    live: Live,
    /// What was last seen of the cluster and its machines, where anybody looks: no part of the past either.
    seen: Option<Bytes>,
    /// Goes up with every look.
    looks: u64,
    /// Goes up with every other document.
    edition: u64,
}

/// What only holds now, and is no part of the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Somebody works in the folder.
    pub is_at_work: bool,
}

/// What somebody who streams has not had yet.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// The moments so far count no more.
    pub(crate) is_new_generation: bool,
    pub(crate) moments: Vec<Bytes>,
    pub(crate) live: Option<Live>,
    /// Another look at the cluster; nothing in it when nobody looks any more.
    pub(crate) seen: Option<Bytes>,
    /// There is another document than the one that was fetched.
    pub(crate) is_new_edition: bool,
}

/// How far somebody who streams is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    generation: Option<u64>,
    moments: usize,
    live: Option<Live>,
    looks: u64,
    edition: Option<u64>,
}

impl Content {
    /// Without any moment yet.
    pub fn new(document: &Value, explanations: &Value) -> Self {
        let shown = Shown {
            document: text(document),
            explanations: text(explanations),
            generation: 0,
            moments: Vec::new(),
            live: Live::default(),
            seen: None,
            looks: 0,
            edition: 0,
        };
        Self { shown: Mutex::new(shown), changes: watch::Sender::new(0) }
    }

    /// More moments, behind those that are there.
    pub fn append(&self, moments: &[Value]) {
        if moments.is_empty() {
            return;
        }
        self.lock().moments.extend(moments.iter().map(text));
        self.tell();
    }

    /// From the beginning: what happened so far is not what happened here.
    pub fn begin_anew(&self) {
        let mut shown = self.lock();
        shown.generation += 1;
        shown.moments.clear();
        drop(shown);
        self.tell();
    }

    /// Another document: pages that are open fetch it.
    pub fn set_document(&self, document: &Value, explanations: &Value) {
        let (document, explanations) = (text(document), text(explanations));
        let mut shown = self.lock();
        if (&shown.document, &shown.explanations) == (&document, &explanations) {
            return;
        }
        (shown.document, shown.explanations) = (document, explanations);
        shown.edition += 1;
        drop(shown);
        self.tell();
    }

    /// What holds now.
    pub fn set_live(&self, live: Live) {
        let mut shown = self.lock();
        if shown.live == live {
            return;
        }
        shown.live = live;
        drop(shown);
        self.tell();
    }

    /// What was just seen of the cluster and its machines; nothing when nobody can look any more.
    pub fn set_seen(&self, seen: Option<&Value>) {
        let seen = seen.map(text);
        let mut shown = self.lock();
        if shown.seen == seen {
            return;
        }
        shown.seen = seen;
        shown.looks += 1;
        drop(shown);
        self.tell();
    }

    pub(crate) fn seen(&self) -> Option<Bytes> {
        self.lock().seen.clone()
    }

    pub(crate) fn document(&self) -> Bytes {
        self.lock().document.clone()
    }

    pub(crate) fn explanations(&self) -> Bytes {
        self.lock().explanations.clone()
    }

    pub(crate) fn moments(&self) -> Vec<Bytes> {
        self.lock().moments.clone()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// At most so many moments at once; none when there is nothing new.
    pub(crate) fn news(&self, place: &mut Place, at_most: usize) -> Option<News> {
        let shown = self.lock();
        let mut news = News::default();
        if place.generation != Some(shown.generation) {
            let edition = place.edition;
            let looks = place.looks;
            *place = Place { generation: Some(shown.generation), looks, edition, ..Place::default() };
            news.is_new_generation = true;
        }
        let end = shown.moments.len().min(place.moments + at_most);
        news.moments = shown.moments[place.moments..end].to_vec();
        place.moments = end;
        if place.live != Some(shown.live) && end == shown.moments.len() {
            place.live = Some(shown.live);
            news.live = Some(shown.live);
        }
        if place.looks != shown.looks && end == shown.moments.len() {
            place.looks = shown.looks;
            news.seen = Some(shown.seen.clone().unwrap_or_else(|| Bytes::from_static(b"null")));
        }
        // The first was fetched a moment ago.
        let edition = place.edition.replace(shown.edition);
        news.is_new_edition = edition.is_some_and(|edition| edition != shown.edition);
        let is_none =
            !news.is_new_generation && news.moments.is_empty() && !news.is_new_edition && news.live.is_none();
        (!is_none || news.seen.is_some()).then_some(news)
    }

    fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    pub(crate) fn value(self) -> Value {
        json!({"isAtWork": self.is_at_work})
    }
}

fn text(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_a_moment_twice_or_of_another_journal() {
        let content = Content::new(&json!({}), &json!({}));
        let mut place = Place::default();
        let first = content.news(&mut place, 2).unwrap();
        assert!(first.is_new_generation && first.moments.is_empty() && first.live.is_some());
        assert!(content.news(&mut place, 2).is_none());
        content.append(&[json!(1), json!(2), json!(3)]);
        assert_eq!(content.news(&mut place, 2).unwrap().moments, ["1", "2"]);
        assert_eq!(content.news(&mut place, 2).unwrap().moments, ["3"]);
        content.begin_anew();
        content.append(&[json!(4)]);
        let anew = content.news(&mut place, 2).unwrap();
        assert!(anew.is_new_generation);
        assert_eq!(anew.moments, ["4"]);
        content.set_live(Live { is_at_work: true });
        assert_eq!(content.news(&mut place, 2).unwrap().live, Some(Live { is_at_work: true }));
        assert!(content.news(&mut place, 2).is_none());
        content.set_seen(Some(&json!({"api": 1})));
        assert_eq!(content.news(&mut place, 2).unwrap().seen.unwrap(), r#"{"api":1}"#);
        content.set_seen(Some(&json!({"api": 1})));
        assert!(content.news(&mut place, 2).is_none(), "the same look is no news");
        content.set_seen(None);
        assert_eq!(content.news(&mut place, 2).unwrap().seen.unwrap(), "null");
        content.set_document(&json!({}), &json!({}));
        assert!(content.news(&mut place, 2).is_none(), "the same document is no news");
        content.set_document(&json!({"title": "t"}), &json!({}));
        assert!(content.news(&mut place, 2).unwrap().is_new_edition);
        assert!(content.news(&mut place, 2).is_none());
    }
}
