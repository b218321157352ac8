#!/usr/bin/env bash
# Unpacks Debian's kernel for virtual machines and prints the folder that holds it: vmlinuz, and modules/ with what a
# machine of QEMU's needs. Nothing is installed; the folder is in the user's cache.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"
root=$HARDWAY_CACHE/guest-kernel-2

build() {
  local work module
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # now: the variable is gone by then
  trap "rm -rf '$work'" EXIT
  # Lists that are old name packages that are gone.
  download "$work" || { apt_get update && download "$work"; }
  dpkg-deb -x "$work"/*.deb "$work/unpacked"
  mkdir -p "$root/modules"
  for module in failover net_failover virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_net virtio_blk; do
    find "$work/unpacked/lib/modules" -name "$module.ko*" -exec cp {} "$root/modules/" \;
  done
  cp "$work"/unpacked/boot/vmlinuz-* "$root/vmlinuz.part"
  mv "$root/vmlinuz.part" "$root/vmlinuz"
}

# download FOLDER: the package that the metapackage stands for.
download() {
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '$1 == "Depends:" && /cloud-amd64/ {print $2}')
  # apt's own user may not write here.
  [[ -n $package ]] && (cd "$1" && apt-get download -q -o Acquire::Retries=3 -o APT::Sandbox::User=root "$package")
}

[[ -e $root/vmlinuz ]] || step guest-kernel "downloading a kernel for virtual machines" build
echo "$root"
