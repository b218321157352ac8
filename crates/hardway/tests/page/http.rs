//! What the server gives, and to whom.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use hardway_journal::{Entry, Journal, NodeJoined};
use hardway_testing::{AUTH, Running, Snapshot, Work};
use serde_json::{Map, Value};

use super::recording::{whole_install, write};
use crate::work::made;

/// A page that is served, and where.
pub(crate) struct Served {
    pub(crate) running: Running,
    pub(super) address: String,
}

/// The folder alone: nobody is asked.
pub(super) fn serve(work: &Work) -> Served {
    serve_with(work, &["page", "--no-browser", "--offline"])
}

/// The same with the cluster and its machines.
pub(crate) fn serve_live(work: &Work) -> Served {
    serve_with(work, &["page", "--no-browser"])
}

fn serve_with(work: &Work, words: &[&str]) -> Served {
    let mut running = work.start(words);
    let url = running.line_after("the page is at ");
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    Served { running, address }
}

impl Served {
    /// A request with these lines behind the first; the status and all of the answer.
    fn ask(&self, path: &str, lines: &[&str]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        write!(stream, "GET {path} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask(path, &[&format!("Host: {}", self.address)])
    }

    pub(super) fn json(&self, path: &str) -> Value {
        let (status, answer) = self.get(path);
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// The stream of moments, from its first line on.
    pub(super) fn stream(&self) -> impl Iterator<Item = (String, Value)> + use<> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET /moments HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        std::iter::from_fn(move || {
            let name = lines.find_map(|line| line.strip_prefix("event: ").map(str::to_owned))?;
            let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned))?;
            Some((name, serde_json::from_str(&data).unwrap()))
        })
    }
}

/// As the page folds them.
fn folded(beginning: &Value, moments: &[Value]) -> Map<String, Value> {
    let mut state = beginning.as_object().unwrap().clone();
    for moment in moments {
        for (section, rows) in moment["set"].as_object().into_iter().flatten() {
            let known = state[section].as_object_mut().unwrap();
            for (key, row) in rows.as_object().unwrap() {
                match row.is_null() {
                    true => drop(known.remove(key)),
                    false => drop(known.insert(key.clone(), row.clone())),
                }
            }
        }
    }
    state
}

/// Moments in a stream until it is quiet, which what holds now says.
fn moments(stream: &mut impl Iterator<Item = (String, Value)>) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, data) in stream {
        match name.as_str() {
            "moments" => all.extend(data.as_array().unwrap().iter().cloned()),
            "live" => break,
            _ => {}
        }
    }
    all
}

#[test]
fn folded_moments_are_what_status_says_at_every_line() {
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    let served = serve(&work);
    let beginning = served.json("/document.json")["beginning"].clone();
    let moments = moments(&mut served.stream());
    assert_eq!(moments.len(), entries.len());
    // Somebody is at work, as far as anybody can tell: what was begun goes on.
    let lock = fs_err::File::create(work.path(".hardway.lock")).unwrap();
    lock.file().lock().unwrap();
    for count in (0..=entries.len()).step_by(23) {
        write(&work, &entries[..count]);
        let status = work.ok(&["status", "-o", "json"]).json();
        let state = folded(&beginning, &moments[..count]);
        for section in ["phases", "hosts", "requests", "etcd", "operators", "workers"] {
            let by = |row: &Value| row.to_string();
            let mut shown: Vec<Value> = state[section].as_object().unwrap().values().cloned().collect();
            let mut told: Vec<Value> = status[section].as_array().unwrap().clone();
            if section == "phases" && told.is_empty() {
                shown.retain(|row| row["state"] != "untouched");
            }
            shown.sort_by_key(by);
            told.sort_by_key(by);
            assert_eq!(shown, told, "{section} after {count} lines");
        }
    }
}

#[test]
fn whoever_is_not_meant_gets_403() {
    let work = made();
    let mut served = serve(&work);
    let host = format!("Host: {}", served.address);
    let port = served.address.rsplit_once(':').unwrap().1;
    for path in ["/", "/main.js", "/document.json", "/explanations.json", "/moments"] {
        for host in [format!("Host: evil.example:{port}"), "Host: 127.0.0.1".to_owned()] {
            assert_eq!(served.ask(path, &[&host]).0, 403, "{path} {host}");
        }
        assert_eq!(served.ask(path, &[&host, "Origin: http://evil.example"]).0, 403, "{path}");
    }
    for path in ["/document.json", "/moments", "/nothing"] {
        assert_eq!(served.ask(path, &[&host, "Sec-Fetch-Site: cross-site"]).0, 403, "{path}");
    }
    assert_eq!(served.get("/nothing").0, 404);
    let (status, answer) = served.get("/");
    assert_eq!(status, 200);
    let head = answer.split_once("\r\n\r\n").unwrap().0.to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{head}");
    assert!(!head.contains("unsafe-inline") && !head.contains("set-cookie"), "{head}");
    let mut stream = TcpStream::connect(&served.address).unwrap();
    write!(stream, "POST / HTTP/1.1\r\n{host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    served.running.signal("TERM");
    assert_eq!(served.running.exit(), Some(0));
}

#[test]
fn what_is_new_comes_by_itself_and_two_pages_may_be_served() {
    let work = made();
    write(&work, &whole_install()[..3]);
    let (mut first, second) = (serve(&work), serve(&work));
    assert_ne!(first.address, second.address);
    let mut streams = [first.stream(), second.stream()];
    for stream in &mut streams {
        assert_eq!(moments(stream).len(), 3);
    }
    let joined = Entry::of("2026-11-15T07:00:00Z".parse().unwrap(), &NodeJoined { host: "master-0".into() });
    Journal::open(&work.path("journal.jsonl")).unwrap().append(&[joined]).unwrap();
    for stream in &mut streams {
        let (name, news) = stream.next().unwrap();
        assert_eq!(name, "moments");
        assert_eq!(news[0]["set"]["hosts"]["master-0"]["state"], "joined");
        assert_eq!(news[0]["text"], "master-0 has become a node");
    }
    // A person ends it, with streams open.
    assert_eq!(first.running.interrupt(), Some(8));
    assert!(streams[0].next().is_none());
}

#[test]
fn nothing_secret_is_on_the_page_or_in_its_file() {
    let work = made();
    let mut entries = whole_install();
    let password = work.read("auth/kubeadmin-password");
    let key = work.read("secrets/etcd-client.key");
    entries.truncate(1);
    entries[0].body["why"] = format!("{AUTH} {password} {key} token: abcdefghijkl").into();
    write(&work, &entries);
    work.ok(&["page", "--export", "install.html"]);
    assert_eq!(work.mode("install.html"), 0o600);
    let served = serve(&work);
    let told = served.json("/document.json").to_string() + &moments(&mut served.stream())[0].to_string();
    for text in [work.read("install.html"), told] {
        let hidden = text.matches("<redacted>").count() + text.matches("\\u003credacted>").count();
        assert!(hidden >= 4, "{text}");
        let line = key.lines().nth(1).unwrap();
        for secret in [AUTH, password.trim(), line, "abcdefghijkl", "PRIVATE KEY-----"] {
            assert!(!text.contains(secret), "{secret}");
        }
    }
}

/// `create cluster --page` begins before anything is drawn.
#[test]
fn a_secret_that_is_younger_than_the_page_is_not_on_it() {
    let work = made();
    let (password, config) = (work.read("secrets/kubeadmin-password"), work.read("install-config.yaml"));
    work.remove("secrets/kubeadmin-password");
    write(&work, &whole_install()[..1]);
    let served = serve(&work);
    let mut stream = served.stream();
    assert_eq!(moments(&mut stream).len(), 1);
    work.write("secrets/kubeadmin-password", &password);
    let proxy = "proxy: {httpProxy: 'http://me:/hush/hush@proxy.example:3128'}";
    work.write("install-config.yaml", format!("{config}\n{proxy}\n"));
    let mut told = whole_install().swap_remove(0);
    told.body["why"] = format!("{password} and /hush/hush and http://me:quiet@proxy.example").into();
    Journal::open(&work.path("journal.jsonl")).unwrap().append(&[told]).unwrap();
    let text = stream.next().unwrap().1.to_string();
    assert_eq!(text.matches("<redacted>").count() % 3, 0, "{text}");
    for secret in [password.trim(), "hush", "quiet"] {
        assert!(text.contains("<redacted>") && !text.contains(secret), "{secret}: {text}");
    }
}

/// Every user of a computer sees what its programs are called with.
#[test]
fn a_token_is_in_no_programs_arguments() {
    let work = made();
    work.write_program("bin/xdg-open", "#!/bin/sh\necho \"$1\" > \"${0%/*}/opened\"\n");
    let path = format!("{}:{}", work.path("bin").display(), std::env::var("PATH").unwrap());
    // A browser is opened for people at a terminal only.
    let open = |arguments: &str| {
        let mut script = std::process::Command::new("script");
        let line = format!("exec {} page {arguments}", env!("CARGO_BIN_EXE_hardway"));
        script
            .args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"])
            .current_dir(work.root());
        script.env("PATH", &path).env("DISPLAY", ":77");
        Running::start(script)
    };
    let mut local = open("");
    local.until_so("a browser is opened", || work.exists("bin/opened"));
    drop(local);
    assert!(work.read("bin/opened").starts_with("http://127.0.0.1:"));
    work.remove("bin/opened");
    let shared = open("--listen 0.0.0.0:0");
    while !shared.printed().contains("#token=") {
        assert!(fs_err::metadata(format!("/proc/{}", shared.id())).is_ok(), "{}", shared.printed());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // It would have been opened at once.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(!work.exists("bin/opened"));
}

#[test]
fn a_folder_that_is_not_one_of_ours_is_shown_as_far_as_it_goes() {
    let work = crate::work::empty();
    write(&work, &whole_install()[..40]);
    let served = serve(&work);
    let document = served.json("/document.json");
    assert!(
        document["problems"][0]["detail"].as_str().unwrap().contains("install-config.yaml"),
        "{document}"
    );
    assert_eq!(document["phases"].as_array().unwrap().len(), 17);
    assert_eq!(moments(&mut served.stream()).len(), 40);
}

#[test]
fn a_page_beside_something_ends_with_it() {
    let work = made();
    let mut other = Running::start({
        let mut sleep = std::process::Command::new("sleep");
        sleep.arg("600");
        sleep
    });
    let mut page = work.start(&["page", "--beside", &other.id().to_string()]);
    other.signal("KILL");
    other.exit();
    assert_eq!(page.exit(), Some(0));
    assert!(page.printed().starts_with("http://127.0.0.1:"), "{}", page.printed());
}

/// A program that notes what it is to open, and a terminal, which `script` makes.
fn at_a_screen(work: &Work, words: &str) -> Running {
    let hardway = work.command(&[]);
    let mut command = std::process::Command::new("script");
    command.args(["--quiet", "--return", "--command"]);
    command.arg(format!("{} {words}", hardway.get_program().display())).arg("/dev/null");
    command.current_dir(work.root()).env("DISPLAY", ":0");
    command.envs(hardway.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Running::start(command)
}

#[test]
fn a_browser_is_opened_where_a_person_sits_at_a_screen() {
    let work = made();
    work.write_program("bin/xdg-open", "#!/bin/sh\necho \"$1\" >opening && mv opening opened\n");
    let work = work.with_programs_of("bin");
    // Nobody sits before a pipe.
    let mut page = work.start(&["page", "--offline"]);
    page.line_after("the page is at ");
    page.signal("TERM");
    assert_eq!(page.exit(), Some(0));
    assert!(!work.exists("opened"));
    let mut page = at_a_screen(&work, "page --offline");
    page.until_so("a browser is told what to open", || work.exists("opened"));
    let url = work.read("opened");
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
}

#[test]
fn a_copied_folder_is_shown_and_not_changed() {
    let work = made();
    write(&work, &whole_install());
    let copy = work.copy(&[""]);
    let before = Snapshot::of(copy.root());
    let mut served = serve(&copy);
    assert_eq!(served.json("/document.json")["title"], "ocp4.example.com");
    assert_eq!(moments(&mut served.stream()).len(), whole_install().len());
    served.running.signal("TERM");
    assert_eq!(served.running.exit(), Some(0));
    before.assert_untouched(&Snapshot::of(copy.root()));
}
