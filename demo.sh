#!/usr/bin/env bash
# Shows what hardway does today: from two YAML files to everything a cluster boots from, checked by the real Ignition.
#
#   ./demo.sh [DIR]    DIR is kept; without it a temporary folder is used
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools/setup.sh test
cargo build --release --quiet --package hardway
hardway=$PWD/target/release/hardway
dir=${1:-$(mktemp -d -t hardway-demo.XXXXXX)}
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. Two files: install-config.yaml and inventory.yaml"
[[ -e $dir/install-config.yaml ]] || "$hardway" init --dir "$dir" --provider bare-metal

say "2. Everything the cluster boots from"
"$hardway" create ignition-configs --dir "$dir"
ls -1 "$dir" "$dir/ignition"

say "3. The real Ignition accepts every config"
bin=$(tools/kubernetes/build.sh ignition-validate)
for config in "$dir"/*.ign "$dir"/ignition/*.ign; do
  "$bin/ignition-validate" "$config" && echo "ok  ${config#"$dir"/}"
done

say "4. Once more: nothing changed, so nothing is written"
"$hardway" create ignition-configs --dir "$dir"

say "5. Why things are as they are"
"$hardway" explain etcd-signer
"$hardway" explain kube-apiserver --etcd-prefix

say "Look around in $dir; then: $hardway status --dir $dir"
