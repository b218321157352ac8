#!/usr/bin/env bash
# Prints what is to be applied for a hosted cluster of any name, in place of `demo` in `clusters` with a pool `demo`.
#
#   deploy/hosted/render.sh management|hosted-cluster|monitoring CLUSTER [NAMESPACE [POOL [PULL-SECRET [IMAGE]]]]
#   deploy/hosted/render.sh management guest | kubectl apply -f -
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage() { sed -n 's/^#   //p' "${BASH_SOURCE[0]}" >&2; exit 2; }

part=${1-} cluster=${2-} namespace=${3:-clusters}
[[ $part =~ ^(management|hosted-cluster|monitoring)$ && -n $cluster ]] || usage
pool=${4:-$cluster} pull_secret=${5:-$cluster-pull-secret} image=${6:-localhost/hardway:latest}
for name in "$cluster" "$namespace" "$pool" "$pull_secret"; do
  [[ $name =~ ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ ]] || { echo "$name is not the name of an object" >&2; exit 2; }
done
[[ $image =~ ^[A-Za-z0-9./:@_-]+$ ]] || { echo "$image is not a pull spec" >&2; exit 2; }

# Two hosted clusters may share a namespace, so what is there is named after its cluster; the account in the hosted cluster is not.
own=hardway-hosted
[[ $part == hosted-cluster ]] || own=hardway-hosted-$cluster
# Longer names first: each is another thing.
kubectl kustomize "$here/$part" | sed -E \
  -e "s|kube-system/hardway-hosted\b|@ACCOUNT@|g" \
  -e "s|\bhardway-hosted\b|@OWN@|g" \
  -e "s|\bdemo-pull-secret\b|@PULL@|g" \
  -e "s|\bdemo-upgrade\b|@POOL@-upgrade|g" \
  -e "s|\bclusters-demo\b|@NAMESPACE@-@CLUSTER@|g" \
  -e "s|\bdemo\b|@CLUSTER@|g" \
  -e "s|(namespace[:=] ?)clusters\b|\1@NAMESPACE@|g" \
  -e "s|localhost/hardway:latest|@IMAGE@|g" \
  -e "s|@ACCOUNT@|kube-system/hardway-hosted|g; s|@OWN@|$own|g" \
  -e "s|@PULL@|$pull_secret|g; s|@POOL@|$pool|g; s|@NAMESPACE@|$namespace|g; s|@CLUSTER@|$cluster|g; s|@IMAGE@|$image|g"
