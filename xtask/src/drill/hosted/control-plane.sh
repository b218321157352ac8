#!/usr/bin/env bash
# A control plane on the segment of a lab: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, each the real one. Ends with its
# standard input, and everything with it.
#
#   control-plane.sh BIN[:BIN…] FOLDER ADDRESS PORT      etcd has the next two ports, controller manager and scheduler those after
set -euo pipefail

PATH=$1:$PATH folder=$2 address=$3 port=$4
mkdir -p "$folder"
cd "$folder"
servers=()

main() {
  certificates
  kubeconfig
  serve etcd --data-dir=etcd --unsafe-no-fsync --cert-file=server.crt --key-file=server.key --trusted-ca-file=ca.crt --client-cert-auth \
    --listen-client-urls="https://$address:$((port + 1))" --advertise-client-urls="https://$address:$((port + 1))" \
    --listen-peer-urls="http://$address:$((port + 2))" --initial-advertise-peer-urls="http://$address:$((port + 2))" \
    --initial-cluster="default=http://$address:$((port + 2))"
  serve kube-apiserver --bind-address="$address" --advertise-address="$address" --secure-port="$port" --etcd-servers="https://$address:$((port + 1))" \
    --etcd-cafile=ca.crt --etcd-certfile=admin.crt --etcd-keyfile=admin.key --tls-cert-file=server.crt --tls-private-key-file=server.key \
    --client-ca-file=ca.crt --service-account-key-file=accounts.key --service-account-signing-key-file=accounts.key \
    --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=172.31.0.0/16 --authorization-mode=Node,RBAC \
    --enable-admission-plugins=NodeRestriction --allow-privileged=true --kubelet-preferred-address-types=InternalIP \
    --kubelet-certificate-authority=ca.crt --kubelet-client-certificate=admin.crt --kubelet-client-key=admin.key
  serve kube-controller-manager --kubeconfig=kubeconfig --authentication-kubeconfig=kubeconfig --authorization-kubeconfig=kubeconfig \
    --bind-address="$address" --secure-port="$((port + 3))" --leader-elect=false --cluster-signing-cert-file=ca.crt --cluster-signing-key-file=ca.key \
    --root-ca-file=ca.crt --service-account-private-key-file=accounts.key --use-service-account-credentials=false
  serve kube-scheduler --kubeconfig=kubeconfig --authentication-kubeconfig=kubeconfig --authorization-kubeconfig=kubeconfig \
    --bind-address="$address" --secure-port="$((port + 4))" --leader-elect=false
  trap 'kill "${servers[@]}" 2>/dev/null || true; wait' EXIT
  # Until nobody holds the other end.
  cat >/dev/null
}

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" 2>/dev/null; }

# issue NAME SUBJECT EXTENSION: a certificate. Without an extension it would be of a version that nobody takes any more.
issue() {
  key "$1"
  openssl req -new -key "$1.key" -subj "$2" -addext "$3" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copyall -out "$1.crt" 2>/dev/null
}

certificates() {
  key ca
  openssl req -x509 -key ca.key -subj "/CN=drill-ca-$port" -days 2 -out ca.crt
  issue server /CN=drill "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:$address"
  issue admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out accounts.key 2>/dev/null
}

kubeconfig() {
  cat >kubeconfig.new <<EOF
apiVersion: v1
kind: Config
clusters: [{name: drill, cluster: {server: "https://$address:$port", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: admin, user: {client-certificate-data: $(base64 -w0 admin.crt), client-key-data: $(base64 -w0 admin.key)}}]
contexts: [{name: drill, context: {cluster: drill, user: admin}}]
current-context: drill
EOF
  mv kubeconfig.new kubeconfig
}

# Started again when it ends: the controller manager does not wait for its API server.
serve() {
  local program=$1
  shift
  (
    trap 'kill -9 "$!" 2>/dev/null; exit' TERM
    while true; do
      "$program" "$@" >>"$program.log" 2>&1 </dev/null &
      wait "$!" || true
      sleep 1
    done
  ) &
  servers+=("$!")
}

main
