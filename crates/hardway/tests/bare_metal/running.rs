//! A command that waits for machines, and what machines do meanwhile.

use std::net::IpAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hardway_testing::succeed;
use serde_json::Value;

use crate::site::Site;

/// A real kubelet on a busy computer; nothing is measured with it.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// Ended with the test.
pub(crate) struct Running<'s> {
    site: &'s Site,
    child: Child,
}

impl<'s> Running<'s> {
    pub(crate) fn start(site: &'s Site, words: &[&str]) -> Self {
        let log = fs_err::File::create(site.path("said")).unwrap().into_parts().0;
        Self { site, child: site.command(words).stdout(Stdio::null()).stderr(log).spawn().unwrap() }
    }

    pub(crate) fn said(&self) -> String {
        fs_err::read_to_string(self.site.path("said")).unwrap()
    }

    pub(crate) fn until_said(&mut self, words: &str) {
        let began = Instant::now();
        while !self.said().contains(words) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && began.elapsed() < PATIENCE, "{words}: {ended:?}: {}", self.said());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// As a person with Ctrl-C does; its exit code.
    pub(crate) fn interrupt(&mut self) -> Option<i32> {
        succeed(Command::new("kill").args(["-INT", &self.child.id().to_string()]));
        self.child.wait().unwrap().code()
    }

    /// Must end well; what it said.
    pub(crate) fn end(mut self) -> String {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{status}: {}", self.said());
                return self.said();
            }
            assert!(began.elapsed() < PATIENCE, "it hangs: {}", self.said());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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
pub(crate) fn fetches_its_config(site: &Site, host: &str, from: IpAddr) {
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
    assert_eq!(succeed(&mut curl), fs_err::read_to_string(site.path(&own)).unwrap());
}
