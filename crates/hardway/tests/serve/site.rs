//! A working folder with everything made, and the program serving from it on a port of its own.

use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::process::Command;
use std::sync::LazyLock;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran, Running, Snapshot, Work};
use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::work;

pub(crate) const HOSTS: [&str; 5] = ["bootstrap", "master-0", "master-1", "master-2", "worker-0"];

/// On a port of its own, for programs that read what happened. Nobody here asks from the address of a host.
pub(crate) const SERVE: [&str; 6] = ["serve", "--listen", "127.0.0.1:0", "--from-any-address", "-o", "json"];

/// The folder.
pub(crate) struct Folder(Work);

impl Deref for Folder {
    type Target = Work;

    fn deref(&self) -> &Work {
        &self.0
    }
}

impl Folder {
    /// As `hardway create ignition-configs` leaves it, but with a config of 438 KB for worker-0, as real ones are.
    pub(crate) fn made() -> Self {
        static MADE: LazyLock<Snapshot> = LazyLock::new(|| {
            let server = "ignitionServer:\n  url: https://127.0.0.1:22624\npki:\n";
            let inventory = INVENTORY.replace("pki:\n", server);
            let work = work::with_inputs(INSTALL_CONFIG, &inventory).with_real_clock();
            let folder = Folder(work);
            folder.create();
            let mut config: Value = serde_json::from_str(&folder.read("ignition/worker-0.ign")).unwrap();
            let missing = 438_000 - config.to_string().len();
            let file = json!({"path": "/etc/padding", "contents": {"source": format!("data:,{}", "x".repeat(missing))}});
            config["storage"]["files"].as_array_mut().unwrap().push(file);
            folder.write("ignition/worker-0.ign", config.to_string());
            folder.create();
            Snapshot::of(folder.root())
        });
        Self(work::empty().with_real_clock().with(&MADE))
    }

    pub(crate) fn create(&self) {
        self.ok(&["create", "ignition-configs"]);
    }

    /// A run that cannot begin.
    pub(crate) fn cannot_serve(&self, args: &[&str]) -> Ran {
        self.run(&[&["serve"], args].concat())
    }

    pub(crate) fn serve(&self, args: &[&str]) -> Serving {
        self.serving(Running::start(self.command(&[&SERVE, args].concat())))
    }

    /// The same by another command.
    pub(crate) fn serving(&self, mut run: Running) -> Serving {
        let url = run.line_after("serving on ");
        let address = url.trim_end().split_once("://").unwrap().1.parse().unwrap();
        Serving { run, address, ca: self.ca() }
    }

    /// Like [`Folder::serve`], with its clock or output changed.
    pub(crate) fn serve_command(&self) -> Command {
        self.command(&SERVE)
    }

    pub(crate) fn ca(&self) -> Vec<u8> {
        self.read("pki/root-ca.crt").into_bytes()
    }

    /// What a host's pointer makes Ignition ask.
    pub(crate) fn request(&self, host: &str) -> Request {
        let pointer: Value =
            serde_json::from_str(&self.read(&format!("ignition/pointers/{host}.ign"))).unwrap();
        let merge = &pointer["ignition"]["config"]["merge"][0];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let headers = merge["httpHeaders"].as_array().unwrap();
        let headers = headers.iter().map(|header| (text(&header["name"]), text(&header["value"])));
        Request { path: format!("/ignition/{host}"), headers: headers.collect() }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    path: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Request {
    pub(crate) async fn ask(&self, client: &Client) -> Reply {
        self.ask_for(client, &self.path).await
    }

    /// The same headers with another path.
    pub(crate) async fn ask_for(&self, client: &Client, path: &str) -> Reply {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        client.ask("GET", path, &headers).await
    }

    /// As it goes over the wire.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("GET {} HTTP/1.1\r\nHost: test\r\n", self.path);
        self.headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        text + "\r\n"
    }
}

/// The program, serving.
pub(crate) struct Serving {
    run: Running,
    pub(crate) address: SocketAddr,
    ca: Vec<u8>,
}

impl Deref for Serving {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.run
    }
}

impl DerefMut for Serving {
    fn deref_mut(&mut self) -> &mut Running {
        &mut self.run
    }
}

impl Serving {
    pub(crate) fn client(&self) -> Client {
        Client::new(self.address, &self.ca)
    }

    /// Ended as a service manager does.
    pub(crate) fn end(self) -> Ran {
        self.run.signal("TERM");
        self.run.end()
    }
}
