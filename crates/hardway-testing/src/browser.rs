//! A real Chromium without a screen, driven by chromedriver over WebDriver (W3C), as much of it as tests need.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Server, free_port, skipped, until};

/// A browser with one window. It ends with the test.
#[derive(Debug)]
pub struct Browser {
    port: u16,
    session: String,
    _driver: Server,
    _home: TempDir,
}

/// What a browser logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserLog {
    /// What a page says on its console, and what the browser does not like about it.
    Console,
    /// Every request, among other things.
    Events,
}

impl Browser {
    /// Starts one; none where there is no Chromium and the test may be left out. Asks nobody but loopback by itself.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start() -> Option<Self> {
        let path = |name: &str| {
            let found = Command::new("which").arg(name).output().unwrap();
            let path = String::from_utf8(found.stdout).unwrap();
            found.status.success().then(|| path.trim().to_owned())
        };
        let (Some(driver), Some(_)) = (path("chromedriver"), path("chromium")) else {
            skipped("chromium and chromedriver are not installed; tools/setup.sh test installs them");
            return None;
        };
        let home = tempfile::tempdir().unwrap();
        let port = free_port();
        let driver = Server::start(Path::new(&driver), [format!("--port={port}")], home.path());
        until("chromedriver listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let mut browser = Self { port, session: String::new(), _driver: driver, _home: home };
        let data = format!("--user-data-dir={}", browser._home.path().join("data").display());
        let options = json!({"args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--window-size=1280,900", data,
        ]});
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "acceptInsecureCerts": true,
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let session = browser.call("POST", "/session", &wanted);
        browser.session = format!("/session/{}", session["sessionId"].as_str().unwrap());
        // The page that a new window shows is the browser's own, and what it asks for nobody's business here.
        browser.open("about:blank");
        for log in [BrowserLog::Console, BrowserLog::Events] {
            browser.log(log);
        }
        Some(browser)
    }

    /// Opens an address, and waits until the page is loaded.
    ///
    /// # Panics
    /// When it is not.
    pub fn open(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
    }

    /// Runs a function's body in the page; what it returns, when that has come.
    ///
    /// # Panics
    /// When the script throws.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until an expression is true in the page.
    ///
    /// # Panics
    /// When it is not in time.
    pub fn until(&self, expression: &str) {
        until(expression, || self.run(&format!("return Boolean({expression})")) == true);
    }

    /// Presses keys, one after the other. Those without a letter are in WebDriver's private area, such as [`TAB`].
    ///
    /// # Panics
    /// When the browser does not take them.
    pub fn press(&self, keys: &str) {
        let press =
            |key: char| [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})];
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        self.post("/actions", &json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}));
    }

    /// Clicks on the first element of a selector.
    ///
    /// # Panics
    /// When there is none, or it cannot be clicked on.
    pub fn click(&self, selector: &str) {
        let found = self.post("/element", &json!({"using": "css selector", "value": selector}));
        let element = found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned();
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// A command of the browser's own protocol.
    ///
    /// # Panics
    /// When it is refused.
    pub fn devtools(&self, command: &str, params: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// What was logged since this was last asked.
    ///
    /// # Panics
    /// When it cannot be had.
    pub fn log(&self, log: BrowserLog) -> Vec<Value> {
        let name = match log {
            BrowserLog::Console => "browser",
            BrowserLog::Events => "performance",
        };
        self.post("/se/log", &json!({"type": name})).as_array().unwrap().clone()
    }

    /// The window as PNG, in base64.
    ///
    /// # Panics
    /// When it cannot be drawn.
    pub fn screenshot(&self) -> String {
        self.call("GET", &format!("{}/screenshot", self.session), &Value::Null).as_str().unwrap().to_owned()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("{}{path}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let (head, text) = answer_of(&mut BufReader::new(stream));
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(head.starts_with("HTTP/1.1 200"), "{method} {path}: {}", value["value"]);
        value["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser only when it is asked to; a browser that is gone already is fine.
        let path = &self.session;
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = write!(stream, "DELETE {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port);
            let _ = BufReader::new(stream).read_line(&mut String::new());
        }
    }
}

/// The head and the body of an answer. The driver keeps connections open, whatever it is asked.
fn answer_of(stream: &mut impl BufRead) -> (String, String) {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        let lower = line.to_lowercase();
        if let Some(number) = lower.strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

/// The tabulator key.
pub const TAB: &str = "\u{e004}";
/// The return key.
pub const RETURN: &str = "\u{e006}";
/// The escape key.
pub const ESCAPE: &str = "\u{e00c}";
