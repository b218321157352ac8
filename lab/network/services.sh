#!/usr/bin/env bash
# The text of the lab's three service configurations, from the arguments that up.sh read. Sourced.
# shellcheck disable=SC2154

# Every name a cluster needs, with its PTR record; nothing is asked of the outside.
dnsmasq_conf() {
  local name ip
  cat <<EOF
no-resolv
no-hosts
bind-interfaces
listen-address=${gateway%/*}
local=/$domain/
host-record=api.$domain,$api_vip
host-record=api-int.$domain,$api_vip
address=/apps.$domain/$ingress_vip
EOF
  while read -r name _ ip _; do
    [[ -z $name ]] || printf 'host-record=%s.%s,%s\n' "$name" "$domain" "$ip"
  done <"$hosts"
}

# Health is asked for as the documentation of OpenShift wants it: /readyz of the API server, every second or so.
haproxy_cfg() {
  cat <<EOF
global
  log stdout format raw local0 notice
  stats socket /lab/haproxy.sock mode 600 level admin
defaults
  mode tcp
  log global
  retries 3
  option redispatch
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
EOF
  listener api "$api_vip:6443" 6443 "bootstrap master" "check check-ssl verify none inter 1s fall 2 rise 2" "option httpchk GET /readyz"
  listener machine-config "$api_vip:22623" 22623 "bootstrap master" "check inter 2s fall 2 rise 1"
  listener ingress-https "$ingress_vip:443" 443 "$(ingress_roles)" "check inter 2s fall 2 rise 1"
  listener ingress-http "$ingress_vip:80" 80 "$(ingress_roles)" "check inter 2s fall 2 rise 1"
}

# Without workers the masters run the routers.
ingress_roles() {
  if grep -q '^[^ ]* worker ' "$hosts"; then echo worker; else echo master; fi
}

# listener NAME ADDRESS PORT ROLES CHECK [LINE]
listener() {
  local name role ip
  printf '\nlisten %s\n  bind %s\n%s' "$1" "$2" "${6:+  $6$'\n'}"
  while read -r name role ip _; do
    if [[ -n $name && " $4 " == *" $role "* ]]; then
      printf '  server %s %s:%s %s\n' "$name" "$ip" "$3" "$5"
    fi
  done <"$hosts"
}

# Filled by lab/release/build.sh; read-only here, so that all labs can share it.
registry_yml() {
  cat <<EOF
version: 0.1
log:
  level: warn
  accesslog:
    disabled: true
storage:
  filesystem:
    rootdirectory: /registry
  maintenance:
    readonly:
      enabled: true
http:
  addr: ${gateway%/*}:$REGISTRY_PORT
EOF
}
