#!/usr/bin/env bash
# Runs all tests. Installs what it needs; see tools/setup.sh.
#
#   ./test.sh          everything; a test that lacks something it needs fails
#   ./test.sh quick    without the tests that start real etcd, kube-apiserver, …; lists at the end what was skipped
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

quick=false
[[ ${1:-} != quick ]] || quick=true

# With the time since the start: where it goes is in every log.
say() { printf '\n== %d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*" >&2; }

# Tests write here that they are left out, and why; and what of real OpenShift they had nothing to compare with.
HARDWAY_SKIPPED=$(mktemp -t hardway-skipped.XXXXXX)
HARDWAY_NOT_COMPARED=$(mktemp -t hardway-not-compared.XXXXXX)
export HARDWAY_SKIPPED HARDWAY_NOT_COMPARED
finish() {
  local status=$?
  if [[ -s $HARDWAY_SKIPPED ]]; then
    say "skipped tests"
    sort -u "$HARDWAY_SKIPPED" >&2
    if [[ -n ${CI:-} ]]; then
      status=1
    fi
  fi
  if [[ -s $HARDWAY_NOT_COMPARED ]]; then
    say "not compared with real OpenShift, whose data is not part of this repository (HARDWAY_REAL_DATA)"
    sort -u "$HARDWAY_NOT_COMPARED" >&2
  fi
  rm -f "$HARDWAY_SKIPPED" "$HARDWAY_NOT_COMPARED"
  exit "$status"
}
trap finish EXIT

# All that comes from outside comes now: tests run where there is no network.
say "setup"
tools/setup.sh test
tools/modules.sh
tools/cargo-deny.sh --version >/dev/null
if [[ $quick == false ]]; then
  # With this, a test that lacks something fails.
  export CI=${CI:-true}
  HARDWAY_TOOLS_BIN=$(tools/kubernetes/build.sh)
  HARDWAY_COREOS_INSTALLER=$(tools/coreos-installer.sh)
  HARDWAY_GUEST_KERNEL=$(tools/guest-kernel.sh)
  HARDWAY_SUSHY_TOOLS=$(tools/sushy-tools.sh)
  HARDWAY_AXE=$(tools/axe-core.sh)
  export HARDWAY_TOOLS_BIN HARDWAY_COREOS_INSTALLER HARDWAY_GUEST_KERNEL HARDWAY_SUSHY_TOOLS HARDWAY_AXE
fi

say "build"
# All of it in one go: building one package alone would build its dependencies once more, with fewer features.
cargo build --quiet --workspace --bins --tests
export HARDWAY=$PWD/target/debug/hardway
xtask() { target/debug/xtask "$@"; }
if [[ $quick == false ]]; then
  lab/build.sh --registry 192.168.126.1:5000 --hardway target/debug/hardway # the gateway of the labs of drills
fi

say "format and lints; beside them, packages are tried in a bare system"
cargo fmt --all -- --check
if [[ $quick == false ]]; then
  { xtask dist --program "$HARDWAY" && xtask dist try; } &
  packages=$!
fi
cargo clippy --workspace --all-targets --quiet -- -D warnings
shellcheck --severity=warning test.sh demo.sh tools/*.sh tools/kubernetes/*.sh .ci/run lab/*.sh lab/*/*.sh deploy/*/*.sh fuzz/*.sh \
  lab/node/rootfs/usr/bin/* lab/node/rootfs/usr/lib/hardway-lab/* lab/operators/internal/labtest/*.sh crates/hardway/tests/infra/live/*.sh
if [[ $quick == false ]]; then
  wait "$packages"
fi

say "forbidden crate dependencies, licences, banned crates"
xtask arrows
tools/cargo-deny.sh check --hide-inclusion-graph bans licenses sources

say "generated pages are up to date"
xtask guide --check
xtask first-hour --check

say "tests"
if [[ $quick == true ]]; then
  echo "all tests named real_…: skipped by quick" >>"$HARDWAY_SKIPPED"
  cargo test --workspace --quiet -- --skip real_
else
  xtask tests
fi

say "every claim in docs/security.md has its tests"
xtask security

say "the lab's own programs"
unformatted=$(gofmt -l lab crates/hardway-release/tests/mco-stand-in)
[[ -z $unformatted ]] || { echo "not formatted: $unformatted" >&2; exit 1; }
(cd lab/release/programs && go vet ./... && go test ./...)
if [[ $quick == true ]]; then
  lab/operators/test.sh
  exit
fi

say "in parallel: the lab's operators, and an install that is killed again and again"
lab/operators/test.sh &
operators=$!
xtask drill kill
wait "$operators"

say "a complete install in the lab"
xtask drill install
