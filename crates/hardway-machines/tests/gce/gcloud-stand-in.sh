#!/bin/bash
# A stand-in for gcloud: writes down every call, and remembers what was made, so that what is asked for later is
# answered as the real one would. Next to it: calls (the transcript), state/ (a file for each thing), login (whether
# anybody is logged in).
set -u
here=${0%/*}
for word in gcloud "$@"; do printf '%q ' "$word"; done >>"$here/calls"
echo >>"$here/calls"
[[ -e $here/login ]] || { echo "ERROR: (gcloud) You do not currently have an active account selected." >&2; exit 1; }

words=() zone='' region='' name='' type='' format='' keys='' filter=''
metadata=()
for word in "$@"; do
  case $word in
    --project=* | --quiet) ;;
    --zone=* | --zones=*) zone=${word#*=} ;;
    --region=* | --regions=*) region=${word#*=} ;;
    --name=*) name=${word#*=} ;;
    --type=*) type=${word#*=} ;;
    --format=*) format=${word#*=} ;;
    --keys=*) keys=${word#*=} ;;
    --filter=*) filter=${word#--filter=name=} ;;
    --rrdatas=*) rrdatas=${word#*=} ;;
    --metadata=*) metadata+=("${word#--metadata=}") ;;
    --metadata-from-file=*)
      file=${word##*=}
      [[ -r $file ]] || { echo "ERROR: (gcloud) Unable to read file [$file]" >&2; exit 1; }
      key=${word#--metadata-from-file=}
      metadata+=("${key%%=*}=")
      ;;
    --*) ;;
    *) words+=("$word") ;;
  esac
done

case "${words[*]}" in
  auth\ list)
    echo somebody@example.com
    exit 0
    ;;
  storage\ cp\ *) set -- create storage "${words[3]}" ;;
  storage\ rm\ *) set -- delete storage "${words[2]}" ;;
  storage\ objects\ describe\ *) set -- describe storage "${words[3]}" ;;
  storage\ ls\ *)
    for file in "$here"/state/storage*; do [[ -e $file ]] && head -n 1 "$file"; done
    exit 0
    ;;
  compute\ routers\ nats\ *) set -- "${words[3]}" nats "${words[4]-}" ;;
  *) set -- "${words[2]}" "${words[1]}" "${words[3]-}" ;;
esac
verb=$1 kind=$2 thing=${3:-${name:-$filter}}
id=$kind/$zone$region$type/$thing
file=$here/state/${id//\//_}

case $verb in
  create)
    [[ ! -e $file ]] || { echo "ERROR: (gcloud) The resource '$id' already exists" >&2; exit 1; }
    { echo "$thing"; echo "rrdatas ${rrdatas-}"; printf 'metadata %s\n' "${metadata[@]%%=*}"; } >"$file"
    exit 0
    ;;
  list)
    if [[ $filter == --filter=labels.* ]]; then
      for file in "$here"/state/"$kind"_*; do [[ ! -e $file ]] || head -n 1 "$file"; done
      exit 0
    fi
    [[ ! -e $file ]] || head -n 1 "$file"
    exit 0
    ;;
esac
[[ -e $file ]] || { echo "ERROR: (gcloud) The resource '$id' was not found" >&2; exit 1; }
case $verb in
  describe)
    case $format in
      'value(status)') echo RUNNING ;;
      *rrdatas*) sed -n 's/^rrdatas //p' "$file" ;;
      *metadata*) sed -n 's/^metadata //p' "$file" | paste -sd ';' ;;
      *) head -n 1 "$file" ;;
    esac
    ;;
  delete)
    rm "$file"
    # A NAT is a part of its router.
    [[ $kind != routers ]] || rm -f "$here/state/nats_$region"*
    ;;
  add-metadata) printf 'metadata %s\n' "${metadata[@]%%=*}" >>"$file" ;;
  remove-metadata) sed -i "/^metadata $keys\$/d" "$file" ;;
  *) echo "ERROR: (gcloud) Invalid choice: '$verb'." >&2; exit 2 ;;
esac
