//! The page as one file, which needs no server and can be attached to a ticket.
//!
//! Styles, scripts, document and moments are in it. Its policy allows no request at all, and no script but that one, by its hash.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::Content;
use crate::static_files::{find, scripts};

/// The whole page, with everything that the content has now.
///
/// # Panics
/// Never: the page is part of the program.
pub fn export(content: &Content) -> String {
    let page = find("/").expect("the page is embedded").text;
    let style = find("/page.css").expect("the page is embedded").text;
    let script = one_script();
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(style)
    );
    let head =
        format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>");
    let moments: Vec<String> =
        content.moments().iter().map(|moment| String::from_utf8_lossy(moment).into_owned()).collect();
    let data = [
        ("document", String::from_utf8_lossy(&content.document()).into_owned()),
        ("explanations", String::from_utf8_lossy(&content.explanations()).into_owned()),
        ("moments", format!("[{}]", moments.join(","))),
        (
            "seen",
            content
                .seen()
                .map_or_else(|| "null".to_owned(), |seen| String::from_utf8_lossy(&seen).into_owned()),
        ),
    ];
    let data: String = data.iter().map(|(name, json)| block(name, json)).collect();
    page.replace("<link rel=\"stylesheet\" href=\"/page.css\">", &head).replace(
        "<script type=\"module\" src=\"/main.js\"></script>",
        &format!("{data}<script type=\"module\">{script}</script>"),
    )
}

/// Data, which a browser does not run. Nothing in it can end the block.
fn block(name: &str, json: &str) -> String {
    let json = json.replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"recorded-{name}\">{json}</script>\n")
}

/// All scripts one behind the other: what they import is there already.
fn one_script() -> String {
    let mut text = String::from("\n");
    for line in scripts().flat_map(|file| file.text.lines()) {
        if line.starts_with("import ") {
            continue;
        }
        text += line.strip_prefix("export ").unwrap_or(line);
        text.push('\n');
    }
    text
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_file_holds_everything_and_asks_nobody() {
        let content =
            Content::new(&json!({"title": "</script><script>alert(1)</script>"}), &json!({"a": "b"}));
        content.append(&[json!({"seq": 1}), json!({"seq": 2})]);
        let text = export(&content);
        for gone in ["href=\"/", "src=\"/", "import {", "\nexport ", "</script><script>alert"] {
            assert!(!text.contains(gone), "{gone}");
        }
        assert!(text.contains(r#"[{"seq":1},{"seq":2}]"#));
        assert_eq!(text.matches("<script type=\"module\">").count(), 1);
        // The hash is that of what stands between the tags.
        let (_, rest) = text.split_once("<script type=\"module\">").unwrap();
        let (script, _) = rest.split_once("</script>").unwrap();
        assert!(text.contains(&hash(script)));
    }

    /// Two scripts that declare one name would be a mistake only in the one-file page.
    #[test]
    fn no_name_is_declared_twice() {
        let script = one_script();
        let mut names: Vec<&str> = script
            .lines()
            .filter_map(|line| {
                let rest = ["const ", "let ", "function ", "async function ", "class "]
                    .iter()
                    .find_map(|word| line.strip_prefix(word))?;
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
            })
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
