//! `cargo xtask guide`: the tables in the pages of the guide that are made from the code.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use hardway_assets::explain::{Catalogue, EXPLANATIONS, Kind};
use hardway_assets::guide;

/// Rewrites the pages whose tables are old, and names them.
pub(crate) fn write() -> Result<()> {
    for page in old()? {
        fs_err::write(&page.path, page.fresh)?;
        writeln!(std::io::stdout(), "docs/guide/{}", page.file)?;
    }
    Ok(())
}

/// Fails when a page holds an old table.
pub(crate) fn check() -> Result<()> {
    let files: Vec<&str> = old()?.iter().map(|page| page.file).collect();
    if !files.is_empty() {
        bail!("old tables in docs/guide/ ({}): run `cargo xtask guide`", files.join(", "));
    }
    Ok(())
}

struct OldPage {
    file: &'static str,
    path: PathBuf,
    fresh: String,
}

/// Pages are read from disk: the ones built into this program may be older.
fn old() -> Result<Vec<OldPage>> {
    let folder = crate::repository().join("docs/guide");
    let explained = explained()?;
    let mut old = Vec::new();
    for file in guide::pages().iter().map(|page| page.file).chain(["README.md", "hosted/02-inventory.md"]) {
        let path = folder.join(file);
        let text = fs_err::read_to_string(&path)?;
        let fresh = guide::fill(&text, &explained);
        if fresh != text {
            old.push(OldPage { file, path, fresh });
        }
    }
    Ok(old)
}

/// Of the assets, and of the checks, which are read from disk: their crate is a long way to compile for a text.
fn explained() -> Result<Catalogue> {
    let checks =
        fs_err::read_to_string(crate::repository().join("crates/hardway-machines/explanations/checks.md"))?;
    let checks = (Kind::Check, &*checks.leak());
    Ok(Catalogue::read(EXPLANATIONS.iter().copied().chain([checks])))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_guide_is_fresh() {
        super::check().unwrap();
    }
}
