//! A stand-in for a controller: answers as a table says, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use hardway_base::Secret;
use hardway_machines::redfish::{Bmc, BmcAddress, Login, Trust};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// `GET /redfish/v1/Systems`
    pub(crate) what: String,
    /// Header lines, in lower case up to the colon.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

/// A status, more header lines, and a body.
pub(crate) type Reply = (u16, &'static str, Value);

pub(crate) struct StandIn {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl StandIn {
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("redfish+http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (log, answer) = (asked.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer) = (log.clone(), answer.clone());
                tokio::spawn(async move { serve(stream, &log, &*answer).await });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn bmc(&self, login: Login) -> Bmc {
        Bmc {
            address: BmcAddress::parse(&self.address).unwrap(),
            user: "admin".to_owned(),
            password: Secret::new("calvin-and-hobbes"),
            login,
            trust: Trust::System,
        }
    }

    /// Everything but reading.
    pub(crate) fn changes(&self) -> Vec<Asked> {
        let is_change = |asked: &&Asked| !asked.what.starts_with("GET ");
        self.asked.lock().unwrap().iter().filter(is_change).cloned().collect()
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

async fn serve(stream: TcpStream, log: &Mutex<Vec<Asked>>, answer: &(dyn Fn(&Asked) -> Reply + Send + Sync)) {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let Some(first) = lines.first() else { return };
    let what = first.rsplit_once(' ').unwrap().0.to_owned();
    let split = |line: &String| line.split_once(": ").map(|(n, v)| (n.to_lowercase(), v.to_owned()));
    let headers: Vec<(String, String)> = lines.iter().skip(1).filter_map(split).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    let asked = Asked { what, headers, body: serde_json::from_slice(&body).unwrap_or_default() };
    let (status, more, body) = answer(&asked);
    log.lock().unwrap().push(asked);
    let body = body.to_string();
    let head =
        format!("HTTP/1.1 {status} X\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).await.unwrap();
}
