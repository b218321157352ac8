#!/bin/bash
# A stand-in for systemctl on a host without systemd. It reads the real unit files and runs what they say. What it does not do: wait for
# Type=notify, restart what ends by itself, follow devices, or keep control groups; a unit's first process gets the signals.
#
#   systemctl boot    starts every enabled unit, each after those that its After= names: what systemd does when a host starts
set -u
units=/etc/systemd/system state=/run/systemctl
mkdir -p "$state"

values() { sed -n "s/^$2=//p" "$units/$1"; }
is_active() {
  [ -e "$state/$1.done" ] || { [ -e "$state/$1.pid" ] && kill -0 "$(cat "$state/$1.pid")" 2>/dev/null; }
}
each() { # UNIT KEY: runs the lines, in order
  local line
  while read -r line; do
    [ -n "$line" ] || continue
    if [ "${line#-}" != "$line" ]; then eval "${line#-}" || :; else eval "$line" || return 1; fi
  done < <(values "$1" "$2")
}
start() {
  is_active "$1" && return 0
  local folder; folder=$(values "$1" RuntimeDirectory)
  [ -z "$folder" ] || mkdir -p "/run/$folder"
  each "$1" ExecStartPre || return 1
  if [ "$(values "$1" Type)" = oneshot ]; then
    each "$1" ExecStart || return 1
    touch "$state/$1.done"
  else
    eval "exec setsid $(values "$1" ExecStart)" </dev/null >>"$state/$1.log" 2>&1 &
    echo $! >"$state/$1.pid"
    sleep 0.3
    is_active "$1" || { cat "$state/$1.log" >&2; return 1; }
  fi
  each "$1" ExecStartPost
}
stop() {
  if [ -e "$state/$1.pid" ]; then
    local pid; pid=$(cat "$state/$1.pid")
    kill "$pid" 2>/dev/null
    while [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do sleep 0.1; done
  fi
  [ ! -e "$state/$1.done" ] || each "$1" ExecStop
  rm -f "$state/$1.pid" "$state/$1.done"
  local folder; folder=$(values "$1" RuntimeDirectory)
  [ -z "$folder" ] || rm -rf "/run/$folder"
}
words=()
now=
for word; do case $word in --now) now=1 ;; --*) ;; *) words+=("$word") ;; esac; done
unit=${words[1]:-}
case ${words[0]} in
  daemon-reload) ;;
  enable) touch "$units/.enabled-$unit" ;;
  disable) [ -z "$now" ] || stop "$unit"; rm -f "$units/.enabled-$unit" ;;
  is-enabled) [ -e "$units/.enabled-$unit" ] ;;
  is-active) is_active "$unit" ;;
  start) start "$unit" ;;
  stop) stop "$unit" ;;
  restart) stop "$unit"; start "$unit" ;;
  try-restart) if is_active "$unit"; then stop "$unit"; start "$unit"; fi ;;
  reload-or-restart)
    if is_active "$unit"; then MAINPID=$(cat "$state/$unit.pid") each "$unit" ExecReload; else start "$unit"; fi ;;
  boot)
    cd "$units" || exit 1
    for file in .enabled-*; do
      unit=${file#.enabled-}
      echo "$unit $unit"
      for before in $(values "$unit" After); do [ ! -e ".enabled-$before" ] || echo "$before $unit"; done
    done | tsort | while read -r unit; do start "$unit" || echo "$unit did not start" >&2; done ;;
  *) echo "the stand-in for systemctl does not know: $*" >&2; exit 1 ;;
esac
