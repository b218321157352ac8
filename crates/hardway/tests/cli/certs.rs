//! `hardway certs` where no cluster answers: the folder's own certificates, and the calendar.

use crate::work;

#[test]
fn certificates_of_the_folder_are_listed_whatever_the_cluster_says() {
    let work = work::made();
    // There is no such cluster: its name does not resolve.
    let ran = work.ok(&["certs"]).says("the cluster at https://api.ocp4.example.com:6443");
    let line = |name: &str| {
        let found = ran.stdout.lines().find(|line| line.contains(&format!(" {name} ")));
        found.unwrap_or_else(|| panic!("{name}: {}", ran.stdout)).to_owned()
    };
    assert!(line("pki/root-ca.crt").contains("folder"), "{}", ran.stdout);
    assert!(line("pki/etcd-client.crt").contains("openshift-etcd_etcd-signer@"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("ca-bundle"), "bundles hold what is listed already: {}", ran.stdout);
    let ends: Vec<&str> = ran.stdout.lines().skip(1).map(|line| &line[..20]).collect();
    assert!(ends.is_sorted(), "the first to end first: {ends:?}");

    let json = work.ok(&["certs", "-o", "json"]).json();
    assert_eq!(json["certificates"].as_array().unwrap().len(), ends.len());
    assert_eq!(json["unknown"].as_array().unwrap().len(), 1, "{json:#}");
    let ca =
        json["certificates"].as_array().unwrap().iter().find(|one| one["name"] == "pki/root-ca.crt").unwrap();
    assert_eq!(
        (&ca["place"], &ca["signer"], &ca["renewer"]),
        (&"folder".into(), &"root-ca".into(), &"hardway create".into())
    );

    // What could not be looked at is not well.
    work.run(&["certs", "--exit-code"]).expect(1);
    let soon = work.ok(&["certs", "--within", "2d", "-o", "json"]).json();
    let names: Vec<&str> =
        soon["certificates"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"pki/kubelet-signer.crt") && !names.contains(&"pki/root-ca.crt"), "{names:?}");

    work.ok(&["certs", "--calendar", "certs.ics"])
        .says(&format!("wrote {} entries to certs.ics", ends.len()));
    let calendar = work.read("certs.ics");
    assert!(
        calendar.starts_with("BEGIN:VCALENDAR\r\n") && calendar.ends_with("END:VCALENDAR\r\n"),
        "{calendar}"
    );
    assert_eq!(calendar.matches("BEGIN:VEVENT\r\n").count(), ends.len());
    assert!(
        calendar.contains("SUMMARY:ocp4.example.com: certificate pki/root-ca.crt expires\r\n"),
        "{calendar}"
    );
    work.refused(2, &["certs", "--calendar", "nowhere/certs.ics"]).says("nowhere/certs.ics");
}

#[test]
fn a_folder_without_a_cluster_has_its_own() {
    let work = work::made();
    work.remove("auth/kubeconfig");
    work.ok(&["certs", "--exit-code"]).says("no cluster was made from this folder yet");
    work.write("pki/root-ca.crt", "no certificate\n");
    work.run(&["certs", "--exit-code"])
        .expect(1)
        .says("pki/root-ca.crt holds no certificate that can be read");
}
