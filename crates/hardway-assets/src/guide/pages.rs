//! The pages, in the order of the data's way.

use std::sync::LazyLock;

use crate::Phase;

/// One page of the guide.
#[derive(Clone, Debug)]
pub struct Page {
    /// `07` or `04b`: the stage it is about.
    pub stage: &'static str,
    /// The phase it is about; the map of stage 03 is about none.
    pub phase: Option<Phase>,
    /// Its heading, without the stage and the phase.
    pub title: &'static str,
    /// The file in `docs/guide/`.
    pub file: &'static str,
    /// The whole page.
    pub text: &'static str,
}

/// Every page but the index.
pub fn pages() -> &'static [Page] {
    &PAGES
}

/// The text of `docs/guide/README.md`.
pub fn index() -> &'static str {
    include_str!("../../../../docs/guide/README.md")
}

/// The page of a stage (`7`, `07`, `04b`), of a phase (`make-manifests`) or of a file (`03-what-we-are-building`).
pub fn page(what: &str) -> Option<&'static Page> {
    let what = what.trim().to_ascii_lowercase();
    let short = |stage: &str| stage.trim_start_matches('0').to_owned();
    PAGES.iter().find(|page| {
        short(page.stage) == short(&what)
            || page.phase.is_some_and(|phase| phase.name() == what)
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

    /// Whether hardway can run the phase; pages of the others say so on top.
    pub fn is_built(&self) -> bool {
        !self.text.contains("\n> hardway does not run this phase yet;")
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

macro_rules! page {
    ($file:literal, $phase:expr) => {
        Page::read($file, $phase, include_str!(concat!("../../../../docs/guide/", $file)))
    };
}

static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    vec![
        page!("01-check-host.md", Some(Phase::CheckHost)),
        page!("02-build-infra.md", Some(Phase::BuildInfra)),
        page!("03-what-we-are-building.md", None),
        page!("04-fetch-release.md", Some(Phase::FetchRelease)),
        page!("05-make-pki.md", Some(Phase::MakePki)),
        page!("06-make-kubeconfigs.md", Some(Phase::MakeKubeconfigs)),
        page!("07-make-manifests.md", Some(Phase::MakeManifests)),
        page!("04b-render-nodes.md", Some(Phase::RenderNodes)),
        page!("08-make-ignition.md", Some(Phase::MakeIgnition)),
        page!("09-install-os.md", Some(Phase::InstallOs)),
        page!("10-await-bootstrap.md", Some(Phase::AwaitBootstrap)),
        page!("11-join-control-plane.md", Some(Phase::JoinControlPlane)),
        page!("12-await-etcd.md", Some(Phase::AwaitEtcd)),
        page!("13-remove-bootstrap.md", Some(Phase::RemoveBootstrap)),
        page!("14-boot-workers.md", Some(Phase::BootWorkers)),
        page!("15-join-workers.md", Some(Phase::JoinWorkers)),
        page!("16-await-operators.md", Some(Phase::AwaitOperators)),
        page!("17-verify-cluster.md", Some(Phase::VerifyCluster)),
    ]
});

impl Page {
    fn read(file: &'static str, phase: Option<Phase>, text: &'static str) -> Self {
        let heading = text.lines().next().unwrap_or_default();
        let title = heading.split_once(": ").map_or(heading, |(_, title)| title);
        let stage = file.split('-').next().unwrap_or(file);
        Self { stage, phase, title, file, text }
    }
}
