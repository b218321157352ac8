//! What the lab wants of the kernel, tried out in namespaces that are gone afterwards.

use crate::preflight::asked_program::{NoAnswer, SHORT, ask_program};
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// Each line it prints is a feature, and what went wrong with it, if anything.
const SCRIPT: &str = r#"
try() { name=$1; shift; if said=$("$@" 2>&1); then echo "$name"; else echo "$name: $(printf %s "$said" | tail -n 1)"; fi; }
overlay() {
  mount -t tmpfs tmpfs /mnt && mkdir /mnt/lower /mnt/upper /mnt/work /mnt/all &&
    mount -t overlay overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work /mnt/all
}
bridge_filter() {
  test -e /proc/sys/net/bridge/bridge-nf-call-iptables || modprobe br_netfilter
}
rules() {
  if command -v nft >/dev/null; then nft add table ip hardway_check && nft add chain ip hardway_check out '{ type nat hook postrouting priority 100; }'
  elif command -v iptables >/dev/null; then iptables --table nat --new-chain HARDWAY-CHECK
  fi
}
try overlay overlay
try veth ip link add hardway-check type veth peer name hardway-peer
try bridge ip link add hardway-bridge type bridge
try br_netfilter bridge_filter
try nat rules
"#;

/// What every line of the script should be about.
const FEATURES: [&str; 5] = ["overlay", "veth", "bridge", "br_netfilter", "nat"];

pub(in crate::preflight) fn kernel(_: &Scene<'_>) -> Judged {
    if !rustix::process::geteuid().is_root() {
        return Judged::not_applicable("only root can try it: see root");
    }
    judge(&ask_program("unshare", &["--net", "--mount", "--propagation=private", "sh", "-c", SCRIPT], SHORT))
}

fn judge(printed: &Result<String, NoAnswer>) -> Judged {
    let fix = "load the modules (modprobe NAME), or take a kernel that has them; in a container, the outer host has to";
    let text = match printed {
        Ok(text) => text,
        Err(NoAnswer::Missing) => return Judged::not_applicable("unshare is missing: see programs"),
        Err(why) => return Judged::refused(format!("no namespace can be made: {why}"), fix),
    };
    let line_of = |feature: &str| text.lines().find(|line| line.split(':').next() == Some(feature));
    let wrong: Vec<String> = FEATURES
        .iter()
        .filter_map(|feature| match line_of(feature) {
            Some(line) if line == *feature => None,
            Some(line) => Some(line.to_owned()),
            None => Some(format!("{feature}: not tried")),
        })
        .collect();
    Judged::of(wrong, Vec::new(), fix, format!("{} work", FEATURES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn every_feature_can_be_the_one_that_is_missing() {
        let good = || FEATURES.join("\n");
        assert_eq!(judge(&Ok(good())).verdict, Verdict::Passed);
        for feature in FEATURES {
            let refused = format!("{feature}: Error: Unknown device type.");
            let lines: Vec<String> = FEATURES
                .iter()
                .map(|line| if *line == feature { refused.clone() } else { (*line).to_owned() })
                .collect();
            let judged = judge(&Ok(lines.join("\n")));
            assert_eq!((judged.verdict, judged.seen), (Verdict::Failed, vec![refused]));
        }
        let denied = NoAnswer::Failed {
            status: "exit status: 1".to_owned(),
            said: "Operation not permitted".to_owned(),
        };
        assert!(judge(&Err(denied)).seen[0].contains("Operation not permitted"));
    }
}
