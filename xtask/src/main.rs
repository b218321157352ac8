//! Housekeeping of the repository: `cargo xtask <task>`.

mod guide;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["guide"] => guide::write(),
        ["guide", "--check"] => guide::check(),
        _ => bail!(
            "usage: cargo xtask guide [--check]    write the tables in docs/guide/, or say which are old"
        ),
    }
}
