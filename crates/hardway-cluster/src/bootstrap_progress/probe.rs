//! One look at the bootstrap host: a script that only reads, and its answer.

use std::collections::BTreeMap;

use hardway_assets::ignition::bootstrap_files::STAGES;

use super::record::entries;
use super::report::{BootstrapReport, Manifests};
use crate::remote::{Remote, RemoteError};

/// Prints sections, each under a line that no JSON and no file name begins with. Paths can be set from outside, as in the
/// host's own scripts.
const SCRIPT: &str = r#"
openshift=${OPENSHIFT_DIR:-/opt/openshift} kubernetes=${KUBERNETES_DIR:-/etc/kubernetes}
echo '== clock'
date -u +%Y-%m-%dT%H:%M:%SZ
for stream in "${SERVICE_RECORDS_DIR:-/var/log/openshift}"/*.stream.jsonl; do
  [[ -e $stream ]] || continue
  name=${stream##*/}
  echo "== record ${name%.stream.jsonl}"
  cat "$stream"
  echo
done
state=$openshift/create-manifests
if [[ -e $state/order ]]; then
  echo '== manifests'
  wc -l <"$state/order"
  while read -r id; do [[ ! -e $state/done/$id ]] || echo; done <"$state/order" | wc -l
  while read -r id; do [[ ! -s $state/errors/$id ]] || { head -c 400 "$state/errors/$id" | tr '\n' ' '; echo; }; done <"$state/order" | head -n 20
fi
echo '== static-pods'
find "$kubernetes/manifests" -maxdepth 1 -name '*.yaml' -printf '%f\n' 2>/dev/null | LC_ALL=C sort
echo '== containers'
if command -v crictl >/dev/null; then
  crictl ps --all --output json 2>/dev/null \
    | jq -r '.containers[]? | select(.state != "CONTAINER_RUNNING") | "\(.metadata.name) (\(.labels["io.kubernetes.pod.name"] // "?")): \(.state)"'
fi
exit 0
"#;

/// Asks the host.
pub async fn look(remote: &Remote) -> Result<BootstrapReport, RemoteError> {
    remote.run(SCRIPT).await.map(|answer| read(&answer))
}

/// Reads the script's answer; what is missing in it is missing in the report.
pub fn read(answer: &str) -> BootstrapReport {
    let sections = sections(answer);
    let records: BTreeMap<String, _> = sections
        .iter()
        .filter_map(|(name, lines)| {
            Some((name.strip_prefix("record ")?.to_owned(), entries(&lines.join("\n"))))
        })
        .collect();
    let lines = |name: &str| sections.get(name).map(Vec::as_slice).unwrap_or_default();
    let owned = |name: &str| lines(name).iter().map(|line| (*line).to_owned()).collect();
    let mut report = BootstrapReport::new(STAGES, records);
    report.clock = lines("clock").first().and_then(|text| text.parse().ok());
    report.manifests = manifests(lines("manifests"));
    report.static_pods = owned("static-pods");
    report.containers = owned("containers");
    report
}

fn sections(answer: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut sections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = "";
    for line in answer.lines() {
        match line.strip_prefix("== ") {
            Some(next) => {
                name = next;
                sections.entry(name).or_default();
            }
            None if line.trim().is_empty() => {}
            None => sections.entry(name).or_default().push(line),
        }
    }
    sections
}

/// Total, created, then why the others are not.
fn manifests(lines: &[&str]) -> Option<Manifests> {
    let [total, created, errors @ ..] = lines else { return None };
    Some(Manifests {
        total: total.trim().parse().ok()?,
        created: created.trim().parse().ok()?,
        errors: errors.iter().map(|line| line.trim().to_owned()).collect(),
    })
}
