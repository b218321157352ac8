//! A real slapd, and the discovery document of an issuer behind a real TLS server: what is asked before people depend on it.

use std::path::Path;
use std::process::Command;

use hardway_base::Secret;
use hardway_cluster::day_two::{ask_ldap, ask_open_id};
use hardway_testing::{Server, free_port, self_signed, self_signed_leaf, succeed, until};
use serde_json::json;

const LDIF: &str = "dn: dc=example\nobjectClass: dcObject\nobjectClass: organization\no: e\ndc: example\n\n\
    dn: uid=alice,dc=example\nobjectClass: inetOrgPerson\nuid: alice\ncn: Alice\nsn: A\n";

fn slapd(folder: &Path, port: u16) -> Server {
    self_signed(folder, "ldap", "IP:127.0.0.1");
    fs_err::create_dir(folder.join("db")).unwrap();
    let here = folder.display();
    let schemas: String = ["core", "cosine", "inetorgperson"]
        .map(|name| format!("include /etc/ldap/schema/{name}.schema\n"))
        .concat();
    let config = format!(
        "{schemas}modulepath /usr/lib/ldap\nmoduleload back_mdb\npidfile {here}/pid\n\
         TLSCertificateFile {here}/ldap.crt\nTLSCertificateKeyFile {here}/ldap.key\n\
         disallow bind_anon\nrequire authc\ndatabase mdb\nmaxsize 10485760\nsuffix dc=example\n\
         rootdn cn=reader,dc=example\nrootpw hush\ndirectory {here}/db\n"
    );
    fs_err::write(folder.join("slapd.conf"), config).unwrap();
    fs_err::write(folder.join("users.ldif"), LDIF).unwrap();
    succeed(Command::new("/usr/sbin/slapadd").current_dir(folder).args([
        "-f",
        "slapd.conf",
        "-l",
        "users.ldif",
    ]));
    let address = format!("ldaps://127.0.0.1:{port}/");
    let server = Server::start(
        Path::new("/usr/sbin/slapd"),
        ["-d", "stats", "-h", &address, "-f", "slapd.conf"],
        folder,
    );
    until("slapd listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    server
}

#[tokio::test]
async fn real_directory_is_bound_to_and_searched() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let _server = slapd(folder.path(), port);
    let ca = folder.path().join("ldap.crt");
    let ask = async |base: &str, password: &str, ca: Option<&Path>| {
        let url = format!("ldaps://127.0.0.1:{port}/{base}");
        let password = Secret::new(password);
        let bind = Some(("cn=reader,dc=example", &password));
        ask_ldap(&url, bind, ca, folder.path()).await.map_err(|error| error.to_string())
    };
    assert_eq!(ask("dc=example?uid", "hush", Some(&ca)).await, Ok(()));
    let said = ask("dc=example?uid", "wrong", Some(&ca)).await.unwrap_err();
    assert!(said.contains("Invalid credentials") && !said.contains("wrong"), "{said}");
    let said = ask("dc=example?uid??(uid=nobody)", "hush", Some(&ca)).await.unwrap_err();
    assert!(said.contains("no user is found below \"dc=example\""), "{said}");
    // Signed by somebody whom nobody here trusts.
    assert!(ask("dc=example?uid", "hush", None).await.is_err());
}

#[tokio::test]
async fn real_issuer_is_asked_for_its_discovery_document_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let (certificate, key) = self_signed_leaf(folder.path(), "sso", "DNS:localhost,IP:127.0.0.1");
    let issuer = format!("https://localhost:{port}");
    let document = |issuer: &str| {
        let text =
            json!({"issuer": issuer, "authorization_endpoint": "a", "token_endpoint": "t"}).to_string();
        fs_err::create_dir_all(folder.path().join(".well-known")).unwrap();
        let file = folder.path().join(".well-known/openid-configuration");
        fs_err::write(file, format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()))
            .unwrap();
    };
    document(&issuer);
    let accept = port.to_string();
    let arguments = ["s_server", "-accept", &accept, "-HTTP", "-quiet", "-cert"].map(str::to_owned);
    let pair = [certificate.display().to_string(), "-key".to_owned(), key.display().to_string()];
    let _server = Server::start(Path::new("openssl"), arguments.into_iter().chain(pair), folder.path());
    until("the issuer listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());

    let ca = Secret::new(fs_err::read(&certificate).unwrap());
    let ask = async |ca: Option<&Secret>| ask_open_id(&issuer, ca).await.map_err(|error| error.to_string());
    assert_eq!(ask(Some(&ca)).await, Ok(()));
    document("https://somebody.else");
    let said = ask(Some(&ca)).await.unwrap_err();
    assert!(said.contains("says that the issuer is \"https://somebody.else\""), "{said}");
    assert!(ask(None).await.is_err(), "nobody vouches for its certificate");
}
