//! `cargo xtask security`: every "cannot" of docs/security.md has its test, and every test that is named there exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// Builds the tests, and asks them for their names.
pub(crate) fn run() -> Result<()> {
    let root = crate::repository();
    let claims = Claim::all(&fs_err::read_to_string(root.join("docs/security.md"))?)?;
    let known = known_tests(root, &claims)?;
    let missing: Vec<String> = claims
        .iter()
        .flat_map(|claim| claim.tests.iter().map(move |test| (claim, test)))
        .filter(|(_, test)| !known.contains(*test))
        .map(|(claim, test)| format!("{} {} ({})", test.package, test.name, claim.what))
        .collect();
    if !missing.is_empty() {
        bail!("docs/security.md names tests that do not exist:\n  {}", missing.join("\n  "));
    }
    Ok(())
}

/// A row of a table whose head ends with `shown by`.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    what: String,
    tests: Vec<TestName>,
}

/// As one would run it: `cargo test -p PACKAGE NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TestName {
    package: String,
    name: String,
}

impl Claim {
    fn all(page: &str) -> Result<Vec<Self>> {
        let mut claims = Vec::new();
        let mut in_table = false;
        for line in page.lines() {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            if !line.starts_with('|') {
                in_table = false;
            } else if cells.last() == Some(&"shown by") {
                in_table = true;
            } else if in_table && !line.starts_with("|---") {
                let (what, tests) = (cells[0].to_owned(), cells.last().copied().unwrap_or_default());
                let tests: Vec<TestName> =
                    tests.split('`').skip(1).step_by(2).filter_map(TestName::read).collect();
                ensure!(!tests.is_empty(), "docs/security.md: no test shows that: {what}");
                claims.push(Self { what, tests });
            }
        }
        ensure!(!claims.is_empty(), "docs/security.md has no table that ends with `shown by`");
        Ok(claims)
    }
}

impl TestName {
    fn read(text: &str) -> Option<Self> {
        let (package, name) = text.split_once(' ')?;
        Some(Self { package: package.to_owned(), name: name.to_owned() })
    }
}

/// All tests of the packages that are named.
fn known_tests(root: &Path, claims: &[Claim]) -> Result<BTreeSet<TestName>> {
    let packages: BTreeSet<&str> =
        claims.iter().flat_map(|claim| &claim.tests).map(|test| test.package.as_str()).collect();
    let mut known = BTreeSet::new();
    for (package, programs) in
        programs(root)?.into_iter().filter(|(name, _)| packages.contains(name.as_str()))
    {
        for program in programs {
            let output =
                Command::new(&program).args(["--list", "--format=terse"]).stdin(Stdio::null()).output()?;
            ensure!(output.status.success(), "{}: {}", program.display(), output.status);
            let names = String::from_utf8_lossy(&output.stdout).into_owned();
            let names = names.lines().filter_map(|line| line.strip_suffix(": test"));
            known.extend(names.map(|name| TestName { package: package.clone(), name: name.to_owned() }));
        }
    }
    Ok(known)
}

/// The test programs of each package. The whole workspace is built, as ./test.sh builds it: one package alone would be
/// compiled with other features.
fn programs(root: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--workspace", "--no-run", "--quiet", "--message-format=json"]);
    let output = cargo.current_dir(root).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{cargo:?}: {}", output.status);
    let mut programs: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).context("cargo's own words")?;
        if let (true, Some(program)) = (message["profile"]["test"] == true, message["executable"].as_str()) {
            let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
            let folder = manifest.parent().and_then(Path::file_name).unwrap_or_default();
            programs.entry(folder.to_string_lossy().into_owned()).or_default().push(program.into());
        }
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Title
| can | why |
|---|---|
| look | eyes |

| cannot | shown by |
|---|---|
| get in | `hardway attackers::drill::nobody`, `hardway-cluster csr::none` |
| wait | `hardway serve::refusals::x` |
";

    #[test]
    fn claims_and_their_tests_are_read() {
        let claims = Claim::all(PAGE).unwrap();
        assert_eq!(claims.iter().map(|claim| claim.what.as_str()).collect::<Vec<_>>(), ["get in", "wait"]);
        let test = TestName { package: "hardway-cluster".to_owned(), name: "csr::none".to_owned() };
        assert_eq!(claims[0].tests[1], test);
    }

    #[test]
    fn a_claim_without_a_test_is_refused() {
        let page = PAGE.replace("`hardway serve::refusals::x`", "everybody knows that");
        assert_eq!(Claim::all(&page).unwrap_err().to_string(), "docs/security.md: no test shows that: wait");
        assert!(Claim::all("no table at all").is_err());
    }

    /// Whether the tests exist is asked when all of them are built; that each claim has some is known at once.
    #[test]
    fn every_claim_of_the_page_has_a_test() {
        let page = crate::repository().join("docs/security.md");
        Claim::all(&fs_err::read_to_string(page).unwrap()).unwrap();
    }
}
