#!/usr/bin/env bash
# Makes small.iso: the structure of a live image around next to nothing. Needs xorriso.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p coreos images isolinux EFI/redhat
head -c 8192 /dev/zero >images/ignition.img
echo '{"file":"images/ignition.img"}' >coreos/igninfo.json
echo '{"installer-config":true,"live-initrd-network":true}' >coreos/features.json
default="coreos.liveiso=x ignition.firstboot"
area=$(printf '%s\n%s' "$default" "$(head -c $((99 - ${#default})) /dev/zero | tr '\0' '#')")
printf 'append %s X\n' "$area" >isolinux/isolinux.cfg
printf 'linux %s X\n' "$area" >EFI/redhat/grub.cfg
cat >coreos/kargs.json <<EOF
{"default":"$default","files":[{"path":"isolinux/isolinux.cfg","offset":7},{"path":"EFI/redhat/grub.cfg","offset":6,"end":"\n","pad":"#"}],"size":100}
EOF
export SOURCE_DATE_EPOCH=0
xorriso -as mkisofs -quiet -V small -iso-level 1 -no-pad -o "$here/small.iso" .
