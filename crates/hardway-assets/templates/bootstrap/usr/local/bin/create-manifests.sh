#!/usr/bin/env bash
# Creates every object of the given files and folders, and goes on until all of them exist.
#
#   create-manifests.sh --kubeconfig K [--state-dir S] [--once] FILE|FOLDER…
#
# An object that exists is left as it is: never applied, never patched, since by then it may be an operator's. What cannot
# be created yet (no namespace, no such kind) is tried again, and its error is shown whenever it changes. If a file carries
# a status and the live object has none, the status is written too, because creating an object drops it. The order of the
# files is only the order of the first try; of an object found twice the first file counts.
#
# S holds one JSON file an object and one marker a finished object, so a restart goes on where the last run stopped.
# --once makes one try and fails if anything is missing.
set -Eeuo pipefail

OC=${OC:-${BASH_SOURCE[0]%/*}/oc-or-container.sh}
batch_size=50
workers=4

main() {
  local pause=1 before=-1 finished total
  read_arguments "$@"
  umask 077
  mkdir -p "$state"/{objects,done,errors,batches}
  split_files
  while true; do
    # A worker fails only if something is wrong with this host; an object that cannot be created is no such failure.
    pending | xargs --no-run-if-empty --delimiter='\n' --max-args="$batch_size" --max-procs="$workers" bash "$0" --batch
    total=$(wc -l <"$state/order")
    finished=$((total - $(pending | wc -l)))
    if [[ $finished -ne $before ]]; then
      printf 'created %d of %d\n' "$finished" "$total"
      before=$finished
      pause=1
    fi
    if [[ $finished -eq $total && ! -s $state/unreadable ]]; then
      return 0
    fi
    if [[ $once == true ]]; then
      return 1
    fi
    sleep "$pause"
    pause=$((pause < 5 ? pause + 1 : 5))
    if [[ -s $state/unreadable ]]; then
      split_files
    fi
  done
}

read_arguments() {
  kubeconfig='' state=${OPENSHIFT_DIR:-/opt/openshift}/create-manifests once=false sources=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --kubeconfig) kubeconfig=${2:?} && shift 2 ;;
      --state-dir) state=${2:?} && shift 2 ;;
      --once) once=true && shift ;;
      -*) usage "unknown option $1" ;;
      *) sources+=("$1") && shift ;;
    esac
  done
  [[ -n $kubeconfig ]] || usage "--kubeconfig is missing"
  [[ ${#sources[@]} -gt 0 ]] || usage "no file or folder given"
  state=$(realpath --canonicalize-missing "$state")
  export OC kubeconfig state
}

usage() {
  printf '%s\nusage: create-manifests.sh --kubeconfig K [--state-dir S] [--once] FILE|FOLDER…\n' "$1" >&2
  exit 2
}

# The objects without a marker, in the order of the files.
pending() {
  local id
  while read -r id; do
    [[ -e $state/done/$id ]] || printf '%s\n' "$id"
  done <"$state/order"
}

# --- reading the files -------------------------------------------------------------------------------------------------

# Turns all files into one JSON file an object. `patch --local` with an empty patch is how oc and kubectl turn YAML of any
# kind into JSON without asking a server. What cannot be read is shown, and read again in every round. Complaints of an oc
# that succeeds (podman warns when it has to run it in a container) are shown and hold nothing up.
split_files() {
  local files=() id json
  local -A seen=()
  list_files >"$state/files"
  mapfile -t files <"$state/files"
  : >"$state/all.json"
  : >"$state/unreadable.new"
  if [[ ${#files[@]} -eq 0 ]]; then
    : >"$state/warnings.new"
  elif ! "$OC" patch --local --type=merge --patch='{}' --output=json "${files[@]/#/--filename=}" \
    >"$state/all.json" 2>"$state/warnings.new"; then
    mv -f "$state/warnings.new" "$state/unreadable.new"
    [[ -s $state/unreadable.new ]] || printf 'some file could not be read\n' >"$state/unreadable.new"
    : >"$state/warnings.new"
  fi
  show_change "$state/warnings" "$(cat "$state/warnings.new")"
  jq -r 'select(.metadata.name == null) | "\(.kind) without a name cannot be created only once"' "$state/all.json" >>"$state/unreadable.new"
  show_change "$state/unreadable" "$(cat "$state/unreadable.new")"

  jq -r "$ids"' select(.metadata.name != null) | "\(id) \(tojson)"' "$state/all.json" >"$state/objects.list"
  while read -r id json; do
    [[ -z ${seen[$id]:-} ]] || continue
    seen[$id]=yes
    printf '%s\n' "$json" >"$state/objects/$id.json"
    printf '%s\n' "$id"
  done <"$state/objects.list" >"$state/order"
  rm -f "$state/all.json" "$state/objects.list"
}

list_files() {
  local source
  for source in "${sources[@]}"; do
    if [[ -d $source ]]; then
      find -L "$source" -maxdepth 1 -type f \( -name '*.yaml' -o -name '*.yml' -o -name '*.json' \) | LC_ALL=C sort
    elif [[ -f $source ]]; then
      printf '%s\n' "$source"
    else
      usage "there is no $source"
    fi
  done
}

# --- one batch of objects, in a process of its own ---------------------------------------------------------------------

# What is there, what has to be made, and whose status is missing: three requests for the whole batch, not for each.
batch() {
  work=$(mktemp -d "$state/batches/XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # A failure here (say, an unknown kind) is no answer about any object; creating it will tell.
  request get --ignore-not-found --output=json -- "$@" >"$work/live" 2>"$work/get-errors" || :>"$work/get-failed"
  compare "$work/live" "$@" >"$work/plan"
  finish_present "$work/plan"

  mapfile -t absent < <(sed -n 's/^absent \([^ ]*\) .*/\1/p' "$work/plan")
  [[ ${#absent[@]} -gt 0 ]] || return 0
  request create --validate=warn --output=json -- "${absent[@]}" >"$work/created" 2>"$work/create-errors" || :>"$work/create-failed"
  sed -n '/^Warning:/p' "$work/create-errors"
  compare "$work/created" "${absent[@]}" >"$work/plan"
  finish_present "$work/plan"
  while read -r action id _; do
    [[ $action != absent ]] || explain_absence "$id"
  done <"$work/plan"
}

# request VERB FLAG… -- ID…: one call about all these objects.
request() {
  local flags=() files=() id
  while [[ $1 != -- ]]; do
    flags+=("$1")
    shift
  done
  shift
  for id in "$@"; do
    files+=(--filename="$state/objects/$id.json")
  done
  "$OC" --kubeconfig="$kubeconfig" --cache-dir="$state/cache" --request-timeout=30s "${flags[@]}" "${files[@]}"
}

# compare LIVE ID…: a line an object: absent|status|present ID RESOURCE-VERSION.
compare() {
  local live=$1
  shift
  # shellcheck disable=SC2016 # jq's variables, not the shell's
  (cd "$state/objects" && jq -nr --slurpfile live "$live" "$ids"'
    def filled: if type == "object" or type == "array" then any(.[]; filled) else . != null and . != "" end;
    [$live[] | if .kind == "List" then .items[] else . end] as $have
    | inputs as $want
    | first(($have[] | select(same($want))), null) as $found
    | (if $found == null then "absent"
       elif ($want.status | filled) and ($found.status | filled | not) then "status"
       else "present" end) as $action
    | "\($action) \(input_filename | rtrimstr(".json")) \($found.metadata.resourceVersion // "-")"
  ' "${@/%/.json}")
}

finish_present() {
  local action id version
  while read -r action id version; do
    case $action in
      status) write_status "$id" "$version" ;;
      present) finish "$id" ;;
    esac
  done <"$1"
}

# The resource version makes the write fail if somebody else has written a status meanwhile.
write_status() {
  local id=$1 version=$2
  jq --arg version "$version" '{metadata: {resourceVersion: $version}, status}' "$state/objects/$id.json" >"$work/status"
  if ! request patch --subresource=status --type=merge --patch-file="$work/status" --output=json -- "$id" \
    >"$work/patched" 2>"$work/patch-errors"; then
    fail "$id" "its status could not be written: $(cat "$work/patch-errors")"
  elif [[ $(compare "$work/patched" "$id") != present* ]]; then
    fail "$id" "the API server dropped its status"
  else
    finish "$id"
  fi
}

# Made by somebody else since we looked is as good as made by us, unless its status could not be looked at.
explain_absence() {
  local id=$1 errors
  errors=$(sed -e '/^Warning:/d' "$work/create-errors")
  if grep -qF "/$id.json" <<<"$errors"; then
    errors=$(grep -F "/$id.json" <<<"$errors")
  fi
  if [[ $errors != *AlreadyExists* && $errors != *"already exists"* ]]; then
    fail "$id" "${errors//error when creating \"*.json\": /}"
  elif [[ -e $work/get-failed ]] && jq -e 'has("status")' "$state/objects/$id.json" >/dev/null; then
    fail "$id" "exists, but could not be read: $(cat "$work/get-errors")"
  elif ! jq -e 'has("status")' "$state/objects/$id.json" >/dev/null; then
    finish "$id"
  fi
}

finish() {
  : >"$state/done/$1"
  rm -f "$state/errors/$1"
}

fail() {
  local id=$1 kind namespace name
  IFS=+ read -r kind namespace name <<<"${id//%3A/:}"
  show_change "$state/errors/$id" "$kind ${namespace:+$namespace/}$name: $2"
}

# show_change FILE TEXT: keeps TEXT and shows it if it is not what FILE held.
show_change() {
  if [[ ! -e $1 || $(cat "$1") != "$2" ]]; then
    [[ -z $2 ]] || printf '%s\n' "$2"
    printf '%s' "$2" >"$1"
  fi
}

# An object's identity, as a file name and for comparing. A live object without a namespace is cluster-scoped, whatever
# the file says; a file without one means `default`.
# shellcheck disable=SC2016 # jq's variables, not the shell's
ids='
  def group: .apiVersion | if contains("/") then split("/")[0] else "" end;
  def id: [.kind + (group | if . == "" then "" else "." + . end), .metadata.namespace // "", .metadata.name] | map(@uri) | join("+");
  def same($want): group == ($want | group) and .kind == $want.kind and .metadata.name == $want.metadata.name
    and (.metadata.namespace == null or .metadata.namespace == ($want.metadata.namespace // "default"));
'

if [[ ${1:-} == --batch ]]; then
  shift
  batch "$@"
else
  main "$@"
fi
