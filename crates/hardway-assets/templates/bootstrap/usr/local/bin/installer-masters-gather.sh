#!/usr/bin/env bash
# Copies what one host knows about itself into a folder: units, journals, network, containers, OS deployments.
# Run as root on a master (it is sent there on its own, so it sources nothing), and sourced by installer-gather.sh.
#
#   installer-masters-gather.sh FOLDER
set -uo pipefail

# gather_host SUMMARY DETAILS UNIT…: SUMMARY gets the failed units, DETAILS the rest.
gather_host() {
  local summary=$1 details=$2
  shift 2
  gather_failed_units "$summary"
  gather_journals "$details/journals" "$@"
  gather_network "$details/network"
  gather_containers "$details"
  keep "$details/rpm-ostree/status" rpm-ostree status
  keep "$details/rpm-ostree/history" rpm-ostree ex history
}

# keep FILE COMMAND…: what a command says, good or bad, is kept; that it failed goes into the log of the gathering.
keep() {
  local file=$1
  shift
  mkdir -p "${file%/*}"
  "$@" >"$file" 2>&1 || printf 'failed (%d): %s\n' $? "$*"
}

gather_failed_units() {
  local unit
  keep "$1/failed-units.txt" env LANG=POSIX systemctl list-units --state=failed --no-pager
  mkdir -p "$1/unit-status"
  sed -n 's/^[^a-zA-Z]*\([^ ]*\.[a-z]*\) .* failed .*/\1/p' "$1/failed-units.txt" | while read -r unit; do
    keep "$1/unit-status/$unit.txt" systemctl status --full --no-pager "$unit"
    keep "$1/unit-status/$unit.log" journalctl --no-pager --unit="$unit"
  done
}

gather_journals() {
  local folder=$1 unit
  shift
  mkdir -p "$folder"
  for unit in "$@"; do
    keep "$folder/$unit.log" journalctl --boot --no-pager --output=short --unit="$unit"
  done
  journalctl --no-pager --output=with-unit 2>&1 | gzip >"$folder/journal.log.gz"
}

gather_network() {
  keep "$1/ip-addr.txt" ip addr
  keep "$1/ip-route.txt" ip route
  keep "$1/ip-route-6.txt" ip -6 route
  keep "$1/hostname.txt" hostname
  keep "$1/netstat.txt" gather_sockets
  keep "$1/resolv.conf" cat /etc/resolv.conf
}

gather_sockets() {
  if command -v netstat >/dev/null; then
    netstat -anp
  else
    ss -anp
  fi
}

# Containers of the runtime, then those of podman, then the logs that static pods wrote into a folder of the host.
gather_containers() {
  local id name
  mkdir -p "$1/containers" "$1/pods"
  if command -v crictl >/dev/null; then
    crictl ps --all --output=json | jq -r '.containers[]? | "\(.id) \(.metadata.name)"' | while read -r id name; do
      keep "$1/containers/$name-$id.log" crictl logs "$id"
      keep "$1/containers/$name-$id.inspect" crictl inspect "$id"
    done
  fi
  if command -v podman >/dev/null; then
    podman ps --all --format '{{.ID}} {{.Names}}' | while read -r id name; do
      keep "$1/pods/$name-$id.log" podman logs "$id"
      keep "$1/pods/$name-$id.inspect" podman inspect "$id"
    done
  fi
  if [[ -d /var/log/bootstrap-control-plane ]]; then
    cp -r /var/log/bootstrap-control-plane "$1/containers/"
  fi
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  artifacts=${1:?which folder?}
  mkdir -p "$artifacts"
  gather_host "$artifacts" "$artifacts" crio kubelet kubelet-auto-node-size machine-config-daemon-firstboot machine-config-daemon-pull \
    NetworkManager node-valid-hostname nodeip-configuration ovs-configuration
fi
