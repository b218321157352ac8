#!/usr/bin/env bash
# What the scripts that set things up share. Sourced.

HARDWAY_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/hardway
RUST=$(sed -n 's/^channel = "\(.*\)"/\1/p' "${BASH_SOURCE[0]%/*}/../rust-toolchain.toml")

# step NAME WHAT COMMAND…: says what is done, and does it with its output in the cache's log/NAME.log. A failure says which
# step it was, the end of that log, and where the rest is.
step() {
  local name=$1 what=$2 log=$HARDWAY_CACHE/log/$1.log status
  shift 2
  mkdir -p "$HARDWAY_CACHE/log"
  printf '%s%s\n' "$(step_number "$name")" "$what" >&2
  # As a condition, the command would run on after its first failure.
  set +e
  (set -e; "$@") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  if ((status != 0)); then
    printf '\nthis step failed with exit code %s: %s (%s)\n' "$status" "$name" "$what" >&2
    tail -n 15 "$log" | sed 's/^/    /' >&2
    printf 'full log: %s\n' "$log" >&2
    exit 1
  fi
}

# step_number NAME: which of the steps in $HARDWAY_STEPS it is, for whoever shows how far all of it is. Those that were done before say nothing.
step_number() {
  local steps number=0 step
  read -ra steps <<<"${HARDWAY_STEPS-}"
  for step in "${steps[@]}"; do
    number=$((number + 1))
    if [[ $step == "$1" ]]; then
      printf 'step %s of %s: ' "$number" "${#steps[@]}"
      return
    fi
  done
}

# as_root COMMAND…
as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

# Another program may be at the packages, above all just after a computer's first boot; and networks hiccup.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"
}

# cargo_install CRATE VERSION FOLDER: from elsewhere, so that neither this workspace's settings nor its target folder count, but
# with its compiler: there may be no other, or an older one.
cargo_install() {
  cd /
  env --unset=CARGO_TARGET_DIR RUSTUP_TOOLCHAIN="$RUST" cargo install --quiet --force "$1" --version "$2" --locked --root "$3"
}

# debian TARGET OPTION…: makes a root file system of Debian 12. Packages come from where this computer has its own, if it is
# the same Debian: a mirror may be all that it reaches.
debian() {
  local target=$1 mirrors proxies
  shift
  # shellcheck disable=SC2016 # apt-get fills them in
  mapfile -t mirrors < <(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' \
    | grep -E ' bookworm(-updates|-security)? main$')
  mapfile -t proxies < <(apt-config dump --no-empty --format '%f "%v";%n' Acquire::http::Proxy Acquire::https::Proxy)
  mmdebstrap --quiet --mode=root --variant=minbase "${proxies[@]/#/--aptopt=}" "$@" bookworm "$target" "${mirrors[@]}"
}
