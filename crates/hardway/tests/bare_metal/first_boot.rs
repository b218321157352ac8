//! What machines do while a command waits for them.

use std::net::IpAddr;
use std::process::Command;

use hardway_testing::{Work, succeed};
use serde_json::Value;

/// This computer is on the machine network, with all of these addresses.
pub(crate) fn on_machine_network(addresses: &[&str]) {
    let mut script = "ip link add machines type bridge; ip link set machines up".to_owned();
    for address in addresses {
        script += &format!("; ip address add {address}/24 dev machines");
    }
    // An API server looks for the address of its default route.
    script += "; ip route add default via 192.168.126.1 dev machines";
    succeed(Command::new("sh").args(["-ec", &script]));
}

/// What Ignition does on the first boot from the disk: the pointer's request, from the machine's own address.
pub(crate) fn fetches_its_config(site: &Work, host: &str, from: IpAddr) {
    let pointer = fs_err::read(site.path(&format!("ignition/pointers/{host}.ign"))).unwrap();
    let pointer: Value = serde_json::from_slice(&pointer).unwrap();
    let merge = &pointer["ignition"]["config"]["merge"][0];
    let mut curl = Command::new("curl");
    curl.args([
        "-fsSk",
        "--noproxy",
        "*",
        "--interface",
        &from.to_string(),
        merge["source"].as_str().unwrap(),
    ]);
    for header in merge["httpHeaders"].as_array().unwrap() {
        let part = |name: &str| header[name].as_str().unwrap().to_owned();
        curl.args(["-H", &format!("{}: {}", part("name"), part("value"))]);
    }
    let own = if host == "bootstrap" { "bootstrap.ign".to_owned() } else { format!("ignition/{host}.ign") };
    assert_eq!(succeed(&mut curl), site.read(&own));
}
