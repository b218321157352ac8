#!/usr/bin/env bash
# Downloads the crates and Go modules that the tests build with: a test may run where there is no network.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"
cd "$here/.."

# Listing packages with all that they import downloads just that; `go mod download` would take what nobody compiles too.
modules() {
  local folder
  for folder in lab/operators lab/release/programs crates/hardway-release/tests/mco-stand-in; do
    (cd "$folder" && go list -mod=readonly -deps -test ./... >/dev/null)
  done
}

step crates "downloading crates" cargo fetch --locked
step modules "downloading Go modules" modules
