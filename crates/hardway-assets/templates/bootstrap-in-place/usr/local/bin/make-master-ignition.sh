#!/usr/bin/env bash
# Makes master.ign: the node's own Ignition config (node.ign) plus everything that lets this host's control plane start
# again after the reboot, from its certificates to etcd's data. jq does it; no other tool is needed.
#
# A file of node.ign with the same path is replaced. Contents are compressed: etcd's logs are mostly zeros.
set -Eeuo pipefail
. "${BASH_SOURCE[0]%/*}/bootstrap-common.sh"

ETCD_DATA_DIR=${ETCD_DATA_DIR:-/var/lib/etcd}
target=$OPENSHIFT_DIR/master.ign

main() {
  if [[ ! -s $OPENSHIFT_DIR/node.ign ]]; then
    say "$OPENSHIFT_DIR/node.ign is missing: nothing to start from"
    return 1
  fi
  umask 077
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  collect >"$work/files"
  merge >"$target.new"
  mv -f "$target.new" "$target"
  say "$target: $(jq '.storage.files | length' "$target") files, $(stat -c %s "$target") bytes"
}

collect() {
  tree "$KUBERNETES_DIR/bootstrap-configs" /etc/kubernetes/bootstrap-configs
  tree "$OPENSHIFT_DIR/tls" /etc/kubernetes/bootstrap-secrets
  tree "$KUBERNETES_DIR/static-pod-resources/etcd-member" /etc/kubernetes/static-pod-resources/etcd-member
  tree "$ETCD_DATA_DIR" /var/lib/etcd
  file "$OPENSHIFT_DIR/auth/kubeconfig-loopback" /etc/kubernetes/bootstrap-secrets/kubeconfig 0600
  file "$OPENSHIFT_DIR/etcd-member-pod.yaml" /etc/kubernetes/manifests/etcd-pod.yaml 0600
  local pod script
  for pod in kube-apiserver-pod kube-controller-manager-pod kube-scheduler-pod; do
    file "$OPENSHIFT_DIR/bootstrap-manifests/$pod.yaml" "/etc/kubernetes/manifests/$pod.yaml" 0600
  done
  for script in bootstrap-cluster-gather bootstrap-common bootstrap-service-record installer-gather \
    installer-masters-gather oc-or-container; do
    file "$BIN_DIR/$script.sh" "/usr/local/bin/$script.sh" 0555
  done
  file "$OPENSHIFT_DIR/bootstrap-in-place/bootstrap-in-place-post-reboot.sh" /usr/local/bin/bootstrap-in-place-post-reboot.sh 0555
  file "$OPENSHIFT_DIR/bootstrap.env" /opt/openshift/bootstrap.env 0600
  file "$OPENSHIFT_DIR/original_cvo_overrides.patch" /opt/openshift/original_cvo_overrides.patch 0644
  file "$OPENSHIFT_DIR/log-bundle-bootstrap.tar.gz" /var/log/log-bundle-bootstrap.tar.gz 0600
}

# tree SOURCE TARGET: every file below SOURCE, with its mode. None at all is a mistake: a node without etcd's data would start
# as an empty cluster.
tree() {
  local source=$1 target=$2 path
  find "$source" -type f ! -name '*.tmp' -printf '%P\0' | sort -z >"$work/paths"
  if [[ ! -s $work/paths ]]; then
    say "there is nothing in $source" >&2
    return 1
  fi
  while IFS= read -r -d '' path; do
    file "$source/$path" "$target/$path" "$(stat -c %a "$source/$path")"
  done <"$work/paths"
}

# file SOURCE TARGET MODE: one entry of storage.files on a line.
file() {
  gzip --stdout --no-name "$1" | base64 --wrap=0 >"$work/content"
  jq -cn --arg path "$2" --argjson mode "$((8#$3))" --rawfile content "$work/content" \
    '{$path, $mode, overwrite: true, user: {name: "root"}, contents: {compression: "gzip", source: "data:;base64,\($content)"}}'
}

# etcd refuses a data folder that others may read.
merge() {
  # shellcheck disable=SC2016 # jq's variables, not the shell's
  jq -c --slurpfile files "$work/files" --rawfile unit "$OPENSHIFT_DIR/bootstrap-in-place/bootkube.service" '
    def replaced(key; $new): [.[]? | select(key as $k | all($new[]; key != $k))] + $new;
    .storage.files = (.storage.files | replaced(.path; $files))
    | .storage.directories = (.storage.directories | replaced(.path; [{path: "/var/lib/etcd/member", mode: 448, overwrite: true}]))
    | .systemd.units = (.systemd.units | replaced(.name; [{name: "bootkube.service", enabled: true, contents: $unit}]))
  ' "$OPENSHIFT_DIR/node.ign"
}

main
