#!/usr/bin/env bash
# Installs a whole cluster in a lab on this computer and shows it: one bootstrap host, three masters, two workers. Needs root.
#
#   ./demo.sh [DIR]    DIR keeps the cluster's files, and the lab stays up; without it both go at the end
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }

say "Set-up"
tools/setup.sh test
. tools/common.sh
step hardway "hardway itself: some minutes the first time" cargo build --release --quiet --package hardway
hardway=$PWD/target/release/hardway

dir=${1:-}
if [[ -z $dir ]]; then
  dir=$(mktemp -d -t hardway-demo.XXXXXX)
  trap '"$hardway" destroy --keep-images --dir "$dir"; rm -rf "$dir"' EXIT
fi

say "Two files: install-config.yaml and inventory.yaml"
[[ -e $dir/install-config.yaml ]] || "$hardway" init --dir "$dir" --provider lab

say "The cluster"
"$hardway" create cluster --dir "$dir"

say "What came of it"
"$hardway" lab run --dir "$dir" -- kubectl get nodes
"$hardway" explain etcd-signer
if [[ -n ${1:-} ]]; then
  say "Look around: $hardway lab shell --dir $dir master-0; then: $hardway destroy --dir $dir"
fi
