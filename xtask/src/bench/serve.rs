//! Serving a 438 KB config over TLS: `hardway serve` beside nginx and a real machine-config-server, with the same certificate
//! and client, in turns.
//!
//! nginx is the practical limit: it sends a file and keeps no record, while every answer of ours is in the journal before
//! it leaves. Where the temporary folder is in memory (`TMPDIR=/dev/shm`), the disk is out of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::machine_config_server;
use super::measure::{Walls, peak_of};
use super::table::Table;
use super::{CREATE, Programs, Sample};

const HOST: &str = "worker-0";
const BYTES: usize = 438_000;
const SECONDS: &str = "3";
/// Of all servers in turns: whatever else this computer does then meets all of them.
const ROUNDS: usize = 3;
const CONNECTIONS: [usize; 3] = [2, 64, 1000];
/// What a real machine-config-server 4.18 answered on two cores, in bootstrap mode, for a config of this size.
const MACHINE_CONFIG_SERVER: f64 = 43.0;

/// Rows for both ways of connecting, at each number of connections.
pub(super) fn measure(programs: &Programs, sample: &Sample, table: &mut Table) -> Result<()> {
    let site = Site::prepare(programs, sample)?;
    let ours = Running::hardway(programs, &site.dir)?;
    let nginx = Running::nginx(&site);
    let real = machine_config_server::start(&site.dir, BYTES);
    for (mode, what) in [("keep", "connections kept"), ("new", "a connection for each")] {
        for connections in CONNECTIONS {
            let mut rates: [Walls; 3] = Default::default();
            let servers = [Some(&ours), nginx.as_ref().ok(), real.as_ref().ok()];
            for _ in 0..ROUNDS {
                for (server, rates) in servers.into_iter().zip(&mut rates) {
                    if let Some(server) = server {
                        rates.add(site.rate(programs, server, connections, mode)?);
                    }
                }
            }
            let [rate, nginx_rate, real_rate] = rates.map(|rates| rates.median());
            let known = real.is_err().then_some(25.0 * MACHINE_CONFIG_SERVER);
            table.rate(&format!("serve 438 KB, {connections} clients, {what}"), rate, known);
            match &nginx {
                Ok(_) => {
                    table.rate("  nginx, same bytes and certificate", nginx_rate, None);
                    table.at_least("  ratio to nginx", rate / nginx_rate, 0.9);
                }
                Err(error) => table.missing("  nginx", &error.to_string()),
            }
            match &real {
                Ok(_) => {
                    table.rate("  machine-config-server, same size", real_rate, None);
                    table.at_least("  ratio to machine-config-server", rate / real_rate, 25.0);
                }
                Err(error) => table.missing("  machine-config-server", &error.to_string()),
            }
        }
    }
    table.megabytes("  peak memory of hardway serve", peak_of(ours.child.id())?, Some(64.0));
    if let Ok(real) = &real {
        table.megabytes("  peak memory of machine-config-server", peak_of(real.child.id())?, None);
    }
    Ok(())
}

/// A working folder with a config of the right size, and what a host asks with.
struct Site {
    dir: PathBuf,
    request: Vec<u8>,
}

impl Site {
    fn prepare(programs: &Programs, sample: &Sample) -> Result<Self> {
        let dir = sample.fresh()?;
        let inventory = fs_err::read_to_string(dir.join("inventory.yaml"))?;
        fs_err::write(
            dir.join("inventory.yaml"),
            inventory + "ignitionServer: {url: \"https://127.0.0.1:22624\"}\n",
        )?;
        let create = || -> Result<()> {
            let output = Command::new(&programs.hardway).args(CREATE).arg("--dir").arg(&dir).output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Ok(())
        };
        create()?;
        let path = dir.join(format!("ignition/{HOST}.ign"));
        let mut config: Value = serde_json::from_slice(&fs_err::read(&path)?)?;
        let padding = "x".repeat(BYTES.saturating_sub(config.to_string().len()));
        let files = config["storage"]["files"].as_array_mut().context("a config without files")?;
        files.push(json!({"path": "/etc/padding", "contents": {"source": format!("data:,{padding}")}}));
        fs_err::write(&path, config.to_string())?;
        create()?;
        let pointer: Value =
            serde_json::from_slice(&fs_err::read(dir.join(format!("ignition/pointers/{HOST}.ign")))?)?;
        let mut request = format!("GET /ignition/{HOST} HTTP/1.1\r\nHost: bench\r\n");
        let headers =
            pointer["ignition"]["config"]["merge"][0]["httpHeaders"].as_array().context("no headers")?;
        for header in headers {
            let text = |name: &str| header[name].as_str().unwrap_or_default().to_owned();
            request += &format!("{}: {}\r\n", text("name"), text("value"));
        }
        request += "\r\n";
        Ok(Self { dir, request: request.into_bytes() })
    }

    /// Answers per second.
    fn rate(&self, programs: &Programs, server: &Running, connections: usize, mode: &str) -> Result<f64> {
        let mut client = Command::new(&programs.tls_load)
            .arg(&server.address)
            .arg(self.dir.join("pki/root-ca.crt"))
            .args([&connections.to_string(), mode, SECONDS])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let request = server.request.as_deref().unwrap_or(&self.request);
        client.stdin.take().context("no input")?.write_all(request)?;
        let output = client.wait_with_output()?;
        ensure!(output.status.success(), "the client failed: {}", output.status);
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }
}

/// A server, ended when dropped.
pub(super) struct Running {
    pub(super) child: Child,
    pub(super) address: String,
    /// What it is asked, if not what a host asks ours.
    pub(super) request: Option<Vec<u8>>,
}

impl Running {
    fn hardway(programs: &Programs, dir: &Path) -> Result<Self> {
        let mut child = Command::new(&programs.hardway)
            .args(["serve", "--listen", "127.0.0.1:0", "--from-any-address", "-o", "json", "--dir"])
            .arg(dir)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("no errors")?).lines();
        let line =
            lines.find_map(|line| line.ok()?.split_once("serving on https://").map(|(_, a)| a.to_owned()));
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, address: line.context("hardway serve does not serve")?, request: None })
    }

    /// As its own documentation would have it: a worker for each core, files sent as they lie there, no log.
    fn nginx(site: &Site) -> Result<Self> {
        let port = free_port()?;
        let dir = site.dir.display();
        fs_err::create_dir_all(site.dir.join("www/ignition"))?;
        fs_err::copy(
            site.dir.join(format!("ignition/{HOST}.ign")),
            site.dir.join(format!("www/ignition/{HOST}")),
        )?;
        let config = format!(
            "daemon off; worker_processes auto; pid {dir}/nginx.pid; error_log {dir}/nginx.log; user root;\n\
             events {{ worker_connections 4096; }}\n\
             http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;\n\
             server {{ listen 127.0.0.1:{port} ssl backlog=4096; root {dir}/www; default_type application/json;\n\
             ssl_protocols TLSv1.2 TLSv1.3;\n\
             ssl_certificate {dir}/pki/ignition-server.crt; ssl_certificate_key {dir}/secrets/ignition-server.key; }} }}\n"
        );
        fs_err::write(site.dir.join("nginx.conf"), config)?;
        let child = Command::new("nginx")
            .arg("-c")
            .arg(site.dir.join("nginx.conf"))
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| anyhow::anyhow!("not installed"))?;
        Self { child, address: format!("127.0.0.1:{port}"), request: None }.once_up()
    }

    /// Waits until it listens.
    pub(super) fn once_up(self) -> Result<Self> {
        for _ in 0..200 {
            if std::net::TcpStream::connect(&self.address).is_ok() {
                return Ok(self);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        anyhow::bail!("does not start")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // nginx's workers end with their master only when it is asked.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

/// A port that nobody has right now.
pub(super) fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
