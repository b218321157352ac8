//! On a terminal: a table of hosts that is drawn over itself.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::site::Folder;
use crate::client::Client;
use crate::work::PROGRAM;

#[tokio::test(flavor = "multi_thread")]
async fn hosts_are_shown_as_they_come() {
    let folder = Folder::made();
    let serve = format!("exec {PROGRAM} serve --listen 127.0.0.1:0 --from-any-address");
    // script(1) gives it a terminal.
    let mut child = Command::new("script")
        .args(["--quiet", "--flush", "--return", "--command", &serve, "/dev/null"])
        .current_dir(folder.path(""))
        .env("TERM", "xterm")
        .env_remove("HARDWAY_NOW")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let find = |what: &str| loop {
        let line =
            lines.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| panic!("never shown: {what}"));
        if line.contains(what) {
            break line;
        }
    };
    let line = find("serving on ");
    let address = line.trim_end().split_once("://").unwrap().1.parse().unwrap();
    find("worker-0                 worker");
    find("5 of 5 hosts not seen yet");
    let client = Client::new(address, &folder.ca());
    assert_eq!(folder.request("worker-0").ask(&client).await.status, 200);
    find("from 127.0.0.1");
    find("4 of 5 hosts not seen yet");
    child.kill().unwrap();
    child.wait().unwrap();
}
