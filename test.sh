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
shellcheck --severity=warning test.sh demo.sh tools/*.sh tools/kubernetes/*.sh lab/operators/*.sh lab/operators/internal/labtest/*.sh .ci/run

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
fi

step "tests"
cargo test --workspace --quiet

step "the lab's operators"
lab/operators/test.sh
