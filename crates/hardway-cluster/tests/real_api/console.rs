//! The console check against HAProxy, which OpenShift's routers are: with a name that resolves, a certificate of the routers' CA,
//! and the way on to the login.

use std::path::Path;
use std::process::Command;

use fs_err as fs;
use hardway_base::Verdict;
use hardway_cluster::verify::{Check, Verifier, VerifyOutcome};
use hardway_testing::{Server, inside, succeed, until};
use serde_json::json;

use super::driver::Driver;
use super::verifying::verifier;

const CONSOLE: &str = "console-openshift-console.apps.ocp4.example.com";
const LOGIN: &str = "oauth-openshift.apps.ocp4.example.com";

/// The CA, the default certificate, and the names: this host is all there is.
const MAKE: &str = r#"
set -euo pipefail
for ca in ca stranger; do
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$ca -days 2 -keyout $ca.key -out $ca.crt
done
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=*.apps.ocp4.example.com' \
  -addext 'subjectAltName=DNS:*.apps.ocp4.example.com' -keyout router.key -out router.csr
openssl x509 -req -in router.csr -CA ca.crt -CAkey ca.key -days 2 -copy_extensions copyall -out router.crt
cat router.crt router.key >router.pem
printf '127.0.0.1 localhost %s %s\n' "$@" >hosts
mount --bind hosts /etc/hosts
# An API server wants to know which address of its host others would use.
ip link add others type veth peer name nobody
ip address add 192.0.2.2/24 dev others
ip link set others up
ip route add default via 192.0.2.1
"#;

/// The console sends to its own login page, that to the login server, and that to a page; `login` is what is there.
fn router(folder: &Path, login: &str) -> Server {
    let config = format!(
        "defaults\n mode http\n timeout connect 5s\n timeout client 1h\n timeout server 1h\n\
         frontend public_ssl\n bind 127.0.0.1:443 ssl crt {folder}/router.pem\n\
         \x20acl console hdr(host) -i {CONSOLE}\n acl login hdr(host) -i {LOGIN}\n\
         \x20http-request redirect location /auth/login code 303 if console {{ path / }}\n\
         \x20http-request redirect location https://{LOGIN}/oauth/authorize?client_id=console code 303 if console {{ path /auth/login }}\n\
         \x20http-request redirect location /login?then=x code 302 if login {{ path /oauth/authorize }}\n\
         \x20{login}\n http-request return status 503 content-type text/html string \"Application is not available\"\n",
        folder = folder.display()
    );
    fs::write(folder.join("haproxy.cfg"), config).unwrap();
    let started = Server::start(Path::new("/usr/sbin/haproxy"), ["-db", "-f", "haproxy.cfg"], folder);
    until("the router listens", || std::net::TcpStream::connect("127.0.0.1:443").is_ok());
    started
}

async fn check(verifier: &Verifier) -> VerifyOutcome {
    verifier.run().await.into_iter().find(|outcome| outcome.check == Check::Console).unwrap()
}

async fn trust(driver: &Driver, ca: &str) {
    let map = json!({"metadata": {"name": "default-ingress-cert"}, "data": {"ca-bundle.crt": ca}});
    driver.put("ConfigMap", Some("openshift-config-managed"), map).await;
}

#[test]
fn real_the_console_is_followed_to_its_login() {
    if !inside() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let ca = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    succeed(Command::new("bash").args(["-c", MAKE, "bash", CONSOLE, LOGIN]).current_dir(folder.path()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let driver = Driver::start().await;
        let mut verifier = verifier(&driver);
        verifier.skip =
            Check::ALL.into_iter().filter(|check| !matches!(check, Check::Console | Check::Api)).collect();
        for name in ["openshift-console", "openshift-config-managed"] {
            driver.put("Namespace", None, json!({"metadata": {"name": name}})).await;
        }
        assert_eq!(check(&verifier).await.judged.verdict, Verdict::Skipped, "there is no route");
        let route = json!({"metadata": {"name": "console"}, "spec": {"host": CONSOLE, "tls": {"termination": "reencrypt"}},
            "status": {"ingress": [{"host": CONSOLE, "conditions": [{"type": "Admitted", "status": "True"}]}]}});
        driver.put("Route", Some("openshift-console"), route).await;
        trust(&driver, &ca("ca.crt")).await;

        let nobody = check(&verifier).await;
        assert_eq!(nobody.judged.verdict, Verdict::Failed, "{nobody:?}");
        assert!(nobody.judged.seen[0].contains("refused"), "{nobody:?}");

        let page = "http-request return status 200 content-type text/html string \"<title>Log in</title>\" if login { path /login }";
        let running = router(folder.path(), page);
        let passed = check(&verifier).await;
        assert_eq!(passed.judged.verdict, Verdict::Passed, "{passed:?}");
        assert_eq!(passed.judged.seen, [format!("https://{CONSOLE} answers, with the login at https://{LOGIN}")]);
        // A CA that signed nothing here.
        trust(&driver, &ca("stranger.crt")).await;
        let refused = check(&verifier).await;
        assert_eq!(refused.judged.verdict, Verdict::Failed, "{refused:?}");
        trust(&driver, &ca("ca.crt")).await;
        drop(running);

        // The login's pods are gone: the router says so.
        let running = router(folder.path(), "");
        let gone = check(&verifier).await;
        assert_eq!(gone.judged.verdict, Verdict::Failed, "{gone:?}");
        let said = format!("https://{CONSOLE} redirects to https://{LOGIN}: it says 503 Service Unavailable");
        assert_eq!(gone.judged.seen, [said]);
        drop(running);

        // It sends in a circle.
        let circle = format!("http-request redirect location https://{CONSOLE}/ code 302 if login {{ path /login }}");
        let _running = router(folder.path(), &circle);
        let lost = check(&verifier).await;
        assert!(lost.judged.verdict == Verdict::Failed && lost.judged.seen[0].contains("redirects endlessly"), "{lost:?}");
    });
}
