#!/usr/bin/env bash
# Passes all tests, or says which did not. Installs what it needs; see tools/setup.sh.
#
#   ./test.sh          everything
#   ./test.sh quick    without the tests that start real etcd, kube-apiserver, …
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

step() { printf '\n== %s\n' "$*" >&2; }

step "set-up"
tools/setup.sh test

step "format and lints"
cargo fmt --all -- --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
shellcheck --severity=warning test.sh demo.sh tools/*.sh tools/kubernetes/*.sh .ci/run lab/*.sh lab/*/*.sh deploy/*/*.sh fuzz/*.sh \
  lab/node/rootfs/usr/bin/* lab/node/rootfs/usr/lib/hardway-lab/* lab/operators/internal/labtest/*.sh crates/hardway/tests/infra/live/*.sh

step "crates that may not know each other, licences, bans"
cargo xtask arrows
tools/cargo-deny.sh check --hide-inclusion-graph bans licenses sources

step "generated pages are fresh"
cargo xtask guide --check

if [[ ${1:-} != quick ]]; then
  step "real etcd, kube-apiserver, Ignition (built once, kept in the user's cache)"
  HARDWAY_TOOLS_BIN=$(tools/kubernetes/build.sh)
  export HARDWAY_TOOLS_BIN
  step "real coreos-installer (built once, kept in the user's cache)"
  HARDWAY_COREOS_INSTALLER=$(tools/coreos-installer.sh)
  export HARDWAY_COREOS_INSTALLER
  step "a kernel for virtual machines (unpacked once, kept in the user's cache)"
  HARDWAY_GUEST_KERNEL=$(tools/guest-kernel.sh)
  export HARDWAY_GUEST_KERNEL
  step "a Redfish emulator (installed once, kept in the user's cache)"
  HARDWAY_SUSHY_TOOLS=$(tools/sushy-tools.sh)
  export HARDWAY_SUSHY_TOOLS
fi

step "tests"
cargo test --workspace --quiet

step "the lab's own programs"
unformatted=$(gofmt -l lab crates/hardway-release/tests/mco-stand-in)
[[ -z $unformatted ]] || { echo "not formatted: $unformatted" >&2; exit 1; }
(cd lab/release/programs && go vet ./... && go test ./...)
if [[ ${1:-} == quick ]]; then
  lab/operators/test.sh
  exit
fi

step "the lab's operators, and an install that is killed again and again: both mostly wait"
export HARDWAY=$PWD/target/debug/hardway
lab/operators/test.sh &
operators=$!
cargo xtask drill kill
wait "$operators"

step "the lab: a whole install"
cargo xtask drill install
