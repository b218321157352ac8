#!/usr/bin/env bash
# Builds kubelet and kube-apiserver with the one change of OpenShift's that the lab cannot do without, and prints their folder.
#
#   lab/kubernetes/build.sh
#
# OpenShift's kubelets give themselves the labels node-role.kubernetes.io/master and the like, and its API server lets them
# (openshift/kubernetes, OpenShiftNodeLabels). Upstream refuses both. Everything else is upstream's, from the same pinned
# modules as tools/kubernetes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../common.sh"

modules=$here/../../tools/kubernetes/kube
labels='"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/worker", "node-role.kubernetes.io/etcd",'

main() {
  kept kubernetes build "$here/build.sh" "$modules/go.mod" "$modules/go.sum"
}

# build FOLDER: with a copy of the one module that decides about labels in place of the original.
build() {
  local out=$1 program version
  work=$(mktemp -d "$LAB_CACHE/work.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cp "$modules/go.mod" "$modules/go.sum" "$work/"
  cp -r --no-preserve=mode "$(cd "$modules" && go list -m -f '{{.Dir}}' k8s.io/kubelet)" "$work/kubelet"
  sed -i "s|^var kubeletLabels = sets.NewString(|&\n\t$labels|" "$work/kubelet/pkg/apis/well_known_labels.go"
  grep -qF "$labels" "$work/kubelet/pkg/apis/well_known_labels.go" || die "the list of labels is not where it was"
  (cd "$work" && go mod edit -replace "k8s.io/kubelet=$work/kubelet")
  version=$(cd "$modules" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
  for program in kubelet kube-apiserver; do
    (cd "$work" && go build -mod=mod -trimpath -o "$out/$program" \
      -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version -X k8s.io/client-go/pkg/version.gitVersion=$version" \
      "k8s.io/kubernetes/cmd/$program")
  done
}

main
