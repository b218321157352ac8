//! Housekeeping of the repository: `cargo xtask <task>`.

mod guide;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["guide"] => guide::run(),
        _ => bail!("usage: cargo xtask guide    write the generated tables into docs/guide/"),
    }
}
