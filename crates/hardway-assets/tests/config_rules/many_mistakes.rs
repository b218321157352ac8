//! One file with a dozen mistakes: all of them are reported, each at its place.

use hardway_assets::install_config::{self, Rules};

const FILE: &str = include_str!("../../../../fuzz/seeds/install_config/mistakes.yaml");

#[test]
fn all_are_reported_with_their_places() {
    let errors = install_config::read(FILE, Rules::for_version("4.18.3")).unwrap_err();
    let found: Vec<(&str, &str)> = errors
        .iter()
        .map(|error| {
            let span = error.span.expect("every error has a place");
            (error.path.as_str(), &FILE[span.start..span.end])
        })
        .collect();
    let expected = [
        ("metadata.nmae", "nmae"),
        ("fips", "'no'"),
        ("networking.machineNetwork[1].cidr", "10.20.30"),
        ("sshKey", "ssh-rsa nonsense"),
        ("baseDomain", "Corp_Example"),
        ("networking.machineNetwork[0]", "cidr: 10.20.30.7/24\n"),
        ("networking.serviceNetwork[0]", "172.31.0.0/11"),
        ("networking.clusterNetwork[0].cidr", "10.20.0.0/14"),
        ("networking.clusterNetwork[0].hostPrefix", "13"),
        ("platform", "aws"),
        ("controlPlane.replicas", "0"),
        ("controlPlane.hyperthreading", "Sometimes"),
        ("compute[0].name", "infra"),
        ("compute[0].replicas", "-2"),
        ("pullSecret", r#"'{"auths": {}}'"#),
        ("proxy", "proxy"),
        ("proxy.noProxy", "'*.corp.example'"),
        ("publish", "Internal"),
    ];
    let found: Vec<(&str, &str)> = found.into_iter().map(|(path, text)| (path, text.trim_end())).collect();
    let expected: Vec<(&str, &str)> =
        expected.into_iter().map(|(path, text)| (path, text.trim_end())).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_syntax_error_ends_it_but_every_double_key_is_told() {
    let text = format!("{FILE}publish: External\nfips: true\n");
    let errors = install_config::read(&text, Rules::for_version("4.18.3")).unwrap_err();
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["Syntax error: duplicate key \"publish\"", "Syntax error: duplicate key \"fips\""]);
}
