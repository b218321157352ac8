//! Which commands a shell script starts: first words, by a reading that knows quotes, substitutions and here-documents. It is no
//! shell: what it takes for a command may be text, and a command in a variable is none to it.

use std::collections::BTreeSet;

/// Words in front of a command.
const KEYWORDS: [&str; 19] = [
    "!", "{", "}", "command", "do", "done", "elif", "else", "env", "esac", "exec", "fi", "if", "nohup",
    "sudo", "then", "time", "until", "while",
];
const BUILTINS: [&str; 39] = [
    ".",
    ":",
    "bg",
    "break",
    "case",
    "cd",
    "continue",
    "declare",
    "eval",
    "exit",
    "export",
    "fg",
    "for",
    "function",
    "hash",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "mapfile",
    "printf",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unset",
    "wait",
];

#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) commands: BTreeSet<String>,
    /// Which it defines itself.
    pub(super) functions: BTreeSet<String>,
}

pub(super) fn commands(script: &str) -> Words {
    let mut reader =
        Reader { text: script.as_bytes(), at: 0, documents: Vec::new(), words: Words::default() };
    while reader.at < reader.text.len() {
        reader.list();
        reader.at += 1;
    }
    let Words { commands, functions } = reader.words;
    Words { commands: &commands - &functions, functions }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// Ends of here-documents that begin with the next line.
    documents: Vec<String>,
    words: Words,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(b'\n')
    }

    /// Commands up to a closing bracket or the end.
    fn list(&mut self) {
        let mut is_first = true;
        while self.at < self.text.len() {
            match self.peek(0) {
                b')' => return,
                b'\n' => {
                    self.at += 1;
                    self.skip_documents();
                    is_first = true;
                }
                b';' | b'|' | b'&' | b'`' => {
                    self.at += 1;
                    is_first = true;
                }
                b' ' | b'\t' => self.at += 1,
                b'#' => self.skip_to(b"\n"),
                b'<' | b'>' => self.redirection(),
                b'(' => {
                    self.group();
                    is_first = false;
                }
                _ => is_first = self.word(is_first),
            }
        }
    }

    /// `( … )`, or arithmetic.
    fn group(&mut self) {
        if self.peek(1) == b'(' {
            self.skip_to(b"))");
            self.at += 2;
        } else {
            self.at += 1;
            self.list();
            self.at += 1;
        }
    }

    /// Whether the next word is a command.
    fn word(&mut self, is_first: bool) -> bool {
        let start = self.at;
        let mut is_literal = true;
        while !matches!(
            self.peek(0),
            b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'`' | b')' | b'('
        ) {
            match self.peek(0) {
                b'\'' => {
                    self.at += 1;
                    self.skip_to(b"'");
                    self.at += 1;
                    is_literal = false;
                }
                b'"' => {
                    self.quoted();
                    is_literal = false;
                }
                b'$' => {
                    self.expansion();
                    is_literal = false;
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        let word = String::from_utf8_lossy(&self.text[start..end]).into_owned();
        if self.peek(0) == b'(' && (word.ends_with('=') || !is_first) {
            // An array's values, or a pattern.
            self.at += 1;
            self.skip_to(b")");
            self.at += 1;
            return is_first;
        }
        if !is_first {
            return false;
        }
        if self.peek(0) == b'(' && self.peek(1) == b')' {
            self.at += 2;
            self.words.functions.insert(word);
            return true;
        }
        match word.as_str() {
            "[[" => {
                self.skip_to(b"]]");
                self.at += 2;
                false
            }
            word if KEYWORDS.contains(&word) => true,
            word if is_assignment(word) => true,
            word => {
                let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._+-".contains(c);
                if is_literal
                    && word.starts_with(|c: char| c.is_ascii_lowercase())
                    && word.chars().all(is_name)
                    && !BUILTINS.contains(&word)
                {
                    self.words.commands.insert(word.to_owned());
                }
                false
            }
        }
    }

    fn quoted(&mut self) {
        self.at += 1;
        while self.at < self.text.len() && self.peek(0) != b'"' {
            match self.peek(0) {
                b'\\' => self.at += 2,
                b'$' => self.expansion(),
                _ => self.at += 1,
            }
        }
        self.at += 1;
    }

    /// `$(…)`, `$((…))`, `${…}`, `$x`
    fn expansion(&mut self) {
        self.at += 1;
        match self.peek(0) {
            b'(' => self.group(),
            b'{' => {
                let mut depth = 0;
                while self.at < self.text.len() {
                    match self.peek(0) {
                        b'{' => depth += 1,
                        b'}' => depth -= 1,
                        b'\\' => self.at += 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            b'\'' => {}
            _ => self.at += 1,
        }
    }

    /// Up to its target, which is a word like any other; a here-document is noted.
    fn redirection(&mut self) {
        let is_document = self.peek(0) == b'<' && self.peek(1) == b'<' && self.peek(2) != b'<';
        while matches!(self.peek(0), b'<' | b'>' | b'&' | b'-' | b' ') {
            self.at += 1;
            if self.peek(0) == b'(' {
                return self.group();
            }
        }
        let start = self.at;
        self.word(false);
        if is_document {
            let word = String::from_utf8_lossy(&self.text[start..self.at.min(self.text.len())]).into_owned();
            self.documents.push(word.trim_matches(['\'', '"']).to_owned());
        }
    }

    fn skip_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            while self.at < self.text.len() {
                let start = self.at;
                self.skip_to(b"\n");
                let line =
                    String::from_utf8_lossy(&self.text[start..self.at.min(self.text.len())]).into_owned();
                self.at += 1;
                if line.trim() == end {
                    break;
                }
            }
        }
    }

    fn skip_to(&mut self, end: &[u8]) {
        while self.at < self.text.len() && !self.text[self.at..].starts_with(end) {
            self.at += 1;
        }
    }
}

/// `NAME=…`
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('+');
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_[]$\"".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words_are_commands() {
        let script = r#"#!/bin/bash
# sed is only talked about
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) LANG=C sort -u <"$list" | uniq >/dev/null 2>&1 &
names=(awk grep)
wanted+=(perl "$x")
build() {
  if ! gzip -1 <x; then echo "no $(hostname -f) 'xz'" >&2; fi
  for name in a b; do curl "$name"; done
}
[[ -e lsof && -n tac ]] || mkfifo x
case $1 in
  --help) head -n 3 ;;
esac
((count > 1)) && build
until (exec mount -t proc) || sleep 1; do :; done
cat <<'END' >file
rm -rf /
END
ip link | while read -r line; do tr a b <<<"$line"; done
mapfile -t lines < <(ss -tln)
'quoted' ${x:-nothing} "$y" stat
"#;
        let words = commands(script);
        let expected = [
            "cat", "curl", "dirname", "echo", "gzip", "head", "hostname", "ip", "mkfifo", "mount", "sleep",
            "sort", "ss", "tr", "uniq",
        ];
        assert_eq!(words.commands, expected.map(str::to_owned).into());
        assert_eq!(words.functions, ["build".to_owned()].into());
    }
}
