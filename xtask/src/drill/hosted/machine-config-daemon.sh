#!/bin/busybox sh
# Stands in for the machine-config-daemon of a release in the pod that upgrades a node: applies the files of the config that it is
# shown, and tells so on the node. It asks nobody for room and does not reboot.
#
#   machine-config-daemon start --node-name=NODE --root-mount=/rootfs …
set -eu

for word in "$@"; do
  case $word in
    --node-name=*) node=${word#*=} ;;
    --root-mount=*) root=${word#*=} ;;
  esac
done

# The node's own programs do it.
# shellcheck disable=SC2016 # the inner shell's
exec chroot "$root" /bin/bash -euo pipefail -c '
  tell() { kubectl --kubeconfig=/var/lib/kubelet/kubeconfig annotate --overwrite node "$node" "${@/#/machineconfiguration.openshift.io/}"; }
  node=$1 desired=/etc/machine-config-daemon-desired-config
  hash=$(<"$desired/hash")
  tell state=Working
  base64 --decode "$desired/config" | gunzip | jq -r ".storage.files[] | [.path, .mode, (.contents.source | split(\",\")[1])] | @tsv" \
    | while read -r path mode data; do
      mkdir -p "${path%/*}"
      base64 --decode <<<"$data" >"$path.new"
      chmod "$(printf %o "$mode")" "$path.new"
      mv "$path.new" "$path"
    done
  tell currentConfig="$hash" state=Done
' bash "$node"
