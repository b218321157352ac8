#!/usr/bin/env bash
# Installs what building and testing needs besides Rust and Go, by package name (Debian 12). Does nothing twice.
#
#   tools/setup.sh build    what `cargo build` needs
#   tools/setup.sh test     that, and what the tests and the lab run
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

packages=(build-essential cmake pkg-config)
what=${1:-build}
if [[ $what == test ]]; then
  packages+=(age apache2-utils bind9-dnsutils bind9-utils ca-certificates containerd curl dnsmasq-base docker-registry git gnupg gpgv haproxy hostname ignition iproute2 jq ldap-utils libblkid-dev openssl)
  packages+=(openssh-client openssh-server)
  packages+=(podman procps runc shellcheck skopeo slapd strace systemd systemd-journal-remote util-linux)
  packages+=(ipxe-qemu libssl-dev libzstd-dev qemu-system-x86 seabios xorriso xz-utils) # install media, and building coreos-installer
  packages+=(busybox-static mmdebstrap) # the lab
  packages+=(kea-dhcp4-server kea-dhcp6-server keepalived) # what stands around bare metal
  packages+=(isolinux libvirt-clients libvirt-daemon-driver-qemu libvirt-daemon-system nftables qemu-utils syslinux-common) # libvirt, and what boots there
  packages+=(python3-venv) # the Redfish emulator
  packages+=(binutils rpm) # packages of the program
  packages+=(chromium chromium-driver) # the page
  packages+=(prometheus) # alerts and metrics of hosted workers
fi

main() {
  if [[ $what == test && ! -d $HARDWAY_CACHE/tools ]]; then
    first_time >&2
  fi
  missing
  if [[ ${#missing[@]} -gt 0 ]]; then
    step packages-list "updating package lists" apt_get update
    step packages "installing packages: ${missing[*]}" apt_get install -y --no-install-recommends "${missing[@]}"
  fi
  at_least cargo "$RUST" "$(cd "$here" && rustc --version 2>&1 | cut -d' ' -f2)"
  at_least go "$(sed -n 's/^go //p' "$here/kubernetes/kube/go.mod")" "$(cd "$here/kubernetes/kube" && go env GOVERSION 2>&1 | sed 's/^go//')"
}

# What is waited for, before it is waited for.
first_time() {
  cat <<END
The first run takes, on two cores: packages 3 min; etcd, Kubernetes and Ignition 20 min; coreos-installer and cargo-deny 10 min;
a kernel and a Redfish emulator 1 min; the lab's images 20 min. Everything built is kept in $HARDWAY_CACHE, with logs.
END
}

missing() {
  local package
  missing=()
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
}

# at_least PROGRAM WANTED FOUND
at_least() {
  command -v "$1" >/dev/null || { echo "$1 is not installed: hardway needs Rust and Go, and $1 at version $2 or later" >&2; exit 1; }
  printf '%s\n' "$2" "$3" | sort --version-sort --check=quiet || { echo "hardway needs $1 $2 or later; this is $3" >&2; exit 1; }
}

main
