//! Hostile and odd requests, each with every kind of key: none is approved, and each is refused for its own reason.

use hardway_assets::pki::der;
use hardway_cluster::csr_policy::{CsrVerdict, ReasonCode as R, State};

use crate::csr::support::key::{ED25519, GOOD};
use crate::csr::support::pkcs10::{
    CN, O, OU, dns, email, extension, extension_list, ip, names_extension, uri,
};
use crate::csr::support::request::{
    ADDRESS, BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, Draft, HOST_GROUPS, HOST_USER, NODE, ago,
};

/// What kind of request is spoiled.
type Base = fn() -> Draft;
type Spoil = fn(&mut Draft);

const CLIENT: Base = Draft::first_client;
const STOCK: Base = Draft::stock_client;
const RENEWAL: Base = Draft::client_renewal;
const SERVING: Base = Draft::serving;

/// One line a case, so that it reads as the table it is.
#[rustfmt::skip]
const CASES: &[(&str, Base, Spoil, R)] = &[
    // Somebody else's business.
    ("another signer", CLIENT, |d| d.request.signer = "kubernetes.io/kube-apiserver-client".into(), R::SignerNotOurs),
    ("legacy signer", CLIENT, |d| d.request.signer = "kubernetes.io/legacy-unknown".into(), R::SignerNotOurs),
    ("signer with a tail", SERVING, |d| d.request.signer.push_str("/x"), R::SignerNotOurs),
    ("signer in capitals", SERVING, |d| d.request.signer = d.request.signer.to_uppercase(), R::SignerNotOurs),
    ("empty signer", CLIENT, |d| d.request.signer.clear(), R::SignerNotOurs),
    ("network operator's signer", CLIENT, |d| d.request.signer = "network.openshift.io/signer".into(), R::SignerNotOurs),
    ("replay of an approved one", CLIENT, |d| d.request.state = State::Approved { at: ago(60), issued: true }, R::NotPending),
    ("replay of a denied one", SERVING, |d| d.request.state = State::Ended, R::NotPending),

    // The object.
    ("oversized by text", CLIENT, |d| d.edit_pem = |pem| (pem + &"\n".repeat(20_000)).into_bytes(), R::RequestTooLarge),
    ("oversized by names", SERVING, |d| d.pkcs10.names = (0..600).map(|n| dns(&format!("n{n}.example.com"))).collect(), R::RequestTooLarge),
    ("lives for ever", CLIENT, |d| d.request.expiration_seconds = Some(i32::MAX), R::LifetimeTooLong),
    ("serving lives ten years", SERVING, |d| d.request.expiration_seconds = Some(315_360_000), R::LifetimeTooLong),
    ("from tomorrow", CLIENT, |d| d.request.created = ago(-86_400), R::FromTheFuture),
    ("from tomorrow, serving", SERVING, |d| d.request.created = ago(-86_400), R::FromTheFuture),
    ("from yesterday", SERVING, |d| d.request.created = ago(86_400), R::Abandoned),
    ("from before time", SERVING, |d| d.request.created = jiff::Timestamp::UNIX_EPOCH, R::Abandoned),
    ("an hour old", RENEWAL, |d| d.request.created = ago(3_600), R::Abandoned),

    // Its encoding.
    ("empty", CLIENT, |d| d.edit_pem = |_| Vec::new(), R::PemMalformed),
    ("no PEM", CLIENT, |d| d.edit_pem = |_| b"hello".to_vec(), R::PemMalformed),
    ("not UTF-8", SERVING, |d| d.edit_pem = |pem| [b"\xff\xfe", pem.as_bytes()].concat(), R::PemMalformed),
    ("a certificate", CLIENT, |d| d.pkcs10.label = "CERTIFICATE", R::PemMalformed),
    ("a new certificate request", CLIENT, |d| d.pkcs10.label = "NEW CERTIFICATE REQUEST", R::PemMalformed),
    ("a private key's label", CLIENT, |d| d.pkcs10.label = "EC PRIVATE KEY", R::PemMalformed),
    ("two in one", CLIENT, |d| d.edit_pem = |pem| pem.repeat(2).into_bytes(), R::PemMalformed),
    ("text before", CLIENT, |d| d.edit_pem = |pem| ("junk\n".to_owned() + &pem).into_bytes(), R::PemMalformed),
    ("text behind", CLIENT, |d| d.edit_pem = |pem| (pem + "junk\n").into_bytes(), R::PemMalformed),
    ("a PEM header", CLIENT, |d| d.edit_pem = |pem| pem.replacen('\n', "\nProc-Type: 4,ENCRYPTED\n\n", 1).into_bytes(), R::PemMalformed),
    ("cut off", CLIENT, |d| d.edit_pem = |pem| pem.as_bytes()[..pem.len() / 2].to_vec(), R::PemMalformed),
    ("bytes behind the request", CLIENT, |d| d.pkcs10.tail = vec![5, 0], R::Pkcs10Malformed),
    ("version 1", CLIENT, |d| d.pkcs10.version = 1, R::Pkcs10Malformed),
    ("names twice", SERVING, |d| d.pkcs10.extensions.push(names_extension(&[dns("api.ocp4.example.com")])), R::Pkcs10Malformed),
    ("extensions twice", SERVING, |d| d.pkcs10.attributes.push(extension_list(&[names_extension(&[dns("api.ocp4.example.com")])])), R::Pkcs10Malformed),
    ("names that are none", SERVING, |d| { d.pkcs10.names.clear(); d.pkcs10.extensions.push(extension(&[2, 5, 29, 17], false, b"junk")); }, R::Pkcs10Malformed),
    ("random bytes", CLIENT, |d| d.edit_pem = |_| b"-----BEGIN CERTIFICATE REQUEST-----\nAAECAwQFBgc=\n-----END CERTIFICATE REQUEST-----\n".to_vec(), R::Pkcs10Malformed),

    // Its proof.
    ("signed by another key", CLIENT, |d| d.signed_by_a_stranger = true, R::CsrSignatureInvalid),
    ("serving signed by another key", SERVING, |d| d.signed_by_a_stranger = true, R::CsrSignatureInvalid),
    ("spoilt signature", CLIENT, |d| d.pkcs10.spoil_signature = true, R::CsrSignatureInvalid),
    ("asks for an authority", CLIENT, |d| d.pkcs10.extensions.push(extension(&[2, 5, 29, 19], true, &der::sequence(&[der::yes()]))), R::AsksForCa),
    ("a server that signs", SERVING, |d| d.pkcs10.extensions.push(extension(&[2, 5, 29, 19], true, &der::sequence(&[der::yes()]))), R::AsksForCa),
    ("no authority, said aloud", SERVING, |d| d.pkcs10.extensions.push(extension(&[2, 5, 29, 19], true, &der::sequence(&[]))), R::ExtensionNotAllowed),
    ("key usage", SERVING, |d| d.pkcs10.extensions.push(extension(&[2, 5, 29, 15], true, &[3, 2, 2, 0x04])), R::ExtensionNotAllowed),
    ("extended key usage", CLIENT, |d| d.pkcs10.extensions.push(extension(&[2, 5, 29, 37], false, &der::sequence(&[der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, 1])]))), R::ExtensionNotAllowed),
    ("unknown critical extension", CLIENT, |d| d.pkcs10.extensions.push(extension(&[1, 3, 6, 1, 4, 1, 99_999, 1], true, &der::null())), R::ExtensionNotAllowed),
    ("unknown extension", SERVING, |d| d.pkcs10.extensions.push(extension(&[1, 3, 6, 1, 4, 1, 99_999, 1], false, &der::null())), R::ExtensionNotAllowed),
    ("challenge password", CLIENT, |d| d.pkcs10.attributes.push(der::sequence(&[der::oid(&[1, 2, 840, 113_549, 1, 9, 7]), der::set(vec![der::tagged(0x0c, b"hush")])])), R::AttributeNotAllowed),
    ("unknown attribute", SERVING, |d| d.pkcs10.attributes.push(der::sequence(&[der::oid(&[1, 2, 3, 4]), der::set(vec![der::null()])])), R::AttributeNotAllowed),

    // Its subject.
    ("an administrator", CLIENT, |d| d.pkcs10.subject = vec![(O, "system:masters".into()), (CN, "admin".into())], R::OrganizationNotNodes),
    ("a node in system:masters", CLIENT, |d| d.pkcs10.subject[0].1 = "system:masters".into(), R::OrganizationNotNodes),
    ("masters too", CLIENT, |d| d.pkcs10.subject.insert(1, (O, "system:masters".into())), R::OrganizationNotNodes),
    ("masters too, first", SERVING, |d| d.pkcs10.subject.insert(0, (O, "system:masters".into())), R::OrganizationNotNodes),
    ("nodes twice", CLIENT, |d| d.pkcs10.subject.insert(0, (O, "system:nodes".into())), R::OrganizationNotNodes),
    ("no group", CLIENT, |d| { d.pkcs10.subject.remove(0); }, R::OrganizationNotNodes),
    ("group in capitals", SERVING, |d| d.pkcs10.subject[0].1 = "System:Nodes".into(), R::OrganizationNotNodes),
    ("group with a blank", CLIENT, |d| d.pkcs10.subject[0].1 = "system:nodes ".into(), R::OrganizationNotNodes),
    ("empty group", CLIENT, |d| d.pkcs10.subject[0].1.clear(), R::OrganizationNotNodes),
    ("a unit too", CLIENT, |d| d.pkcs10.subject.push((OU, "x".into())), R::SubjectExtra),
    ("two names", CLIENT, |d| d.pkcs10.subject.push((CN, "system:node:master-0.ocp4.example.com".into())), R::SubjectExtra),
    ("two names, admin first", SERVING, |d| d.pkcs10.subject.insert(0, (CN, "admin".into())), R::SubjectExtra),
    ("no name", CLIENT, |d| { d.pkcs10.subject.pop(); }, R::NotANode),
    ("empty subject", CLIENT, |d| d.pkcs10.subject.clear(), R::OrganizationNotNodes),
    ("a service account", CLIENT, |d| d.pkcs10.subject[1].1 = "system:serviceaccount:kube-system:default".into(), R::NotANode),
    ("the API server", CLIENT, |d| d.pkcs10.subject[1].1 = "system:kube-apiserver".into(), R::NotANode),
    ("prefix in capitals", CLIENT, |d| d.pkcs10.subject[1].1 = format!("System:Node:{NODE}"), R::NotANode),
    ("blank before the name", CLIENT, |d| d.pkcs10.subject[1].1 = format!(" system:node:{NODE}"), R::NotANode),
    ("nothing behind the prefix", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:".into(), R::NodeNameInvalid),
    ("name in capitals", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:WORKER-0.ocp4.example.com".into(), R::NodeNameInvalid),
    ("name with a dot behind", CLIENT, |d| d.pkcs10.subject[1].1.push('.'), R::NodeNameInvalid),
    ("name with a blank behind", CLIENT, |d| d.pkcs10.subject[1].1.push(' '), R::NodeNameInvalid),
    ("name with a line end", CLIENT, |d| d.pkcs10.subject[1].1.push('\n'), R::NodeNameInvalid),
    ("name with a zero byte", CLIENT, |d| d.pkcs10.subject[1].1.push_str("\0.evil.com"), R::NodeNameInvalid),
    ("name with a path", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:../../masters".into(), R::NodeNameInvalid),
    ("name with a colon", CLIENT, |d| d.pkcs10.subject[1].1 = format!("system:node:system:node:{NODE}"), R::NodeNameInvalid),
    ("name with another letter o", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:w\u{43e}rker-0.ocp4.example.com".into(), R::NodeNameInvalid),
    ("name with a wildcard", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:*.ocp4.example.com".into(), R::NodeNameInvalid),
    ("name that is too long", CLIENT, |d| d.pkcs10.subject[1].1 = format!("system:node:{}", "a".repeat(300)), R::NodeNameInvalid),
    ("localhost", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:localhost".into(), R::NodeNameLocalhost),
    ("localhost.localdomain", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:localhost.localdomain".into(), R::NodeNameLocalhost),
    ("a stranger", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:worker-9.ocp4.example.com".into(), R::NodeNotDeclared),
    ("the short name", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:worker-0".into(), R::NodeNamedOtherwise),
    ("another domain", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:worker-0.evil.com".into(), R::NodeNamedOtherwise),
    ("a longer domain", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:worker-0.ocp4.example.com.evil.com".into(), R::NodeNamedOtherwise),
    ("the bootstrap host", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:bootstrap.ocp4.example.com".into(), R::NodeNotDeclared),
    ("Fedora's default", CLIENT, |d| d.pkcs10.subject[1].1 = "system:node:fedora".into(), R::NodeNotDeclared),

    // Who asks.
    ("asked by an account of a pod", CLIENT, |d| d.request.username = "system:serviceaccount:default:thief".into(), R::RequesterNotBootstrapper),
    ("asked by an administrator", CLIENT, |d| d.request.username = "system:admin".into(), R::RequesterNotBootstrapper),
    ("asked by nobody", CLIENT, |d| d.request.username.clear(), R::RequesterNotBootstrapper),
    ("asked anonymously", CLIENT, |d| d.request.username = "system:anonymous".into(), R::RequesterNotBootstrapper),
    ("an account of that name elsewhere", CLIENT, |d| d.request.username = "system:serviceaccount:default:node-bootstrapper".into(), R::RequesterNotBootstrapper),
    ("identity with a tail", CLIENT, |d| d.request.username.push('x'), R::RequesterNotBootstrapper),
    ("bootstrapper with a tail", STOCK, |d| d.request.username.push('x'), R::RequesterNotBootstrapper),
    ("a bootstrap token, not allowed", STOCK, |d| { d.request.username = "system:bootstrap:abc123".into(); d.request.groups = vec!["system:bootstrappers".into(), "system:authenticated".into()]; }, R::RequesterNotBootstrapper),
    ("a bootstrap token in system:masters", STOCK, |d| { d.settings.bootstrap_tokens = true; d.request.username = "system:bootstrap:abc123".into(); d.request.groups = vec!["system:bootstrappers".into(), "system:masters".into(), "system:authenticated".into()]; }, R::BootstrapperGroupsDiffer),
    ("a long bootstrap token", STOCK, |d| { d.settings.bootstrap_tokens = true; d.request.username = "system:bootstrap:abc1234".into(); }, R::RequesterNotBootstrapper),
    ("bootstrapper in system:masters", STOCK, |d| d.request.groups.push("system:masters".into()), R::BootstrapperGroupsDiffer),
    ("bootstrapper without its group", STOCK, |d| { d.request.groups.remove(1); }, R::BootstrapperGroupsDiffer),
    ("bootstrapper without groups", STOCK, |d| d.request.groups.clear(), R::BootstrapperGroupsDiffer),
    ("an account, for a stock pointer", STOCK, |d| d.request.username = "system:serviceaccount:default:thief".into(), R::RequesterNotBootstrapper),
    ("identity in system:masters", CLIENT, |d| d.request.groups.push("system:masters".into()), R::BootstrapperGroupsDiffer),
    ("identity with the bootstrapper's groups too", CLIENT, |d| d.request.groups.extend(BOOTSTRAPPER_GROUPS.map(str::to_owned)), R::BootstrapperGroupsDiffer),
    ("identity without its group", CLIENT, |d| { d.request.groups.remove(0); }, R::BootstrapperGroupsDiffer),
    ("identity without groups", CLIENT, |d| d.request.groups.clear(), R::BootstrapperGroupsDiffer),
    ("the shared identity", CLIENT, |d| { d.request.username = BOOTSTRAPPER.into(); d.request.groups = BOOTSTRAPPER_GROUPS.map(str::to_owned).into(); }, R::SharedIdentity),
    ("the shared identity, with a permission", CLIENT, |d| { d.request.username = BOOTSTRAPPER.into(); d.request.groups = BOOTSTRAPPER_GROUPS.map(str::to_owned).into(); d.settings.rejoin.insert(NODE.into(), ago(100)); }, R::SharedIdentity),
    ("a bootstrap token, allowed", CLIENT, |d| { d.settings.bootstrap_tokens = true; d.request.username = "system:bootstrap:abc123".into(); d.request.groups = vec!["system:bootstrappers".into(), "system:authenticated".into()]; }, R::SharedIdentity),
    ("another host's identity", CLIENT, |d| d.request.username = "hardway:host:worker-1:1".into(), R::IdentityOfAnotherHost),
    ("a master's identity", CLIENT, |d| d.request.username = "hardway:host:master-0:1".into(), R::IdentityOfAnotherHost),
    ("another host's identity, for a stock pointer", STOCK, |d| { d.request.username = "hardway:host:worker-1:1".into(); d.request.groups = HOST_GROUPS.map(str::to_owned).into(); }, R::IdentityOfAnotherHost),
    ("the identity it had before its stock pointer", STOCK, |d| { d.request.username = HOST_USER.into(); d.request.groups = HOST_GROUPS.map(str::to_owned).into(); }, R::RequesterNotBootstrapper),
    ("an identity with the node's name", CLIENT, |d| d.request.username = format!("hardway:host:{NODE}:1"), R::IdentityOfAnotherHost),
    ("the generation before", CLIENT, |d| { d.next_generation(ago(50), false); d.request.username = HOST_USER.into(); }, R::IdentityReplaced),
    ("no generation", CLIENT, |d| d.request.username = "hardway:host:worker-0:0".into(), R::IdentityReplaced),
    ("a generation to come", CLIENT, |d| d.request.username = "hardway:host:worker-0:2".into(), R::IdentityUnknown),
    ("a generation with a sign", CLIENT, |d| d.request.username = "hardway:host:worker-0:+1".into(), R::RequesterNotBootstrapper),
    ("serving by a host's identity", SERVING, |d| d.request.username = HOST_USER.into(), R::BootstrapperAsksToServe),
    ("renewal by another node", RENEWAL, |d| d.request.username = "system:node:worker-1.ocp4.example.com".into(), R::AskedByAnotherNode),
    ("serving by another node", SERVING, |d| d.request.username = "system:node:worker-1.ocp4.example.com".into(), R::AskedByAnotherNode),
    ("serving by a node with no name", SERVING, |d| d.request.username = "system:node:".into(), R::AskedByAnotherNode),
    ("serving by the bootstrapper", SERVING, |d| d.request.username = BOOTSTRAPPER.into(), R::BootstrapperAsksToServe),
    ("serving by a token", SERVING, |d| d.request.username = "system:bootstrap:abc123".into(), R::BootstrapperAsksToServe),
    ("serving by an administrator", SERVING, |d| d.request.username = "system:admin".into(), R::RequesterNotANode),
    ("node without system:nodes", SERVING, |d| { d.request.groups.remove(0); }, R::NodeGroupsDiffer),
    ("node in system:masters", SERVING, |d| d.request.groups.push("system:masters".into()), R::NodeGroupsDiffer),
    ("renewal in system:masters", RENEWAL, |d| d.request.groups.push("system:masters".into()), R::NodeGroupsDiffer),

    // What for.
    ("no usages", CLIENT, |d| d.request.usages.clear(), R::UsagesNotAllowed),
    ("a client that serves", CLIENT, |d| d.request.usages[1] = "server auth".into(), R::UsagesNotAllowed),
    ("a server that is a client", SERVING, |d| d.request.usages[1] = "client auth".into(), R::UsagesNotAllowed),
    ("both", SERVING, |d| d.request.usages.push("client auth".into()), R::UsagesNotAllowed),
    ("signs certificates", CLIENT, |d| d.request.usages.push("cert sign".into()), R::UsagesNotAllowed),
    ("any use", SERVING, |d| d.request.usages.push("any".into()), R::UsagesNotAllowed),
    ("the same twice", CLIENT, |d| d.request.usages.push("client auth".into()), R::UsagesNotAllowed),
    ("no digital signature", SERVING, |d| d.request.usages[0] = "key encipherment".into(), R::UsagesNotAllowed),
    ("code signing", SERVING, |d| d.request.usages.push("code signing".into()), R::UsagesNotAllowed),

    // Its names.
    ("a client with its name", CLIENT, |d| d.pkcs10.names = vec![dns(NODE)], R::ClientHasNames),
    ("a client with an address", RENEWAL, |d| d.pkcs10.names = vec![ip(ADDRESS)], R::ClientHasNames),
    ("a client with a URI", CLIENT, |d| d.pkcs10.names = vec![uri("spiffe://x/y")], R::ClientHasNames),
    ("a server without names", SERVING, |d| d.pkcs10.names.clear(), R::NoNames),
    ("a mail address", SERVING, |d| d.pkcs10.names.push(email("root@ocp4.example.com")), R::NameKindNotAllowed),
    ("a URI", SERVING, |d| d.pkcs10.names.push(uri("https://ocp4.example.com")), R::NameKindNotAllowed),
    ("another kind of name", SERVING, |d| d.pkcs10.names.push(der::tagged(0x88, &[0x2a, 3, 4])), R::NameKindNotAllowed),
    ("an address of three bytes", SERVING, |d| d.pkcs10.names.push(der::tagged(0x87, &[10, 0, 0])), R::NameKindNotAllowed),
    ("an address with its mask", SERVING, |d| d.pkcs10.names.push(der::tagged(0x87, &[192, 168, 126, 110, 255, 255, 255, 0])), R::NameKindNotAllowed),
    ("IPv4 in IPv6", SERVING, |d| d.pkcs10.names.push(ip("::ffff:192.168.126.110")), R::NameKindNotAllowed),
    ("every name", SERVING, |d| d.pkcs10.names.push(dns("*")), R::WildcardName),
    ("a wildcard", SERVING, |d| d.pkcs10.names.push(dns("*.ocp4.example.com")), R::WildcardName),
    ("a wildcard of the ingress", SERVING, |d| d.pkcs10.names.push(dns("*.apps.ocp4.example.com")), R::WildcardName),
    ("its name in capitals", SERVING, |d| d.pkcs10.names.push(dns("Worker-0.ocp4.example.com")), R::NameMalformed),
    ("its name with a dot behind", SERVING, |d| d.pkcs10.names.push(dns("worker-0.ocp4.example.com.")), R::NameMalformed),
    ("its name and a zero byte", SERVING, |d| d.pkcs10.names.push(dns("worker-0.ocp4.example.com\0")), R::NameMalformed),
    ("a name with a blank", SERVING, |d| d.pkcs10.names.push(dns("worker-0 .ocp4.example.com")), R::NameMalformed),
    ("an empty name", SERVING, |d| d.pkcs10.names.push(dns("")), R::NameMalformed),
    ("an underscore", SERVING, |d| d.pkcs10.names.push(dns("_etcd.ocp4.example.com")), R::NameMalformed),
    ("the API", SERVING, |d| d.pkcs10.names.push(dns("api.ocp4.example.com")), R::NameBelongsToAnother),
    ("the API inside", SERVING, |d| d.pkcs10.names.push(dns("api-int.ocp4.example.com")), R::NameBelongsToAnother),
    ("the console", SERVING, |d| d.pkcs10.names.push(dns("console.apps.ocp4.example.com")), R::NameBelongsToAnother),
    ("a master", SERVING, |d| d.pkcs10.names.push(dns("master-0.ocp4.example.com")), R::NameBelongsToAnother),
    ("a master's short name", SERVING, |d| d.pkcs10.names.push(dns("master-0")), R::NameBelongsToAnother),
    ("localhost as a name", SERVING, |d| d.pkcs10.names.push(dns("localhost")), R::NameBelongsToAnother),
    ("the service of the API", SERVING, |d| d.pkcs10.names.push(dns("kubernetes.default.svc")), R::NameBelongsToAnother),
    ("the short service of the API", SERVING, |d| d.pkcs10.names.push(dns("kubernetes")), R::NameBelongsToAnother),
    ("a service", SERVING, |d| d.pkcs10.names.push(dns("etcd.openshift-etcd.svc.cluster.local")), R::NameBelongsToAnother),
    ("a foreign name", SERVING, |d| d.pkcs10.names.push(dns("example.org")), R::NameNotDeclared),
    ("its own short name", SERVING, |d| d.pkcs10.names.push(dns("worker-0")), R::NameNotDeclared),
    ("only a foreign name", SERVING, |d| d.pkcs10.names = vec![dns("example.org")], R::NameNotDeclared),
    ("an address as a name", SERVING, |d| d.pkcs10.names.push(dns("192.168.126.110")), R::NameNotDeclared),
    ("loopback", SERVING, |d| d.pkcs10.names.push(ip("127.0.0.1")), R::AddressReserved),
    ("another loopback", SERVING, |d| d.pkcs10.names.push(ip("127.1.2.3")), R::AddressReserved),
    ("IPv6 loopback", SERVING, |d| d.pkcs10.names.push(ip("::1")), R::AddressReserved),
    ("no address", SERVING, |d| d.pkcs10.names.push(ip("0.0.0.0")), R::AddressReserved),
    ("no IPv6 address", SERVING, |d| d.pkcs10.names.push(ip("::")), R::AddressReserved),
    ("everybody's address", SERVING, |d| d.pkcs10.names.push(ip("255.255.255.255")), R::AddressReserved),
    ("a group's address", SERVING, |d| d.pkcs10.names.push(ip("224.0.0.1")), R::AddressReserved),
    ("the API's service address", SERVING, |d| d.pkcs10.names.push(ip("172.30.0.1")), R::AddressReserved),
    ("a service's address", SERVING, |d| d.pkcs10.names.push(ip("172.30.200.7")), R::AddressReserved),
    ("a pod's address", SERVING, |d| d.pkcs10.names.push(ip("10.128.0.5")), R::AddressReserved),
    ("a declared service address", SERVING, |d| { d.declared.nodes[3].addresses.push("172.30.0.9".parse().unwrap()); d.pkcs10.names.push(ip("172.30.0.9")); }, R::AddressReserved),
    ("a master's address", SERVING, |d| d.pkcs10.names.push(ip("192.168.126.101")), R::AddressBelongsToAnother),
    ("the other worker's address", SERVING, |d| d.pkcs10.names.push(ip("192.168.126.111")), R::AddressBelongsToAnother),
    ("the address of the API", SERVING, |d| d.pkcs10.names.push(ip("192.168.126.10")), R::AddressBelongsToAnother),
    ("the address of the ingress", SERVING, |d| d.pkcs10.names.push(ip("192.168.126.11")), R::AddressBelongsToAnother),
    ("the bootstrap host's address", SERVING, |d| d.pkcs10.names.push(ip("192.168.126.100")), R::AddressBelongsToAnother),
    ("the gateway's address", SERVING, |d| d.pkcs10.names.push(ip("192.168.126.1")), R::AddressBelongsToAnother),
    ("a foreign address", SERVING, |d| d.pkcs10.names.push(ip("8.8.8.8")), R::AddressNotDeclared),
    ("a link-local address", SERVING, |d| d.pkcs10.names.push(ip("169.254.169.254")), R::AddressNotDeclared),
    ("another of its network", SERVING, |d| d.pkcs10.names.push(ip("192.168.126.200")), R::AddressNotDeclared),

    // The node.
    ("a node that is there", CLIENT, |d| { d.nodes = Draft::serving().nodes; }, R::NodeExists),
    ("a node that is there since long", CLIENT, |d| { d.nodes = Draft::serving().nodes; d.nodes.get_mut(NODE).unwrap().created = ago(9_000_000); d.redemptions[0].at = ago(9_000_600); }, R::NodeExists),
    ("serving without a node", SERVING, |d| d.nodes.clear(), R::NodeMissing),
    ("renewal without a node", RENEWAL, |d| d.nodes.clear(), R::NodeMissing),
    ("a node of that name elsewhere", SERVING, |d| d.nodes.get_mut(NODE).unwrap().addresses = vec!["10.9.9.9".parse().unwrap()], R::NodeElsewhere),

    // Its config.
    ("config not fetched", CLIENT, |d| d.redemptions[0].host = "worker-1".into(), R::IgnitionNotRedeemed),
    ("config of nobody, required", CLIENT, |d| { d.redemptions.clear(); d.settings.ignition = hardway_cluster::csr_policy::IgnitionEvidence::Required; }, R::IgnitionNotRedeemed),
    ("config fetched from elsewhere", CLIENT, |d| d.redemptions[0].source = "192.168.126.66".parse().unwrap(), R::IgnitionRedeemedElsewhere),
    ("config fetched by a stranger first", CLIENT, |d| { let mut stranger = d.redemptions[0].clone(); stranger.at = ago(900); stranger.source = "10.1.1.1".parse().unwrap(); d.redemptions.push(stranger); }, R::IgnitionRedeemedElsewhere),
    ("config fetched long ago", CLIENT, |d| d.redemptions[0].at = ago(36_000), R::OutsideJoinWindow),
    ("config fetched after it asked", CLIENT, |d| d.redemptions[0].at = ago(-3_000), R::OutsideJoinWindow),
];

#[test]
fn none_is_approved_and_each_has_its_reason() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for (name, base, spoil, reason) in CASES {
        for (kind, key) in &*GOOD {
            let mut draft = base();
            spoil(&mut draft);
            let decision = draft.decide(key);
            count += 1;
            if decision.verdict == CsrVerdict::Approve || decision.reason != *reason {
                wrong.push(format!(
                    "{name} ({kind}): {} where {reason} is right: {:?}",
                    decision.reason, decision.evidence
                ));
            }
            assert_eq!(decision.verdict, decision.reason.verdict());
            assert!(!decision.evidence.is_empty(), "{name}: nothing is told");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 300, "only {count} requests");
}

/// What is spoilt is the only thing wrong with it: without it, the same request is approved.
#[test]
fn what_they_are_made_from_is_good() {
    for base in [CLIENT, STOCK, RENEWAL, SERVING] {
        for (kind, key) in &*GOOD {
            let decision = base().decide(key);
            assert_eq!(decision.verdict, CsrVerdict::Approve, "{kind}: {decision:?}");
        }
    }
}

#[test]
fn a_good_key_that_kubelets_do_not_make_is_held() {
    for base in [CLIENT, RENEWAL, SERVING] {
        let decision = base().decide(&ED25519);
        assert_eq!((decision.verdict, decision.reason), (CsrVerdict::Hold, R::KeyNotAllowed));
    }
}

/// Two things wrong at once: the graver counts, and both are told.
#[test]
fn a_denial_goes_before_a_hold() {
    let mut draft = Draft::serving();
    draft.nodes.clear();
    draft.pkcs10.names.push(ip("8.8.8.8"));
    draft.pkcs10.names.push(ip("127.0.0.1"));
    let decision = draft.decide(&GOOD[0].1);
    assert_eq!((decision.verdict, decision.reason), (CsrVerdict::Deny, R::AddressReserved));
    let told = decision.evidence.join(" ");
    assert!(
        told.contains("8.8.8.8") && told.contains("127.0.0.1") && told.contains("is not there"),
        "{told}"
    );
}
