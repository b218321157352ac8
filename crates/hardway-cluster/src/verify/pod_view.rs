//! The cluster from inside a pod: a Service at its own address, and names. A pod says it in its log, and is believed from there.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::outcome::{Check, VerifyOutcome};

/// What the pod that serves runs: the one page of it, with whatever its image has. It stays when nothing serves.
pub(super) const SERVE: &str = r#"
echo "$SAID"
mkdir -p "$FOLDER/hardway" && echo "$SAID" >"$FOLDER/hardway/index.html"
for program in oc kubectl; do
  command -v "$program" >/dev/null 2>&1 || continue
  "$program" proxy --server=http://localhost --address= --port="$PORT" --reject-paths='.*' \
    --www="$FOLDER/hardway" --www-prefix=/hardway/ </dev/null
done
command -v python3 >/dev/null 2>&1 && python3 -m http.server --bind :: --directory "$FOLDER" "$PORT"
command -v busybox >/dev/null 2>&1 && busybox httpd -f -p "$PORT" -h "$FOLDER"
exec sleep 3600
"#;

/// What the other pod runs: it fetches that page by the Service's address, and looks up names. Whatever is asked ends with a line
/// `hardway-ended WHAT STATUS`; 127 is the shell's word for a program that is not there.
pub(super) const ASK: &str = r#"
unset http_proxy HTTP_PROXY
# Debian's static busybox crashes in its wget's own limit of time.
limited() {
  if command -v timeout >/dev/null 2>&1; then timeout 5 "$@"; else "$@"; fi
}
fetch() {
  if command -v curl >/dev/null 2>&1; then curl -sS -m 5 "$URL"
  elif command -v wget >/dev/null 2>&1; then limited wget -q -O - "$URL"
  else return 127
  fi
}
look_up() {
  if command -v getent >/dev/null 2>&1; then getent ahosts "$1"
  elif command -v nslookup >/dev/null 2>&1; then nslookup "$1"
  else return 127
  fi
}
again() {
  what=$1 tries=$2
  shift 2
  while :; do
    answer=$("$@" 2>&1)
    status=$?
    tries=$((tries - 1))
    { [ "$status" = 0 ] || [ "$status" = 127 ] || [ "$tries" -le 0 ]; } && break
    sleep 1
  done
  printf '%s\n' "$answer"
  echo "hardway-ended $what $status"
}
[ -z "$URL" ] || again service "$TRIES" fetch
for name in $NAMES; do again "name:$name" 3 look_up "$name"; done
for name in $NOBODY; do again "name:$name" 1 look_up "$name"; done
echo hardway-ended all 0
"#;

/// What was asked, with its status and what was said.
pub(super) type Answers = BTreeMap<String, (i32, String)>;

/// None of a log that does not go to its end.
pub(super) fn read(log: &str) -> Option<Answers> {
    let mut answers = Answers::new();
    let mut said = Vec::new();
    for line in log.lines() {
        let mut words = line.strip_prefix("hardway-ended ").into_iter().flat_map(str::split_whitespace);
        match (words.next(), words.next().and_then(|status| status.parse().ok())) {
            (Some("all"), _) => return Some(answers),
            (Some(what), Some(status)) => {
                answers.insert(what.to_owned(), (status, said.join("\n")));
                said.clear();
            }
            _ => said.push(line),
        }
    }
    None
}

/// The page came from behind the Service.
pub(super) fn judge_service(address: &str, expected: &str, answers: &Answers) -> VerifyOutcome {
    const FIX: &str = "pods reach Services through the network plugin: oc -n openshift-ovn-kubernetes get pods -o wide, and oc get \
     endpointslices; UDP port 6081 between nodes must be open for pods on different nodes";
    match answers.get("service") {
        None => VerifyOutcome::skipped(Check::Service, "not checked: the pod did not ask"),
        Some((127, _)) => VerifyOutcome::skipped(
            Check::Service,
            "not checked: the image of the test pod has neither curl nor wget; --image names another",
        ),
        Some((0, said)) if said.contains(expected) => VerifyOutcome::passed(
            Check::Service,
            format!("a pod reached another through the Service at {address}"),
        ),
        Some((status, said)) => {
            let what = match status {
                0 => format!("{address} answered with something else: {}", short(said)),
                _ => format!("a pod could not reach the Service at {address}: {}", short(said)),
            };
            VerifyOutcome::failed(Check::Service, vec![what], FIX)
        }
    }
}

/// Names have their addresses, and one that nobody has has none.
pub(super) fn judge_dns(
    names: &[(String, Vec<IpAddr>)],
    nobody: &[String],
    answers: &Answers,
) -> VerifyOutcome {
    const FIX: &str = "oc -n openshift-dns get pods -o wide; names outside the cluster are asked of the name servers in the nodes' \
     /etc/resolv.conf, which must know api-int and *.apps";
    let mut wrong = Vec::new();
    for (name, expected) in names {
        let said = match answers.get(&format!("name:{name}")) {
            Some((127, _)) | None => {
                return VerifyOutcome::skipped(
                    Check::Dns,
                    "not checked: the image of the test pod has neither getent nor nslookup; --image names another",
                );
            }
            Some((_, said)) => said,
        };
        let found = addresses(said);
        // nslookup fails where a name has addresses of one family only; getent says nothing when it fails.
        if found.is_empty() {
            wrong.push(format!("{name} does not resolve in a pod{}", because(said)));
        } else if let Some(foreign) = found.iter().find(|ip| !expected.is_empty() && !expected.contains(ip)) {
            let declared: Vec<String> = expected.iter().map(ToString::to_string).collect();
            wrong.push(format!("{name} resolves to {foreign} in a pod, not to {}", declared.join(", ")));
        }
    }
    for name in nobody {
        let found = answers.get(&format!("name:{name}"));
        if let Some(ip) = found.and_then(|(_, said)| addresses(said).first().copied()) {
            wrong.push(format!("{name} resolves to {ip} in a pod, but nobody has that name"));
        }
    }
    let shown: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    VerifyOutcome::of(Check::Dns, wrong, FIX, format!("{} resolve in a pod", shown.join(", ")))
}

/// getent has an address at the beginning of each line; nslookup first says whom it asks, up to an empty line.
fn addresses(said: &str) -> Vec<IpAddr> {
    let own = said.split_once("\n\n").map_or(said, |(_, own)| own);
    let mut found: Vec<IpAddr> =
        own.lines().flat_map(str::split_whitespace).filter_map(|word| word.parse().ok()).collect();
    found.sort();
    found.dedup();
    found
}

fn because(said: &str) -> String {
    if said.trim().is_empty() { String::new() } else { format!(": {}", short(said)) }
}

fn short(said: &str) -> String {
    const MOST: usize = 200;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use hardway_base::Verdict;

    use super::*;

    fn dns(said: &str, status: i32, nobody: &str) -> VerifyOutcome {
        let log = format!(
            "{said}\nhardway-ended name:a.b {status}\n{nobody}\nhardway-ended name:no.b 0\nhardway-ended all 0\n"
        );
        let names = [("a.b".to_owned(), vec!["192.0.2.1".parse().unwrap()])];
        judge_dns(&names, &["no.b".to_owned()], &read(&log).unwrap())
    }

    #[test]
    fn both_programs_answers_are_read() {
        let getent = "192.0.2.1       STREAM a.b\n192.0.2.1       DGRAM";
        let nslookup = "Server:\t\t172.30.0.10\nAddress:\t172.30.0.10:53\n\nName:\ta.b\nAddress: 192.0.2.1";
        for said in [getent, nslookup] {
            assert_eq!(dns(said, 0, "").judged.verdict, Verdict::Passed, "{said}");
        }
        for (said, status, nobody, wrong) in [
            ("", 2, "", "a.b does not resolve in a pod"),
            ("192.0.2.9 STREAM a.b", 0, "", "a.b resolves to 192.0.2.9 in a pod, not to 192.0.2.1"),
            (
                getent,
                0,
                "192.0.2.1 STREAM no.b",
                "no.b resolves to 192.0.2.1 in a pod, but nobody has that name",
            ),
        ] {
            let outcome = dns(said, status, nobody);
            assert_eq!((outcome.judged.verdict, &*outcome.judged.seen[0]), (Verdict::Failed, wrong));
        }
        assert_eq!(dns("", 127, "").judged.verdict, Verdict::Skipped);
    }

    #[test]
    fn what_has_no_end_is_no_answer() {
        assert_eq!(read("hardway was here\nhardway-ended service 0\n"), None);
        let answers = read("hardway was here\nhardway-ended service 0\nhardway-ended all 0\n").unwrap();
        assert_eq!(judge_service("172.30.1.1", "hardway was here", &answers).judged.verdict, Verdict::Passed);
        assert_eq!(judge_service("172.30.1.1", "else", &answers).judged.verdict, Verdict::Failed);
    }
}
