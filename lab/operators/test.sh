#!/usr/bin/env bash
# Format, vet and tests of the lab's operators. With HARDWAY_TOOLS_BIN (tools/kubernetes/build.sh prints it) the tests that run
# real servers are among them; they use assets that target/debug/hardway makes, which is built if need be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

unformatted=$(gofmt -l .)
if [[ -n $unformatted ]]; then
  printf 'not formatted (gofmt -w): %s\n' "$unformatted" >&2
  exit 1
fi
go vet -mod=readonly ./...
if [[ -n ${HARDWAY_TOOLS_BIN:-} ]]; then
  (cd ../.. && cargo build --quiet -p hardway)
fi
go test -mod=readonly -timeout 40m ./...
