#!/usr/bin/env bash
# Installs what building and testing needs besides Rust and Go, by package name (Debian 12). Does nothing twice.
#
#   tools/setup.sh build    what `cargo build` needs
#   tools/setup.sh test     that, and what the tests run against
set -euo pipefail

packages=(build-essential cmake pkg-config)
if [[ ${1:-build} == test ]]; then
  packages+=(apache2-utils bind9-dnsutils bind9-utils ca-certificates containerd curl dnsmasq-base docker-registry git gnupg gpgv haproxy hostname ignition iproute2 jq libblkid-dev openssl)
  packages+=(openssh-client openssh-server)
  packages+=(podman runc shellcheck skopeo strace systemd systemd-journal-remote util-linux)
  packages+=(ipxe-qemu libssl-dev libzstd-dev qemu-system-x86 seabios xorriso xz-utils) # install media, and building coreos-installer
  packages+=(busybox-static mmdebstrap) # the lab
  packages+=(isolinux libvirt-clients libvirt-daemon-driver-qemu libvirt-daemon-system nftables qemu-utils syslinux-common) # libvirt, and what boots there
  packages+=(python3-venv) # the Redfish emulator
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
  echo "installing ${missing[*]}" >&2
  root=()
  [[ $(id -u) == 0 ]] || root=(sudo)
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

for program in cargo go; do
  command -v "$program" >/dev/null || { echo "$program is not installed: hardway needs Rust (see rust-toolchain.toml) and Go 1.26" >&2; exit 1; }
done
