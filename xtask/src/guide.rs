//! `cargo xtask guide`: writes the tables that are made from the code into the pages of the guide.

use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use hardway_assets::guide;

/// Rewrites the pages whose tables are old, and names them. Pages are read from disk: the ones built into this program
/// may be older.
pub(crate) fn run() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide");
    for file in guide::pages().iter().map(|page| page.file).chain(["README.md"]) {
        let path = folder.join(file);
        let text = fs_err::read_to_string(&path)?;
        let filled = guide::fill(&text);
        if filled != text {
            fs_err::write(&path, filled)?;
            writeln!(std::io::stdout(), "docs/guide/{file}")?;
        }
    }
    Ok(())
}
