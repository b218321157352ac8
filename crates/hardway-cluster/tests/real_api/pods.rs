//! The checks `service`, `dns` and `route` with pods that run. A shell script stands in for scheduler, kubelet, service network and
//! router: pods are processes of this host, in network and mount namespaces of the test's own. API server, name server, the programs
//! that serve and ask, and what the router is made of (HAProxy) are real.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fs_err as fs;
use hardway_base::Verdict;
use hardway_cluster::verify::{Check, Verifier, VerifyOutcome};
use hardway_testing::{Server, inside, succeed, until};
use serde_json::json;

use super::driver::Driver;
use super::verifying::verifier;

const HOST: &str = "hardway-verify.apps.ocp4.example.com";

const MAKE: &str = r#"
set -euo pipefail
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ca -days 2 -keyout ca.key -out ca.crt
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=*.apps.ocp4.example.com' \
  -addext 'subjectAltName=DNS:*.apps.ocp4.example.com' -keyout router.key -out router.csr
openssl x509 -req -in router.csr -CA ca.crt -CAkey ca.key -days 2 -copy_extensions copyall -out router.crt
cat router.crt router.key >router.pem
echo 'nameserver 127.0.0.1' >resolv.conf
mount --bind resolv.conf /etc/resolv.conf
# An API server wants to know which address of its host others would use.
ip link add others type veth peer name nobody
ip address add 192.0.2.2/24 dev others
ip link set others up
ip route add default via 192.0.2.1
mkdir bare logs
for program in mkdir sleep; do ln -s "$(command -v $program)" bare/; done
"#;

/// `PODS_PATH` is where pods look for programs. Everything it starts ends with the namespace.
const KUBELET: &str = r#"
set -u
client() { "$KUBECTL" --kubeconfig="$KUBECONFIG" --cache-dir="$PWD/cache" "$@"; }

status() { client patch "$1" "$2" -n "$3" --subresource=status --type=merge --patch "$4" >/dev/null; }
run() {
  local pod=$1 space name
  space=$(jq -r .metadata.namespace <<<"$pod") name=$(jq -r .metadata.name <<<"$pod")
  mkdir -p "logs/containerLogs/$space/$name" "volumes/$space-$name"
  jq -n --arg name "$name" '{apiVersion: "v1", kind: "Binding", metadata: {name: $name}, target: {apiVersion: "v1", kind: "Node", name: "m0"}}' |
    client create --raw="/api/v1/namespaces/$space/pods/$name/binding" -f - >/dev/null
  status pod "$name" "$space" '{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}'
  mapfile -t variables < <(jq -r '.spec.containers[0].env[] | "\(.name)=\(.value)"' <<<"$pod")
  (
    env -i PATH="$PODS_PATH" "${variables[@]}" FOLDER="$PWD/volumes/$space-$name" \
      /bin/bash -c "$(jq -r '.spec.containers[0].command[2]' <<<"$pod")" >"logs/containerLogs/$space/$name/$name" 2>&1
    status pod "$name" "$space" '{"status": {"phase": "Succeeded", "conditions": [{"type": "Ready", "status": "False"}]}}'
  ) &
}
while sleep 0.3; do
  while read -r pod; do run "$pod"; done < <(client get pods -A -l hardway.dev/verify=true -o json |
    jq -c '.items[] | select(.spec.nodeName == null and .metadata.deletionTimestamp == null)')
  for address in $(client get services -A -l hardway.dev/verify=true -o json | jq -r '.items[].spec.clusterIP'); do
    ip address add "$address/32" dev lo 2>/dev/null
  done
  client get routes.route.openshift.io -A -l hardway.dev/verify=true -o json 2>/dev/null |
    jq -r '.items[] | select(.status == null) | .metadata.namespace' | while read -r space; do
      status routes.route.openshift.io hardway-verify "$space" \
        "{\"status\": {\"ingress\": [{\"host\": \"$ROUTE\", \"conditions\": [{\"type\": \"Admitted\", \"status\": \"True\"}]}]}}"
    done
done
"#;

struct Place {
    folder: tempfile::TempDir,
    driver: Driver,
}

impl Place {
    fn kubelet(&self, path: &str) -> Server {
        let environment = [
            format!("KUBECTL={}", self.driver.plane.kubectl().get_program().to_string_lossy()),
            format!("KUBECONFIG={}", self.driver.plane.kubeconfig().display()),
            format!("PODS_PATH={path}"),
            format!("ROUTE={HOST}"),
        ];
        let bash = ["bash".to_owned(), "-c".to_owned(), KUBELET.to_owned()];
        Server::start(
            Path::new("/usr/bin/env"),
            environment.iter().chain(&bash).map(String::as_str),
            self.folder.path(),
        )
    }

    /// `service` is whether anybody answers at addresses of services, `router` whether a pod is behind the routers.
    fn balancers(&self, service: bool, router: bool) -> Server {
        let folder = self.folder.path().display();
        let pod = "server pod 127.0.0.1:8080";
        let services = if service {
            format!("listen service\n bind 0.0.0.0:80 transparent\n {pod}\n")
        } else {
            String::new()
        };
        let answer = if router { pod } else { "http-request return status 503" };
        let config = format!(
            "defaults\n mode http\n retries 0\n timeout connect 5s\n timeout client 1h\n timeout server 1h\n{services}\
             listen public\n bind 127.0.0.1:80\n bind 127.0.0.1:443 ssl crt {folder}/router.pem\n {answer}\n"
        );
        fs::write(self.folder.path().join("haproxy.cfg"), config).unwrap();
        let started =
            Server::start(Path::new("/usr/sbin/haproxy"), ["-db", "-f", "haproxy.cfg"], self.folder.path());
        until("the router listens", || std::net::TcpStream::connect("127.0.0.1:443").is_ok());
        started
    }

    /// `more` are answers to begin with.
    fn names(&self, more: &[&str]) -> Server {
        let own = [
            "--keep-in-foreground",
            "--conf-file=/dev/null",
            "--no-resolv",
            "--no-hosts",
            "--user=root",
            "--pid-file=",
        ];
        let listen =
            ["--listen-address=127.0.0.1", "--bind-interfaces", "--address=/apps.ocp4.example.com/127.0.0.1"];
        let started = Server::start(
            Path::new("/usr/sbin/dnsmasq"),
            own.iter().chain(&listen).chain(more).copied(),
            self.folder.path(),
        );
        until("the name server listens", || std::net::TcpStream::connect("127.0.0.1:53").is_ok());
        started
    }

    /// Namespaces are named after the time, and nobody takes them away here for good.
    async fn verify(&self, verifier: &mut Verifier) -> Vec<VerifyOutcome> {
        verifier.now += jiff::SignedDuration::from_secs(1);
        let outcomes = verifier.run().await;
        until("the namespace is going", || {
            let spaces = self.driver.plane.get(&["namespaces", "-l", "hardway.dev/verify=true"]);
            let spaces = spaces["items"].as_array().unwrap().clone();
            spaces.iter().all(|space| space["metadata"]["deletionTimestamp"].is_string())
        });
        outcomes
    }
}

fn judged(outcomes: &[VerifyOutcome]) -> Vec<(&'static str, Verdict, String)> {
    let wanted = outcomes.iter().filter(|it| matches!(it.check, Check::Service | Check::Dns | Check::Route));
    wanted.map(|it| (it.check.name(), it.judged.verdict, it.judged.seen.join("; "))).collect()
}

#[test]
fn real_service_names_and_route_from_pods() {
    if !inside() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    succeed(Command::new("bash").args(["-c", MAKE]).current_dir(folder.path()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let place = Place { folder, driver: Driver::without_crds().await };
        let (driver, plane) = (&place.driver, &place.driver.plane);
        let tools = plane.kubectl().get_program().to_string_lossy().rsplit_once('/').unwrap().0.to_owned();
        let path = format!("{tools}:/usr/bin:/bin");
        let m0 = json!({"metadata": {"name": "m0"}, "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}});
        driver.put("Node", None, m0).await;
        let folder = plane.folder().display().to_string();
        let certificate = [format!("{folder}/server.crt"), format!("{folder}/server.key")];
        let logs = ["s_server", "-quiet", "-accept", "10250", "-cert", &certificate[0], "-key", &certificate[1], "-WWW"];
        let _logs = Server::start(Path::new("/usr/bin/openssl"), logs, &place.folder.path().join("logs"));
        let own = plane.get(&["service", "kubernetes", "-n", "default"])["spec"]["clusterIP"].as_str().unwrap().to_owned();
        let known = [
            format!("--address=/kubernetes.default.svc.cluster.local/{own}"),
            "--address=/api-int.ocp4.example.com/192.0.2.1".to_owned(),
        ];
        let known: Vec<&str> = known.iter().map(String::as_str).collect();

        let mut verifier = verifier(driver);
        let pods = [Check::Api, Check::Workload, Check::Logs, Check::Service, Check::Dns, Check::Route];
        verifier.skip = Check::ALL.into_iter().filter(|check| !pods.contains(check)).collect();
        verifier.pod_patience = Duration::from_secs(300);
        verifier.surroundings.names = vec![("api-int.ocp4.example.com".to_owned(), vec!["192.0.2.1".parse().unwrap()])];
        verifier.surroundings.absent = vec!["hardway-verify-nobody.ocp4.example.com".to_owned()];

        // A cluster without a name server and Routes, and an image that has no program to ask with: nothing is said to be well.
        let bare = place.folder.path().join("bare").display().to_string();
        let kubelet = place.kubelet(&bare);
        let unknown = judged(&place.verify(&mut verifier).await);
        for ((check, verdict, seen), why) in unknown.iter().zip(["neither curl nor wget", "no name server of its own", "does not serve Routes"]) {
            assert!(*verdict == Verdict::Skipped && seen.starts_with("not checked: ") && seen.contains(why), "{check}: {seen}");
        }
        drop(kubelet);

        driver.create_crds();
        for name in ["openshift-dns", "openshift-config-managed"] {
            driver.put("Namespace", None, json!({"metadata": {"name": name}})).await;
        }
        let dns = ["create", "service", "clusterip", "dns-default", "-n", "openshift-dns", "--tcp=53:53"];
        succeed(plane.kubectl().args(dns));
        let ca = fs::read_to_string(place.folder.path().join("ca.crt")).unwrap();
        let map = json!({"metadata": {"name": "default-ingress-cert"}, "data": {"ca-bundle.crt": ca}});
        driver.put("ConfigMap", Some("openshift-config-managed"), map).await;
        let _kubelet = place.kubelet(&path);

        let (balancers, names) = (place.balancers(true, true), place.names(&known));
        let outcomes = place.verify(&mut verifier).await;
        let well = judged(&outcomes);
        assert_eq!(well.iter().map(|it| it.1).collect::<Vec<_>>(), [Verdict::Passed; 3], "{outcomes:#?}");
        drop((balancers, names));

        // Nobody forwards to pods, a wildcard answers for every name, and no pod is behind the routers.
        let _balancers = place.balancers(false, false);
        let _names = place.names(&["--address=/#/198.51.100.9"]);
        let outcomes = place.verify(&mut verifier).await;
        let broken = judged(&outcomes);
        assert_eq!(broken.iter().map(|it| it.1).collect::<Vec<_>>(), [Verdict::Failed; 3], "{outcomes:#?}");
        for ((_, _, seen), words) in broken.iter().zip([
            "a pod could not reach the Service",
            "api-int.ocp4.example.com resolves to 198.51.100.9 in a pod, not to 192.0.2.1",
            "it says 503",
        ]) {
            assert!(seen.contains(words), "{seen}");
        }
        assert!(broken[1].2.contains("but nobody has that name"), "{broken:?}");
        assert!(outcomes.iter().filter(|it| it.judged.verdict == Verdict::Failed).all(|it| it.judged.fix.is_some()));
    });
}
