#!/usr/bin/env bash
# Packs a log bundle of this bootstrap host, of what the API server knows, and of the masters it can log in to.
#
#   installer-gather.sh [--id ID] [MASTER…]      writes ~/log-bundle-ID.tar.gz (or $TAR_FILE)
#
# Private keys, kubeconfigs, secrets and Ignition configs stay out of it. Masters are reached with the keys of the
# forwarded ssh agent.
set -uo pipefail

if [[ $EUID -ne 0 && -z ${GATHER_UNPRIVILEGED:-} ]]; then
  exec sudo env HOME="$HOME" SSH_AUTH_SOCK="${SSH_AUTH_SOCK:-}" TAR_FILE="${TAR_FILE:-}" OWNER="$(id -un)" "$0" "$@"
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

  collect "$id" "$@" 2>&1 | tee "$artifacts/gather.log"

  tar -czf "$bundle" -C "$artifacts" --transform "s,^\.,log-bundle-$id," . || return
  chown "$OWNER:" "$bundle"
  rm -rf "$artifacts"
  printf 'Log bundle written to %s\n' "$bundle"
}

collect() {
  local id=$1
  shift
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
  printf 'masters\n'
  if [[ -f $EARLIER_BUNDLE ]]; then
    gather_in_place "$artifacts/control-plane/master"
  else
    gather_masters "$id" "$@"
  fi
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

gather_masters() {
  local id=master-$1 master
  shift
  if [[ $# -eq 0 && -s $artifacts/resources/masters.list ]]; then
    mapfile -t masters <"$artifacts/resources/masters.list"
    set -- "${masters[@]}"
  fi
  [[ $# -gt 0 ]] || printf 'no masters given and none found\n'
  for master in "$@"; do
    printf 'master %s\n' "$master"
    gather_master "$master" "$id" || printf 'master %s could not be reached\n' "$master"
  done
}

gather_master() {
  local master=$1 id=$2 target=$artifacts/control-plane/$1
  # The masters' host keys are not known to this short-lived host.
  local options=(-q -o BatchMode=yes -o ConnectTimeout=10 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null)
  mkdir -p "$target"
  scp "${options[@]}" "${BASH_SOURCE[0]%/*}/installer-masters-gather.sh" "core@[$master]:" || return
  ssh -n "${options[@]}" "core@$master" "sudo bash ./installer-masters-gather.sh --id '$id'" || return
  scp "${options[@]}" -r "core@[$master]:/tmp/artifacts-$id/*" "$target/"
}

main "$@"
