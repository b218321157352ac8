//! Two balancer hosts with real keepalived and HAProxy: whichever fails, the addresses move and clients are served.

use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_machines::actions::shell;
use hardway_machines::providers::Provider as _;
use hardway_testing::{Running, inside, own_units_script, succeed, until};
use serde_json::json;

use super::site::{cluster, provider};

/// Two balancers, a master and a client on one segment.
const HOSTS: &str = "
mount -t tmpfs tmpfs /run && mkdir /run/netns
ip link add name lan type bridge && ip link set lan up
for host in lb-0:5 lb-1:6 master:101 client:50; do
  name=${host%:*}
  ip netns add $name
  ip link add veth-$name type veth peer name eth0 netns $name
  ip link set veth-$name master lan && ip link set veth-$name up
  ip -n $name link set lo up && ip -n $name link set eth0 up
  ip -n $name address add 192.168.126.${host#*:}/24 dev eth0
done
";

/// The API server. `openssl s_server` has one connection at a time: one of a balancer that was cut off would keep it from all others.
const API: &str = "
import http.server, ssl, sys
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(('', 6443), Ready)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
# Each shakes hands in its own thread.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
";

fn bash(line: &str) -> String {
    succeed(Command::new("bash").args(["-ec", line]))
}

/// As the balancer sees it: it is this host, and the other is reached over ssh.
fn seen_from(own: &str) -> Cluster {
    let balancer = |name: &str, ip: &str| match name == own {
        true => json!({"ip": ip, "interface": "eth0"}),
        false => json!({"ip": ip, "interface": "eth0", "ssh": format!("root@{ip}")}),
    };
    let (first, second) = (balancer("lb-0", "192.168.126.5"), balancer("lb-1", "192.168.126.6"));
    let mut cluster = cluster(json!({"balancers": {"lb-0": first, "lb-1": second}}));
    cluster.inventory.hosts.retain(|host| host.name == "master-0");
    cluster
}

/// A balancer: its network is a namespace, and so are its files, for as long as one of its processes lives.
struct BalancerHost {
    name: &'static str,
    first: Running,
}

impl BalancerHost {
    /// Everything that hardway plans for it, as the script that people can run.
    fn start(name: &'static str, folder: &Path) -> Self {
        let provider = provider(&seen_from(name), folder, InstallStage::Installed);
        let own = format!("balancer/{name}/");
        let actions: Vec<_> =
            provider.infrastructure().into_iter().filter(|action| action.id.starts_with(&own)).collect();
        assert_eq!(actions.len(), 2);
        let script = folder.join(format!("{name}.sh"));
        fs_err::write(&script, shell(&actions)).unwrap();
        let mut first = Command::new("ip");
        first.args([
            "netns",
            "exec",
            name,
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ]);
        first.args([
            "bash",
            "-ec",
            &format!("{}touch /run/ready\nwhile :; do sleep 1; done", own_units_script()),
        ]);
        let host = Self { name, first: Running::start(first) };
        until("the host is there", || host.try_run("test -e /run/ready").is_some());
        host.run(&format!("bash {}", script.display()));
        host
    }

    fn try_run(&self, line: &str) -> Option<String> {
        let init = bash(&format!("pgrep -P {} || :", self.first.id()));
        let init = init.split_whitespace().next()?.to_owned();
        let mut enter = Command::new("nsenter");
        enter.args(["--target", &init, "--mount", "--pid", "--net", "bash", "-ec", line]);
        let output = enter.stdin(Stdio::null()).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    fn run(&self, line: &str) -> String {
        self.try_run(line).unwrap_or_else(|| panic!("{}: {line}", self.name))
    }

    fn has(&self, address: IpAddr) -> bool {
        bash(&format!("ip -n {} -o address show to {address}/32", self.name)).contains("eth0")
    }
}

/// The longest time between two answers to a client that asks all the time: before something happens, meanwhile, and after it.
fn longest_gap(during: impl FnOnce()) -> Duration {
    let (served, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let is_served_again = || {
        let so_far = served.load(Ordering::SeqCst);
        until("clients are served", || served.load(Ordering::SeqCst) > so_far + 1);
    };
    // Also where something below is waited for in vain: the client would ask for good.
    struct Over<'o>(&'o AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    std::thread::scope(|scope| {
        let over = Over(&is_over);
        let client = scope.spawn(|| {
            let (mut longest, mut last) = (Duration::ZERO, None::<Instant>);
            while !is_over.load(Ordering::SeqCst) {
                if is_answered() {
                    longest = longest.max(last.map_or(Duration::ZERO, |last| last.elapsed()));
                    last = Some(Instant::now());
                    served.fetch_add(1, Ordering::SeqCst);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            longest
        });
        is_served_again();
        during();
        is_served_again();
        drop(over);
        client.join().unwrap()
    })
}

fn is_answered() -> bool {
    let mut curl = Command::new("ip");
    curl.args(["netns", "exec", "client", "curl", "-sk", "--max-time", "1", "-o", "/dev/null"]);
    curl.arg("https://192.168.126.10:6443/readyz").status().unwrap().success()
}

#[test]
fn real_keepalived_moves_the_addresses_when_a_balancer_fails() {
    if !inside() {
        return;
    }
    bash(HOSTS);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    succeed(openssl.args(["-subj", "/CN=master-0", "-keyout", &path("key"), "-out", &path("crt")]));
    let mut api = Command::new("ip");
    api.args(["netns", "exec", "master", "python3", "-c", API, &path("crt"), &path("key")]);
    let _api = Running::start(api);

    let [first, second] = ["lb-0", "lb-1"].map(|name| BalancerHost::start(name, folder.path()));
    let vip: IpAddr = [192, 168, 126, 10].into();
    until("exactly one balancer has the address", || first.has(vip) != second.has(vip));
    until("clients are served", is_answered);

    let (holder, other) = if first.has(vip) { (&first, &second) } else { (&second, &first) };
    let gap = longest_gap(|| {
        holder.run("pkill -9 -x haproxy");
        until("the address moves to the other balancer", || other.has(vip) && !holder.has(vip));
    });
    eprintln!("measured: HAProxy killed: the longest time without an answer was {} ms", gap.as_millis());

    // Its systemd starts it again; the address stays where it is.
    holder.run("systemctl boot");
    until("HAProxy is back", || holder.try_run("pgrep -x haproxy").is_some());
    until("both are well, and one has the address", || other.has(vip) && !holder.has(vip));

    // The other host fails as a whole, without a word to anybody.
    let gap = longest_gap(|| {
        bash(&format!("ip link set veth-{} down", other.name));
        until("the address moves back", || holder.has(vip));
    });
    eprintln!(
        "measured: balancer host cut off: the longest time without an answer was {} ms",
        gap.as_millis()
    );
}
