//! SSH public keys, as sshd reads them in authorized_keys. Never shown: people paste the private half.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::draft::Draft;
use super::Rules;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    // With FIPS the whole text is read at once in every release.
    let each_line = rules.every_ssh_line_is_a_key && !draft.config.fips;
    let keys: Vec<Result<&str, NoKey>> = lines(&draft.config.ssh_key, each_line).map(key_type).collect();
    let none_good = !draft.config.ssh_key.is_empty() && !keys.iter().any(Result::is_ok);
    let prefix = if draft.config.fips { "Fatal error trying to parse configured public key: " } else { "" };
    if keys.is_empty() && none_good {
        findings.error(Violation::redacted("sshKey", format!("{prefix}{}", NoKey::Unreadable)));
    }
    for (i, key) in keys.iter().enumerate() {
        let Err(error) = key else { continue };
        let which = if keys.len() > 1 { format!(" (key {})", i + 1) } else { String::new() };
        let violation = Violation::redacted("sshKey", format!("{prefix}{error}{which}"));
        if none_good || each_line { findings.error(violation) } else { findings.warn(violation) }
    }
    if draft.config.fips {
        fips(&keys, rules, findings);
    }
}

/// Where each line must be a key, a comment is a mistake; elsewhere comments are passed over, as sshd does.
fn lines(text: &str, each_line: bool) -> impl Iterator<Item = &str> {
    let is_key = move |line: &&str| {
        if each_line { !line.is_empty() } else { !line.trim().is_empty() && !line.trim().starts_with('#') }
    };
    text.split('\n').filter(is_key).map(str::trim)
}

/// openshift-install looks at the first key only. One that sshd will not take beside a good one locks nobody out.
fn fips(keys: &[Result<&str, NoKey>], rules: &Rules, findings: &mut Findings<'_>) {
    for (i, kind) in keys.iter().filter_map(|key| key.ok()).enumerate().filter(|(_, kind)| !is_fips(kind)) {
        let detail =
            format!("SSH key type {kind} unavailable when FIPS is enabled. Please use rsa or ecdsa.");
        let violation = Violation::redacted("sshKey", detail);
        if i == 0 { findings.error(violation) } else { findings.warn(violation) }
    }
    if !rules.host_fips {
        let detail = "target cluster is in FIPS mode, enable FIPS mode on the host";
        findings.error(Violation::forbidden("fips", detail));
    }
}

fn is_fips(kind: &str) -> bool {
    kind == "ssh-rsa"
        || kind
            .strip_prefix("ecdsa-sha2-nistp")
            .is_some_and(|size| size.len() == 3 && size.bytes().all(|b| b.is_ascii_digit()))
}

/// Why a line of authorized_keys is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NoKey {
    #[error("ssh: no key found: the type in front differs from the type inside")]
    TypesDiffer,
    #[error("ssh: no key found: this is a private key, expected the public one")]
    PrivateKey,
    #[error("ssh: no key found")]
    Unreadable,
}

/// The type of the key on a line of authorized_keys: `[options] type base64 [comment]`.
fn key_type(line: &str) -> Result<&str, NoKey> {
    if line.contains("PRIVATE KEY") {
        return Err(NoKey::PrivateKey);
    }
    let line = if TYPES.iter().any(|known| line.split_whitespace().next() == Some(known)) {
        line
    } else {
        after_options(line)
    };
    let mut words = line.split_whitespace();
    let kind = words.next().ok_or(NoKey::Unreadable)?;
    let body = STANDARD.decode(words.next().ok_or(NoKey::Unreadable)?).map_err(|_| NoKey::Unreadable)?;
    let mut blob = Blob(&body);
    let inner = blob.string().ok_or(NoKey::Unreadable)?;
    if inner != kind.as_bytes() {
        // Ours: the Go library looks at the inner name only, sshd at both.
        return Err(NoKey::TypesDiffer);
    }
    blob.key(kind).filter(|()| blob.0.is_empty()).ok_or(NoKey::Unreadable)?;
    Ok(kind)
}

const TYPES: [&str; 7] = [
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// Options end at the first white space outside quotes.
fn after_options(line: &str) -> &str {
    let (mut quoted, mut escaped) = (false, false);
    for (i, c) in line.char_indices() {
        match c {
            '"' if !escaped => quoted = !quoted,
            ' ' | '\t' if !quoted => return line[i..].trim_start(),
            _ => {}
        }
        escaped = c == '\\';
    }
    ""
}

/// The wire format of RFC 4253: lengths of four bytes before everything.
struct Blob<'b>(&'b [u8]);

impl<'b> Blob<'b> {
    fn string(&mut self) -> Option<&'b [u8]> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(value)
    }

    fn key(&mut self, kind: &str) -> Option<()> {
        match kind {
            "ssh-rsa" => {
                let (exponent, modulus) = (self.string()?, self.string()?);
                // Below 1024 bits sshd refuses the key.
                (exponent.last().is_some_and(|b| b % 2 == 1) && modulus.len() >= 128).then_some(())
            }
            "ssh-ed25519" => (self.string()?.len() == 32).then_some(()),
            "sk-ssh-ed25519@openssh.com" => {
                (self.string()?.len() == 32).then_some(())?;
                self.string().map(|_| ())
            }
            "sk-ecdsa-sha2-nistp256@openssh.com" => {
                self.point("nistp256")?;
                self.string().map(|_| ())
            }
            other => self.point(other.strip_prefix("ecdsa-sha2-")?),
        }
    }

    fn point(&mut self, curve: &str) -> Option<()> {
        let length = match curve {
            "nistp256" => 65,
            "nistp384" => 97,
            "nistp521" => 133,
            _ => return None,
        };
        (self.string()? == curve.as_bytes()).then_some(())?;
        let point = self.string()?;
        (point.len() == length && point[0] == 4).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(parts: &[&[u8]]) -> String {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend(u32::try_from(part.len()).unwrap().to_be_bytes());
            bytes.extend_from_slice(part);
        }
        STANDARD.encode(bytes)
    }

    #[test]
    fn each_kind_of_key_is_read() {
        let point = |n| [&[4_u8][..], &vec![1; n]].concat();
        for (kind, body) in [
            ("ssh-rsa", blob(&[b"ssh-rsa", &[1, 0, 1], &[0x7f; 257]])),
            ("ssh-ed25519", blob(&[b"ssh-ed25519", &[7; 32]])),
            ("ecdsa-sha2-nistp256", blob(&[b"ecdsa-sha2-nistp256", b"nistp256", &point(64)])),
            ("ecdsa-sha2-nistp521", blob(&[b"ecdsa-sha2-nistp521", b"nistp521", &point(132)])),
            ("sk-ssh-ed25519@openssh.com", blob(&[b"sk-ssh-ed25519@openssh.com", &[7; 32], b"ssh:"])),
            (
                "sk-ecdsa-sha2-nistp256@openssh.com",
                blob(&[b"sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", &point(64), b"ssh:"]),
            ),
        ] {
            for line in [
                format!("{kind} {body}"),
                format!("{kind} {body} me@example.com"),
                format!("no-pty,command=\"echo \\\"a b\\\"\" {kind} {body} me"),
            ] {
                assert_eq!(key_type(&line), Ok(kind), "{line}");
            }
        }
    }

    #[test]
    fn damaged_keys_are_refused() {
        let good = blob(&[b"ssh-ed25519", &[7; 32]]);
        for bad in [
            "ssh-ed25519".to_owned(),
            format!("ssh-ed25519 {}", &good[..good.len() - 4]),
            format!("ssh-ed25519 {}", blob(&[b"ssh-ed25519", &[7; 31]])),
            format!("ssh-ed25519 {}", blob(&[b"ssh-ed25519", &[7; 32], b"more"])),
            format!("ssh-rsa {good}"),
            "ssh-ed25519 %%%%".to_owned(),
            "hello".to_owned(),
            "\"".to_owned(),
            "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
        ] {
            assert!(key_type(&bad).unwrap_err().to_string().starts_with("ssh: no key found"), "{bad}");
        }
    }
}
