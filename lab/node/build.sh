#!/usr/bin/env bash
# Builds the lab's node image and prints its name.
#
#   lab/node/build.sh
#
# Three parts, each kept under the hash of what it is made of: the Debian root file system, crictl, and the image of both with
# the real kubelet (lab/kubernetes), kubectl and Ignition (tools/kubernetes). A second call builds nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common.sh"

# They set up the whole computer, ask questions on a console, or wait for devices; a container must not or cannot.
masked=(console-getty.service getty.target proc-sys-fs-binfmt_misc.automount systemd-binfmt.service systemd-firstboot.service
  systemd-modules-load.service systemd-sysctl.service systemd-udevd.service systemd-udev-trigger.service
  systemd-udevd-control.socket systemd-udevd-kernel.socket sys-kernel-config.mount sys-kernel-debug.mount
  sys-kernel-tracing.mount)

main() {
  local bin kubelet crictl base image
  mkdir -p "$LAB_CACHE"
  exec 9>"$LAB_CACHE/node.lock"
  flock 9
  bin=$("$here/../../tools/kubernetes/build.sh" kubectl ignition)
  kubelet=$("$here/../kubernetes/build.sh")/kubelet
  crictl=$(kept crictl build_crictl "$here"/crictl/go.mod "$here"/crictl/go.sum)
  base=$(node_base)
  image=localhost/hardway-lab-node:$(image_hash "$bin" "$kubelet" "$crictl" "$base")
  if ! podman image exists "$image"; then
    step lab-node "building $image" assemble "$image" "$base" "$crictl" "$bin" "$kubelet"
  fi
  echo "$image"
}

build_crictl() {
  (cd "$here/crictl" && CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags '-s -w' -o "$1" github.com/kubernetes-sigs/cri-tools/cmd/crictl)
}

# Our own files count by content and mode; the other parts have their hash in their name.
image_hash() {
  {
    printf '%s\n' "$@"
    cat "$here/build.sh"
    cd "$here/rootfs"
    find . -type f -printf '%P %m\n' | LC_ALL=C sort
    find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum | cut -c1-16
}

# assemble IMAGE BASE CRICTL BIN KUBELET: one more layer over the root file system. Nothing is run inside, so no container runtime has
# to work for it.
assemble() {
  local image=$1 base=$2 crictl=$3 bin=$4 kubelet=$5 layer unit
  work=$(mktemp -d "$LAB_CACHE/node.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  layer=$work/layer
  cp -r "$here/rootfs" "$layer"
  mkdir -p "$layer"/etc/{systemd/system,cni,kubernetes/cni/net.d} "$layer/usr/libexec/hardway-lab"
  cp "$kubelet" "$layer/usr/libexec/hardway-lab/"
  cp "$bin/kubectl" "$bin/ignition" "$layer/usr/bin/"
  cp "$crictl" "$layer/usr/bin/crictl"
  for unit in "${masked[@]}"; do
    ln -s /dev/null "$layer/etc/systemd/system/$unit"
  done
  # Folders of the pod network under RHCOS's names and under Debian's.
  ln -s ../kubernetes/cni/net.d "$layer/etc/cni/net.d"
  ln -s ../lib/cni "$layer/usr/libexec/cni"
  # First boot: systemd then applies presets, and with them what Ignition enabled.
  echo uninitialized >"$layer/etc/machine-id"
  cp --reflink=auto "$base" "$work/base.tar"
  cat >"$work/Containerfile" <<'EOF'
FROM scratch
ADD base.tar /
COPY layer/ /
ENTRYPOINT ["/usr/lib/hardway-lab/initramfs"]
STOPSIGNAL SIGRTMIN+3
EOF
  podman build --quiet --tag "$image" "$work"
}

main "$@"
