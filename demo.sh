#!/usr/bin/env bash
# Installs a whole cluster in a lab on this computer and shows it: one bootstrap host, three masters, two workers. Needs root.
#
#   ./demo.sh [DIR]    keeps the cluster's files in DIR and the lab running; without DIR, both are removed at the end
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }

say "Setting up"
tools/setup.sh test
. tools/common.sh
step hardway "building hardway: a few minutes the first time" cargo build --release --quiet --package hardway
hardway=$PWD/target/release/hardway

dir=${1:-}
if [[ -z $dir ]]; then
  dir=$(mktemp -d -t hardway-demo.XXXXXX)
  trap '"$hardway" destroy --keep-images --yes --dir "$dir"; rm -rf "$dir"' EXIT
fi

say "The input files: install-config.yaml and inventory.yaml"
[[ -e $dir/install-config.yaml ]] || "$hardway" init --dir "$dir" --provider lab

say "Installing the cluster"
"$hardway" create cluster --dir "$dir"

say "The result"
"$hardway" lab run --dir "$dir" -- kubectl get nodes
"$hardway" explain etcd-signer
if [[ -n ${1:-} ]]; then
  say "To look around: $hardway lab shell --dir $dir master-0. To remove it: $hardway destroy --dir $dir"
fi
