//! Sealed and opened here, and by the real age.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use hardway_base::error_sentence;
use hardway_testing::succeed;

use super::*;

fn sealed(plain: &[u8], recipients: &[Recipient]) -> Vec<u8> {
    let mut sealing = Sealing::begin(Vec::new(), recipients).unwrap();
    sealing.write_all(plain).unwrap();
    sealing.finish().unwrap()
}

fn opened(bytes: &[u8], identity: &Identity) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let mut opening = Opening::begin(bytes, identity).map_err(|error| error_sentence(&error))?;
    opening.read_to_end(&mut plain).map_err(|error| error_sentence(&error))?;
    Ok(plain)
}

fn sample(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place % 251) as u8).collect()
}

#[test]
fn only_its_recipients_open_it_and_any_change_is_noticed() {
    let [ours, other, second] = [(); 3].map(|()| Identity::draw().unwrap());
    for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
        let plain = sample(length);
        let file = sealed(&plain, &[ours.recipient(), second.recipient()]);
        assert_eq!(opened(&file, &ours).unwrap(), plain, "{length}");
        assert_eq!(opened(&file, &second).unwrap(), plain, "{length}");
        assert!(opened(&file, &other).unwrap_err().contains("encrypted for somebody else"));
    }
    let file = sealed(&sample(2 * CHUNK), &[ours.recipient()]);
    let body = file.len() - 2 * (CHUNK + TAG);
    for end in [10, body - 20, body + CHUNK + TAG, body + CHUNK + TAG + 5, file.len() - 1] {
        let said = opened(&file[..end], &ours).unwrap_err();
        assert!(said.contains("truncated") || said.contains("not in the format"), "{end}: {said}");
    }
    let mut changed = file.clone();
    changed[body + CHUNK + 100] ^= 1;
    assert!(opened(&changed, &ours).unwrap_err().contains("damaged"));
    let mut changed = file.clone();
    let tag = file.iter().position(|byte| *byte == b'\n').unwrap() + 5;
    changed[tag] ^= 1;
    assert!(opened(&changed, &ours).is_err());
    assert!(opened(b"SQLite format 3\0", &ours).is_err());
}

#[test]
fn keys_are_written_and_read_and_mistakes_in_them_noticed() {
    let identity = Identity::draw().unwrap();
    let written = format!("# created: today\n# public key: x\n{}\n", identity.text().expose_text());
    assert_eq!(Identity::read(&written).unwrap().recipient(), identity.recipient());
    let recipient = identity.recipient().to_string();
    assert_eq!(recipient.parse::<Recipient>().unwrap(), identity.recipient());
    for place in 4..recipient.len() {
        let mut wrong = recipient.clone().into_bytes();
        wrong[place] = if wrong[place] == b'q' { b'p' } else { b'q' };
        assert!(String::from_utf8(wrong).unwrap().parse::<Recipient>().is_err(), "{place}");
    }
    for wrong in ["", "age1", "ssh-ed25519 AAAA", &recipient[..20], &recipient.replace("age1", "aGe1")] {
        assert!(wrong.parse::<Recipient>().is_err(), "{wrong}");
    }
    let error = Identity::read("AGE-SECRET-KEY-1WRONG").unwrap_err().to_string();
    assert!(!error.contains("WRONG"), "{error}");
    assert!(!format!("{identity:?}").contains(identity.text().expose_text()));
}

/// The other way round, and with keys of the real `age-keygen`.
#[test]
fn real_age_reads_what_is_written_here_and_the_other_way_round() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    succeed(Command::new("age-keygen").arg("-o").arg(path("key")));
    let identity = Identity::read(&fs_err::read_to_string(path("key")).unwrap()).unwrap();
    let public = succeed(Command::new("age-keygen").arg("-y").arg(path("key")));
    assert_eq!(public.trim(), identity.recipient().to_string());
    let plain = sample(CHUNK * 2 + 77);
    fs_err::write(path("ours.age"), sealed(&plain, &[identity.recipient()])).unwrap();
    let read =
        Command::new("age").arg("-d").arg("-i").arg(path("key")).arg(path("ours.age")).output().unwrap();
    assert!(read.status.success() && read.stdout == plain, "{}", String::from_utf8_lossy(&read.stderr));
    let mut age = Command::new("age")
        .args(["-r", public.trim(), "-o"])
        .arg(path("theirs.age"))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    age.stdin.take().unwrap().write_all(&plain).unwrap();
    assert!(age.wait().unwrap().success());
    assert_eq!(opened(&fs_err::read(path("theirs.age")).unwrap(), &identity).unwrap(), plain);
}
