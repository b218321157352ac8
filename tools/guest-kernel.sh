#!/usr/bin/env bash
# Unpacks Debian's kernel for virtual machines and prints the folder that holds it: vmlinuz, and modules/ with what a
# machine of QEMU's needs. Nothing is installed; the folder is in the user's cache.
set -euo pipefail
root=${XDG_CACHE_HOME:-$HOME/.cache}/hardway/guest-kernel-2
if [[ ! -e $root/vmlinuz ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  kernel() { apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '$1 == "Depends:" && /cloud-amd64/ {print $2}'; }
  package=$(kernel)
  if [[ -z $package ]]; then
    apt-get update -qq >&2
    package=$(kernel)
  fi
  # apt's own user may not write here.
  (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$package" >&2)
  dpkg-deb -x "$work"/*.deb "$work/unpacked"
  mkdir -p "$root/modules"
  for module in failover net_failover virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_net virtio_blk; do
    find "$work/unpacked/lib/modules" -name "$module.ko*" -exec cp {} "$root/modules/" \;
  done
  cp "$work"/unpacked/boot/vmlinuz-* "$root/vmlinuz.part"
  mv "$root/vmlinuz.part" "$root/vmlinuz"
fi
echo "$root"
