#!/usr/bin/env bash
# Builds the real etcd, kube-* and Ignition binaries that the lab and the tests run, from their public Go modules.
#
#   tools/kubernetes/build.sh [NAME…]     all of them, or only the named ones; prints the folder that holds them
#
# The folder is named after the sources it was built from, so a second call, and a second checkout, builds nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common.sh"

# name | module folder | package | linker flags
programs=(
  "etcd|etcd|.|"
  "etcdctl|etcd|go.etcd.io/etcd/etcdctl/v3|"
  "etcdutl|etcd|go.etcd.io/etcd/etcdutl/v3|"
  "ignition-validate|ignition|github.com/coreos/ignition/v2/validate|-X github.com/coreos/ignition/v2/internal/version.Raw=v2.24.0"
  "ignition|ignition|github.com/coreos/ignition/v2/internal|-X github.com/coreos/ignition/v2/internal/version.Raw=v2.24.0 -X github.com/coreos/ignition/v2/internal/distro.selinuxRelabel=false"
  "kube-apiserver|kube|k8s.io/kubernetes/cmd/kube-apiserver|"
  "kube-controller-manager|kube|k8s.io/kubernetes/cmd/kube-controller-manager|"
  "kube-scheduler|kube|k8s.io/kubernetes/cmd/kube-scheduler|"
  "kubectl|kube|k8s.io/kubernetes/cmd/kubectl|"
  "kubelet|kube|k8s.io/kubernetes/cmd/kubelet|"
  "kube-proxy|kube|k8s.io/kubernetes/cmd/kube-proxy|"
)
# The version that kube-apiserver reports is stamped by the linker; unstamped binaries call themselves v0.0.0.
kube_version=$(sed -n 's/.*k8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' "$here/kube/go.mod" | head -n 1)
kube_stamp="-X k8s.io/component-base/version.gitVersion=$kube_version -X k8s.io/client-go/pkg/version.gitVersion=$kube_version"

fingerprint=$({ cat "$here"/*/go.mod "$here"/*/go.sum "$here"/etcd/main.go && printf '%s\n' "${programs[@]}" "$kube_stamp"; } | sha256sum | cut -c1-16)
bin=${HARDWAY_TOOLS:-$HARDWAY_CACHE/tools}/$fingerprint

# build NAME MODULE PACKAGE FLAGS
build() {
  cd "$here/$2"
  go build -mod=readonly -trimpath -ldflags "-s -w $4" -o "$bin/$1.new" "$3"
  mv "$bin/$1.new" "$bin/$1"
}

wanted=("$@")
mkdir -p "$bin"
for program in "${programs[@]}"; do
  IFS='|' read -r name module package flags <<<"$program"
  [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $name "* ]] || continue
  [[ -x $bin/$name ]] && continue
  [[ $module == kube ]] && flags=$kube_stamp
  step "$name" "building $name" build "$name" "$module" "$package" "$flags"
done
echo "$bin"
