#!/usr/bin/env bash
# Makes the node's Debian root file system as an archive.
#
#   lab/node/base.sh TARGET.tar
#
# Without recommended packages and documentation it has 470 MB, most of it container tools.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../tools/common.sh"
target=${1:?which file?}
packages=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$here/packages.txt" | paste -sd,)

# What packages enabled is off: a node starts what its presets and its Ignition config name. Keys and identities are made by
# each machine for itself.
# shellcheck disable=SC2016 # the hooks' own shell expands these
debian "$target" --format=tar --include="$packages" \
  --aptopt='APT::Install-Recommends "false"' \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook='find "$1/etc/systemd/system" -type l -path "*.wants/*" -delete' \
  --customize-hook='rm -f "$1"/etc/ssh/ssh_host_* "$1/etc/machine-id" "$1/etc/hostname" "$1/etc/hosts" "$1/etc/resolv.conf"' >&2
