#!/usr/bin/env bash
# run.sh TARGET [libFuzzer's options, or a file to try]: fuzzes without a nightly compiler; see README.md.
set -euo pipefail

if (($# == 0)); then
  sed -n '2s/^# //p' "$0" >&2
  exit 2
fi
target=$1
shift
if [[ -f ${1:-} ]]; then
  set -- "$(realpath "$1")" "${@:2}"
fi
cd "${BASH_SOURCE[0]%/*}"
host=$(rustc --version --verbose | sed -n 's/^host: //p')
coverage=(level=4 inline-8bit-counters pc-table trace-compares)
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module ${coverage[*]/#/-Cllvm-args=-sanitizer-coverage-} -Cdebug-assertions -Coverflow-checks"
export RUSTFLAGS
# With the target named, programs that only run while building are left alone.
cargo build --release --quiet --target "$host" --bin "$target"
program=${CARGO_TARGET_DIR:-target}/$host/release/$target
if [[ -f ${1:-} ]]; then
  exec "$program" "$@"
fi
mkdir -p "corpus/$target" artifacts
exec "$program" -artifact_prefix=artifacts/ "$@" "corpus/$target" "seeds/$target"
