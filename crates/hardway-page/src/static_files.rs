//! The page itself: written by hand, embedded in the program, without anything from elsewhere.

use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A file of the page.
#[derive(Debug)]
pub(crate) struct StaticFile {
    /// Below the root.
    pub(crate) path: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
    gzipped: OnceLock<Bytes>,
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! static_files {
    ($($path:literal, $kind:expr, $file:literal;)+) => {
        static FILES: [StaticFile; [$($path),+].len()] = [$(StaticFile {
            path: $path,
            kind: $kind,
            text: include_str!(concat!("../static/", $file)),
            gzipped: OnceLock::new(),
        },)+];
    };
}

// Scripts in the order in which they use each other: the one-file page has them one behind the other.
static_files! {
    "/", HTML, "index.html";
    "/page.css", STYLE, "page.css";
    "/format.js", SCRIPT, "format.js";
    "/dom.js", SCRIPT, "dom.js";
    "/fold.js", SCRIPT, "fold.js";
    "/explain.js", SCRIPT, "explain.js";
    "/phases.js", SCRIPT, "phases.js";
    "/hosts.js", SCRIPT, "hosts.js";
    "/cluster.js", SCRIPT, "cluster.js";
    "/network.js", SCRIPT, "network.js";
    "/files.js", SCRIPT, "files.js";
    "/source.js", SCRIPT, "source.js";
    "/main.js", SCRIPT, "main.js";
}

/// The file of a path.
pub(crate) fn find(path: &str) -> Option<&'static StaticFile> {
    FILES.iter().find(|file| file.path == path)
}

/// The scripts, in the order in which they use each other.
pub(crate) fn scripts() -> impl Iterator<Item = &'static StaticFile> {
    FILES.iter().filter(|file| file.kind == SCRIPT)
}

impl StaticFile {
    pub(crate) fn plain(&self) -> Bytes {
        Bytes::from_static(self.text.as_bytes())
    }

    /// Made when it is first asked for.
    pub(crate) fn gzipped(&self) -> Bytes {
        self.gzipped.get_or_init(|| Bytes::from(gzip(self.text.as_bytes()))).clone()
    }
}

/// Quick rather than small: the document is compressed for everyone who asks.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes what is written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small() {
        let all: usize = FILES.iter().map(|file| file.gzipped().len()).sum();
        assert!(all <= 200 << 10, "{all} bytes");
    }

    #[test]
    fn nothing_of_it_lies_elsewhere() {
        for file in &FILES {
            for word in ["http:", "https:", "//cdn", "eval(", "innerHTML", "style=", "onclick="] {
                let found =
                    file.text.lines().find(|line| line.contains(word) && !line.contains("www.w3.org"));
                assert_eq!(found, None, "{word} in {}", file.path);
            }
        }
    }

    /// An import in another order would be a name that is not there yet in the one-file page.
    #[test]
    fn scripts_use_only_those_before_them() {
        let mut before: Vec<&str> = Vec::new();
        for file in scripts() {
            for line in file.text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.rsplit_once("from \"./").and_then(|(_, name)| name.strip_suffix("\";"));
                assert!(from.is_some_and(|name| before.contains(&name)), "{}: {line}", file.path);
            }
            before.push(file.path.trim_start_matches('/'));
        }
    }
}
