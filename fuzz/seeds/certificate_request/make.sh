#!/usr/bin/env bash
# Makes the seeds: a first client certificate, its renewal and a serving certificate, as a kubelet asks for them.
set -euo pipefail
cd "${BASH_SOURCE[0]%/*}"

node=worker-0.ocp4.example.com
subject=/O=system:nodes/CN=system:node:$node
key=$(openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256)
# ask NAME KIND [openssl's options]
ask() {
  { printf "\\x$2"; openssl req -new -key <(echo "$key") -subj "$subject" -outform DER "${@:3}"; } >"$1"
}
ask client 00
ask renewal 01
ask serving 02 -addext "subjectAltName=DNS:$node,IP:192.168.126.110"
