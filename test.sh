#!/usr/bin/env bash
# Passes all tests, or says which did not. Installs what it needs; see tools/setup.sh.
#
#   ./test.sh          everything; what a test needs and does not find is a failure
#   ./test.sh quick    without the tests that start real etcd, kube-apiserver, …; says at its end what it left out
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

quick=false
[[ ${1:-} != quick ]] || quick=true

# With the time since the start: where it goes is in every log.
say() { printf '\n== %d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*" >&2; }

# Tests write here that they are left out, and why.
HARDWAY_SKIPPED=$(mktemp -t hardway-skipped.XXXXXX)
export HARDWAY_SKIPPED
finish() {
  local status=$?
  if [[ -s $HARDWAY_SKIPPED ]]; then
    say "skipped"
    sort -u "$HARDWAY_SKIPPED" >&2
    if [[ -n ${CI:-} ]]; then
      status=1
    fi
  fi
  rm -f "$HARDWAY_SKIPPED"
  exit "$status"
}
trap finish EXIT

# All that comes from outside comes now: tests run where there is no network.
say "set-up"
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
  export HARDWAY_TOOLS_BIN HARDWAY_COREOS_INSTALLER HARDWAY_GUEST_KERNEL HARDWAY_SUSHY_TOOLS
fi

say "build"
# All of it in one go: building one package alone would build its dependencies once more, with fewer features.
cargo build --quiet --workspace --bins --tests
export HARDWAY=$PWD/target/debug/hardway
xtask() { target/debug/xtask "$@"; }
if [[ $quick == false ]]; then
  lab/build.sh --registry 192.168.126.1:5000 --hardway target/debug/hardway # the gateway of the labs of drills
fi

say "format and lints"
cargo fmt --all -- --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
shellcheck --severity=warning test.sh demo.sh tools/*.sh tools/kubernetes/*.sh .ci/run lab/*.sh lab/*/*.sh deploy/*/*.sh fuzz/*.sh \
  lab/node/rootfs/usr/bin/* lab/node/rootfs/usr/lib/hardway-lab/* lab/operators/internal/labtest/*.sh crates/hardway/tests/infra/live/*.sh

say "crates that may not know each other, licences, bans"
xtask arrows
tools/cargo-deny.sh check --hide-inclusion-graph bans licenses sources

say "generated pages are fresh"
xtask guide --check
xtask first-hour --check

say "tests"
if [[ $quick == true ]]; then
  echo "all tests named real_…: quick leaves them out" >>"$HARDWAY_SKIPPED"
  cargo test --workspace --quiet -- --skip real_
else
  # They mostly wait, for servers and machines: the program's own tests take as long as all others together. These begin a little
  # later, because they build some dependencies anew, with fewer features, and nobody else can begin meanwhile.
  others=$(mktemp -t hardway-tests.XXXXXX)
  { sleep 10 && cargo test --workspace --exclude hardway --quiet; } >"$others" 2>&1 &
  job=$!
  failed=false
  cargo test --package hardway --quiet || failed=true
  wait "$job" || failed=true
  cat "$others" && rm -f "$others"
  [[ $failed == false ]]
fi

say "what docs/security.md claims has its tests"
xtask security

say "the lab's own programs"
unformatted=$(gofmt -l lab crates/hardway-release/tests/mco-stand-in)
[[ -z $unformatted ]] || { echo "not formatted: $unformatted" >&2; exit 1; }
(cd lab/release/programs && go vet ./... && go test ./...)
if [[ $quick == true ]]; then
  lab/operators/test.sh
  exit
fi

say "the lab's operators, and an install that is killed again and again: both mostly wait"
lab/operators/test.sh &
operators=$!
xtask drill kill
wait "$operators"

say "the lab: a whole install"
xtask drill install
