#!/usr/bin/env bash
# Keeps a record of what a service of this host does: when it and each of its stages began and how they ended. Sourced
# by the service's script after bootstrap-common.sh; sourcing it records the start, and the end is recorded on exit.
#
#   SERVICE.stream.jsonl  one JSON object a line, only ever appended to and flushed: follow it with `tail -F`
#   SERVICE.json          the same entries as one JSON array, in the shape `openshift-install analyze` reads
#   the journal           each entry as a line of `bootstrap-record`, for whoever reads it through the journal gateway
#
# A script that runs before or after a service's main command sets PRE_COMMAND or POST_COMMAND to its name first.

SERVICE_RECORDS_DIR=${SERVICE_RECORDS_DIR:-/var/log/openshift}
PRE_COMMAND=${PRE_COMMAND:-}
POST_COMMAND=${POST_COMMAND:-}

# Started by hand, a script has no unit of its own; its file name is the next best name.
unit_name=$(ps -o unit= -p $$ 2>/dev/null) || unit_name=''
[[ $unit_name == *.service ]] || unit_name=${0##*/}
SERVICE_NAME=${SERVICE_NAME:-${unit_name%.*}}

open_stage=''
error_line=''

# stage_start NAME: begins a stage; one is open at a time.
stage_start() {
  if [[ -n $open_stage ]]; then
    say "stage $1 cannot begin while $open_stage is open"
    return 1
  fi
  open_stage=$1
  record "stage start"
}

# stage_success: ends the open stage well.
stage_success() {
  record "stage end" success
  open_stage=''
}

# stage_failure MESSAGE: ends the open stage badly, without ending the service.
stage_failure() {
  error_line=${error_line:-${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}}
  record "stage end" failure "$1"
  open_stage=''
  error_line=''
}

# run_stage NAME COMMAND…: a stage that is done once. Its marker makes a restarted service go on after it.
run_stage() {
  local name=$1
  shift
  if [[ -e $OPENSHIFT_DIR/$name.done ]]; then
    return 0
  fi
  say "stage $name"
  stage_start "$name"
  "$@"
  touch "$OPENSHIFT_DIR/$name.done"
  stage_success
}

# record PHASE [RESULT [MESSAGE]]: adds one entry. A record that cannot be written is said aloud and stops nothing.
record() {
  if ! write_record "$@"; then
    say "the record of $SERVICE_NAME could not be written: $*"
  fi
}

# The array is rebuilt from the stream every time, so a file torn by a power cut mends itself with the next entry.
write_record() {
  local stream=$SERVICE_RECORDS_DIR/$SERVICE_NAME.stream.jsonl entry
  entry=$(jq -cn --arg service "$SERVICE_NAME" --arg timestamp "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
    --arg preCommand "$PRE_COMMAND" --arg postCommand "$POST_COMMAND" --arg stage "$open_stage" \
    --arg phase "$1" --arg result "${2:-}" --arg errorLine "${3:+$error_line}" --arg errorMessage "${3:-}" \
    '{$service, $timestamp, $preCommand, $postCommand, $stage, $phase, $result, $errorLine, $errorMessage}
     | with_entries(select(.value != ""))') || return
  mkdir -p "$SERVICE_RECORDS_DIR" || return
  if [[ -s $stream && -n $(tail -c 1 "$stream") ]]; then
    printf '\n' >>"$stream" || return
  fi
  printf '%s\n' "$entry" >>"$stream" || return
  sync --data "$stream" || return
  # A host without a journal has its files still. The limit of `logger` is shorter than what a failed command says.
  logger --tag bootstrap-record --size 64KiB -- "$entry" 2>/dev/null || :
  jq -Rn '[inputs | fromjson? | del(.service)]' "$stream" >"$SERVICE_RECORDS_DIR/.$SERVICE_NAME.new" || return
  mv -f "$SERVICE_RECORDS_DIR/.$SERVICE_NAME.new" "$SERVICE_RECORDS_DIR/$SERVICE_NAME.json"
}

# The name of the main, pre- or post-command's phase.
phase() {
  if [[ -n $PRE_COMMAND ]]; then
    printf 'pre-command %s' "$1"
  elif [[ -n $POST_COMMAND ]]; then
    printf 'post-command %s' "$1"
  else
    printf 'service %s' "$1"
  fi
}

# The last lines the unit printed are the best explanation of a failure there is.
last_output() {
  local lines
  lines=$(journalctl --unit="$SERVICE_NAME.service" --lines=20 --output=cat 2>/dev/null | grep -v '^{"service":' | tail -n 3) || lines=''
  printf '%s' "${lines:-exit code $1}"
}

# A script may define service_failed to look around before the failure is recorded.
service_exit() {
  local code=$1 message
  trap - ERR
  if [[ $code -eq 0 ]]; then
    [[ -z $open_stage ]] || stage_success
    record "$(phase end)" success
    return
  fi
  message=$(last_output "$code")
  if declare -F service_failed >/dev/null; then
    service_failed || say "looking around after the failure failed too"
  fi
  [[ -z $open_stage ]] || record "stage end" failure "$message"
  open_stage=''
  record "$(phase end)" failure "$message"
}

# ERR is inherited by functions only under `set -E`, which the services' scripts set.
trap 'error_line=${BASH_SOURCE[0]##*/}:$LINENO' ERR
trap 'service_exit $?' EXIT
record "$(phase start)"
