#!/usr/bin/env bash
# Packs a log bundle of this bootstrap host and of what the API server knows.
#
#   installer-gather.sh [--id ID]      writes ~/log-bundle-ID.tar.gz (or $TAR_FILE)
#
# Private keys, kubeconfigs, secrets and Ignition configs stay out of it. No other host is asked from here: that would take
# somebody's ssh agent. `hardway gather bootstrap` asks the masters itself, and puts what they say into the same bundle.
set -uo pipefail

if [[ $EUID -ne 0 && -z ${GATHER_UNPRIVILEGED:-} ]]; then
  exec sudo env HOME="$HOME" TAR_FILE="${TAR_FILE:-}" OWNER="$(id -un)" "$0" "$@"
fi

. "${BASH_SOURCE[0]%/*}/bootstrap-cluster-gather.sh"
. "${BASH_SOURCE[0]%/*}/installer-masters-gather.sh"

OPENSHIFT_DIR=${OPENSHIFT_DIR:-/opt/openshift}
SERVICE_RECORDS_DIR=${SERVICE_RECORDS_DIR:-/var/log/openshift}
EARLIER_BUNDLE=${EARLIER_BUNDLE:-/var/log/log-bundle-bootstrap.tar.gz}
OWNER=${OWNER:-$(id -un)}

main() {
  local id
  id=$(date -u +%Y%m%d%H%M%S)
  if [[ ${1:-} == --id ]]; then
    id=${2:?which id?}
    shift 2
  fi
  artifacts=/tmp/artifacts-$id
  bundle=${TAR_FILE:-$HOME/log-bundle-$id.tar.gz}
  umask 077
  rm -rf "$artifacts"
  mkdir -p "$artifacts"/{bootstrap/services,control-plane,rendered-assets}

  collect "$@" 2>&1 | tee "$artifacts/gather.log"

  tar -czf "$bundle" -C "$artifacts" --transform "s,^\.,log-bundle-$id," . || return
  chown "$OWNER:" "$bundle"
  rm -rf "$artifacts"
  printf 'Log bundle written to %s\n' "$bundle"
}

collect() {
  printf 'service records\n'
  cp -r "$SERVICE_RECORDS_DIR/." "$artifacts/bootstrap/services/"
  printf 'this host\n'
  gather_host "$artifacts" "$artifacts/bootstrap" bootkube chown-gatewayd-key crio crio-configure install-to-disk \
    kubelet progress release-image systemd-journal-gatewayd
  printf 'files\n'
  gather_assets
  printf 'cluster\n'
  gather_cluster
  if [[ -d $GATHERED_CLUSTER/resources ]]; then
    cp -r "$GATHERED_CLUSTER/resources" "$artifacts/"
  fi
  if [[ -f $EARLIER_BUNDLE ]]; then
    printf 'this host as it bootstrapped\n'
    gather_in_place "$artifacts/control-plane/master"
  fi
  [[ $# -eq 0 ]] || printf 'not asked from here: %s\n' "$*"
}

# Everything that was laid on this host, except what must not leave it. A file with a Secret in it goes as a whole; one that
# only speaks of Secrets has no data.
gather_assets() {
  local target=$artifacts/rendered-assets/openshift
  mkdir -p "$target"
  [[ -d $OPENSHIFT_DIR ]] || return 0
  tar -c -C "$OPENSHIFT_DIR" --exclude='*secret*' --exclude='*kubeconfig*' --exclude='*.key' --exclude='*.ign' --exclude='.kube' \
    --exclude='./create-manifests' --exclude='log-bundle-*' . | tar -x -C "$target"
  find "$target" -type f -print0 | while IFS= read -r -d '' file; do
    if grep -q 'PRIVATE KEY' "$file" || { grep -qE "$is_secret" "$file" && grep -qE '[dD]ata["'\'']?:' "$file"; }; then
      printf 'left out: %s\n' "${file#"$target"/}"
      rm -f "$file"
    fi
  done
}

is_secret="kind[\"']?:[[:space:]]*[\"']?Secret([^A-Za-z]|\$)"

# After a bootstrap in place this host is the master, and the bundle made before its reboot goes into the new one.
gather_in_place() {
  tar -xzf "$EARLIER_BUNDLE" -C "$artifacts"
  gather_host "$1" "$1" bootkube crio kubelet
}

main "$@"
