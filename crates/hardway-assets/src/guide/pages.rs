//! The pages, in the order in which the phases run.

use std::sync::LazyLock;

use crate::Phase;

/// One page of the guide.
#[derive(Clone, Debug)]
pub struct Page {
    /// `07`: the number it shares with its phase; `00` is the map.
    pub number: &'static str,
    /// The phase it is about; the map is about none.
    pub phase: Option<Phase>,
    /// Its heading, without the number and the phase.
    pub title: &'static str,
    /// The file in `docs/guide/`.
    pub file: &'static str,
    /// The whole page.
    pub text: &'static str,
}

/// Every page but the index: the map, then one for each of [`Phase::ALL`].
pub fn pages() -> &'static [Page] {
    &PAGES
}

/// The text of `docs/guide/README.md`.
pub fn index() -> &'static str {
    include_str!("../../guide/README.md")
}

/// The page of a number (`7`, `07`), of a phase (`render-nodes`) or of a file (`00-what-we-are-building`).
///
/// ```
/// use hardway_assets::guide::page;
///
/// assert_eq!(page("7").unwrap().file, page("render-nodes").unwrap().file);
/// ```
pub fn page(what: &str) -> Option<&'static Page> {
    let what = what.trim().to_ascii_lowercase();
    if let Ok(number) = what.parse::<usize>() {
        return PAGES.get(number);
    }
    PAGES.iter().find(|page| {
        page.phase.is_some_and(|phase| phase.name() == what)
            || page.file.trim_end_matches(".md") == what.trim_end_matches(".md")
    })
}

impl Page {
    /// What the phase takes, from the page's own line.
    pub fn takes(&self) -> String {
        self.item("- Takes: ")
    }

    /// What the phase gives, from the page's own line.
    pub fn gives(&self) -> String {
        self.item("- Gives: ")
    }

    /// A list item with the lines it is wrapped into.
    fn item(&self, label: &str) -> String {
        let Some((_, rest)) = self.text.split_once(label) else {
            return String::new();
        };
        let mut lines = rest.lines();
        let mut item = lines.next().unwrap_or_default().to_owned();
        for line in lines.take_while(|line| line.starts_with("  ")) {
            item.push(' ');
            item.push_str(line.trim());
        }
        item.trim_end_matches('.').to_owned()
    }
}

macro_rules! files {
    ($($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!("../../guide/", $file)))),+]
    };
}

/// One list for pages and phases: page N is about the Nth phase, which a test holds against the names.
const FILES: [(&str, &str); Phase::ALL.len() + 1] = files![
    "00-what-we-are-building.md",
    "01-check-host.md",
    "02-build-infra.md",
    "03-fetch-release.md",
    "04-make-pki.md",
    "05-make-kubeconfigs.md",
    "06-make-manifests.md",
    "07-render-nodes.md",
    "08-make-ignition.md",
    "09-install-os.md",
    "10-await-bootstrap.md",
    "11-join-control-plane.md",
    "12-await-etcd.md",
    "13-remove-bootstrap.md",
    "14-boot-workers.md",
    "15-join-workers.md",
    "16-await-operators.md",
    "17-verify-cluster.md",
];

static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let phases = std::iter::once(None).chain(Phase::ALL.map(Some));
    FILES.into_iter().zip(phases).map(|((file, text), phase)| Page::read(file, phase, text)).collect()
});

impl Page {
    fn read(file: &'static str, phase: Option<Phase>, text: &'static str) -> Self {
        let heading = text.lines().next().unwrap_or_default();
        let title = heading.split_once(": ").map_or(heading, |(_, title)| title);
        let number = file.split('-').next().unwrap_or(file);
        Self { number, phase, title, file, text }
    }
}
