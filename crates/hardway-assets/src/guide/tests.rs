//! The pages are complete and linked. That their tables are fresh is checked by `cargo xtask guide --check`.

use super::{index, page, pages};
use crate::Phase;
use crate::explain::Catalogue;

#[test]
fn every_phase_has_a_page_with_its_number() {
    let phases: Vec<Phase> = pages().iter().filter_map(|page| page.phase).collect();
    assert_eq!(phases, Phase::ALL);
    for (number, page) in pages().iter().enumerate() {
        assert_eq!(page.number, format!("{number:02}"), "{}", page.file);
        assert_eq!(page.phase.map_or(0, Phase::number), number, "{}", page.file);
    }
}

#[test]
fn pages_are_found_by_stage_phase_and_file() {
    for what in ["6", "06", "make-manifests", "06-make-manifests", "06-make-manifests.md", " MAKE-MANIFESTS "]
    {
        assert_eq!(page(what).map(|page| page.number), Some("06"), "{what}");
    }
    assert_eq!(page("7").map(|page| page.file), Some("07-render-nodes.md"));
    assert_eq!(page("00").map(|page| page.phase), Some(None));
    let beyond = (Phase::ALL.len() + 1).to_string();
    assert!(page(&beyond).is_none() && page("").is_none() && page("b").is_none());
}

#[test]
fn pages_say_what_they_take_and_give_and_how_to_look_closer() {
    for page in pages() {
        assert!(page.text.starts_with(&format!("# {} ", page.number)), "{}: heading", page.file);
        assert!(!page.takes().is_empty() && !page.gives().is_empty(), "{}: takes and gives", page.file);
        assert!(page.text.contains("\n## Look closer\n"), "{}: look closer", page.file);
        if let Some(phase) = page.phase {
            assert!(page.file.ends_with(&format!("-{phase}.md")), "{}: {phase}", page.file);
        }
    }
}

#[test]
fn every_marker_has_a_table_and_every_table_is_used() {
    let explained = Catalogue::of_assets();
    let mut tables: Vec<&str> = Vec::new();
    for text in pages().iter().map(|page| page.text).chain([index()]) {
        for marker in text.split("<!-- table: ").skip(1) {
            let name = marker.split(" -->").next().unwrap_or_default();
            assert!(super::table(name, &explained).is_some() && marker.contains("<!-- end -->"), "{name}");
            tables.push(name);
        }
    }
    tables.sort_unstable();
    let flags = [
        "cluster-policy-controller",
        "cluster-version-operator",
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
    ];
    let mut all = vec![
        "bootstrap-files",
        "bundles",
        "certificates",
        "checks",
        "install-config-fields",
        "inventory-fields",
        "key-pairs",
        "kubeconfigs",
        "live-files",
        "live-units",
        "manifests",
        "node-files",
        "operator-seeds",
        "phases",
        "static-pods",
        "units",
    ];
    let flags: Vec<String> = flags.iter().map(|component| format!("flags:{component}")).collect();
    all.extend(flags.iter().map(String::as_str));
    all.sort_unstable();
    assert_eq!(tables, all);
}

#[test]
fn links_lead_to_pages() {
    for (file, text) in pages().iter().map(|page| (page.file, page.text)).chain([("README.md", index())]) {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let is_page = ["README.md", "hosted/README.md"].contains(&link)
                || pages().iter().any(|page| page.file == link);
            assert!(is_page || link.starts_with("https://"), "{file}: {link}");
        }
    }
}

/// The guide promises them by number.
#[test]
fn every_trap_stands_on_a_page() {
    for n in 1..=31 {
        let trap = format!("T{n}");
        let stands = |text: &str| {
            text.match_indices(&trap)
                .any(|(i, _)| !text[i + trap.len()..].starts_with(|c: char| c.is_ascii_digit()))
        };
        assert!(pages().iter().any(|page| stands(page.text)), "{trap}");
    }
}
