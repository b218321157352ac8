#!/usr/bin/env bash
# Makes layer.tar, layer.tar.gz and layer.tar.zst: a small layer with files, links, long names and whiteouts. Needs tar, gzip, zstd.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
long=$(printf 'n%.0s' {1..120})
mkdir -p release-manifests manifests usr/bin
echo '{"kind":"ImageStream"}' >release-manifests/image-references
echo 'kind: ConfigMap' >"release-manifests/$long.yaml"
echo 'kind: CustomResourceDefinition' >manifests/a.crd.yaml
: >release-manifests/.wh.old.yaml
: >manifests/.wh..wh..opq
: >.wh.tests
echo oc >usr/bin/oc
ln -s oc usr/bin/kubectl
ln usr/bin/oc usr/bin/openshift
options=(--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --blocking-factor=1)
tar "${options[@]}" --format=gnu -cf "$here/layer.tar" -- *manifests usr .wh.tests
tar "${options[@]}" --format=posix --pax-option=delete=atime,delete=ctime -cf pax.tar -- *manifests usr
gzip -n9 <pax.tar >"$here/layer.tar.gz"
zstd -q19 <pax.tar >"$here/layer.tar.zst"
