#!/usr/bin/env bash
# Defines a machine of a lab: its card, its disks, and a container of the node image that is not started. See README.md for the
# contract.
#
#   lab/node/define.sh LAB HOST --image IMAGE --ip IP/PREFIX --mac MAC --gateway IP [--registry HOST:PORT] [--memory SIZE] [--cpus N]
#     [--podman OPTION]…
#
# What is there stays as it is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common.sh"

main() {
  read_arguments "$@"
  "$here/../network/plug.sh" "$lab" "$host" --ip "$ip" --mac "$mac" --gateway "$gateway"
  podman container exists "$name" || create
}

read_arguments() {
  lab=${1:?which lab?} host=${2:?which host?} image='' ip='' mac='' gateway='' registry='' extra=()
  check_name "$lab"
  check_name "$host"
  shift 2
  while [[ $# -gt 0 ]]; do
    case $1 in
      --image) image=$2 ;;
      --ip) ip=$2 ;;
      --mac) mac=$2 ;;
      --gateway) gateway=$2 ;;
      --registry) registry=$2 ;;
      --memory | --cpus) extra+=("$1=$2") ;;
      --podman) extra+=("$2") ;;
      *) die "unknown option $1" ;;
    esac
    shift 2
  done
  local option
  for option in image ip mac gateway; do
    [[ -n ${!option} ]] || die "--$option is required"
  done
  name=hardway-$lab-$host
}

# Images and pods of the node lie in volumes: overlay file systems cannot be stacked.
create() {
  local volume volumes=()
  for volume in containerd containers kubelet; do
    podman volume exists "$name-$volume" || podman volume create --label="hardway.lab=$lab" "$name-$volume" >/dev/null
    volumes+=(--volume="$name-$volume:/var/lib/$volume:exec")
  done
  podman create --name="$name" --hostname="$host" --label="hardway.lab=$lab" --network="ns:/run/netns/$name" \
    --privileged --systemd=always --cgroupns=private --pids-limit=-1 --no-hosts --tmpfs=/run --tmpfs=/tmp "${volumes[@]}" "${extra[@]}" \
    --env=LAB_NAMESERVER="$gateway" --env=LAB_PLAIN_HTTP="$registry" "$image" >/dev/null
}

main "$@"
