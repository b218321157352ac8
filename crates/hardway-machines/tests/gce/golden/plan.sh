#!/bin/bash
# Does by hand what `hardway infra up` does, for the same user. Each part checks first, so the script can be repeated; it changes nothing
# that is in place already. What it creates is yours: `hardway infra down` does not remove it.
set -euo pipefail

# network/firewall/api: users and nodes reach the API
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-api '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-api --network=default --direction=INGRESS --allow=tcp:6443 --source-ranges=192.168.126.0/24 --target-tags=ocp4-x7k2p-balancer
fi

# network/firewall/ingress: users reach the routes
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-ingress '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-ingress --network=default --direction=INGRESS --allow=tcp:80,tcp:443 --source-ranges=192.168.126.0/24 --target-tags=ocp4-x7k2p-balancer
fi

# network/firewall/ssh: administrators reach the machines over ssh
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-ssh '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-ssh --network=default --direction=INGRESS --allow=tcp:22 --source-ranges=192.168.126.0/24 --target-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master,ocp4-x7k2p-worker,ocp4-x7k2p-balancer
fi

# network/firewall/etcd: etcd's members reach each other
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-etcd '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-etcd --network=default --direction=INGRESS --allow=tcp:2379-2380 --source-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master --target-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master
fi

# network/firewall/control-plane: the control plane's parts, and configs for machines that join
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-control-plane '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-control-plane --network=default --direction=INGRESS --allow=tcp:6443,tcp:10257,tcp:10259,tcp:22623,tcp:22624 --source-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master,ocp4-x7k2p-worker,ocp4-x7k2p-balancer --target-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master
fi

# network/firewall/internal-network: machines can ping each other
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-internal-network '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-internal-network --network=default --direction=INGRESS --allow=icmp,tcp:22 --source-ranges=192.168.126.0/24 --target-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master,ocp4-x7k2p-worker,ocp4-x7k2p-balancer
fi

# network/firewall/internal-cluster: pods, services and kubelets across machines
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-internal-cluster '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-internal-cluster --network=default --direction=INGRESS --allow=udp:4789,udp:6081,udp:500,udp:4500,udp:9000-9999,udp:30000-32767,esp,tcp:9000-9999,tcp:10250,tcp:30000-32767 --source-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master,ocp4-x7k2p-worker --target-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master,ocp4-x7k2p-worker
fi

# network/firewall/balancer: nodes reach the machine-config-server through the load balancer
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-balancer '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-balancer --network=default --direction=INGRESS --allow=tcp:22623 --source-tags=ocp4-x7k2p-bootstrap,ocp4-x7k2p-master,ocp4-x7k2p-worker --target-tags=ocp4-x7k2p-balancer
fi

# network/firewall/routers: the load balancer reaches the routers and their health checks
if ! /site/gcloud --project=acme --quiet compute firewall-rules describe ocp4-x7k2p-routers '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute firewall-rules create ocp4-x7k2p-routers --network=default --direction=INGRESS --allow=tcp:80,tcp:443,tcp:1936 --source-tags=ocp4-x7k2p-balancer --target-tags=ocp4-x7k2p-worker
fi

# dns/zone: the cluster's DNS zone
if ! /site/gcloud --project=acme --quiet dns managed-zones describe ocp4-x7k2p-zone '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet dns managed-zones create ocp4-x7k2p-zone --dns-name=ocp4.example.com. --visibility=private --networks=default '--description=Made by hardway.' --labels=kubernetes-io-cluster-ocp4-x7k2p=owned
fi

# dns/record/bootstrap.ocp4.example.com/A: bootstrap.ocp4.example.com is 192.168.126.100
if ! /site/gcloud --project=acme --quiet dns record-sets describe bootstrap.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.100 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create bootstrap.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.100
fi

# dns/record/master-0.ocp4.example.com/A: master-0.ocp4.example.com is 192.168.126.101
if ! /site/gcloud --project=acme --quiet dns record-sets describe master-0.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.101 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create master-0.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.101
fi

# dns/record/master-1.ocp4.example.com/A: master-1.ocp4.example.com is 192.168.126.102
if ! /site/gcloud --project=acme --quiet dns record-sets describe master-1.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.102 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create master-1.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.102
fi

# dns/record/master-2.ocp4.example.com/A: master-2.ocp4.example.com is 192.168.126.103
if ! /site/gcloud --project=acme --quiet dns record-sets describe master-2.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.103 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create master-2.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.103
fi

# dns/record/worker-0.ocp4.example.com/A: worker-0.ocp4.example.com is 192.168.126.110
if ! /site/gcloud --project=acme --quiet dns record-sets describe worker-0.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.110 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create worker-0.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.110
fi

# dns/record/worker-1.ocp4.example.com/A: worker-1.ocp4.example.com is 192.168.126.111
if ! /site/gcloud --project=acme --quiet dns record-sets describe worker-1.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.111 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create worker-1.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.111
fi

# dns/record/api.ocp4.example.com/A: api.ocp4.example.com is 192.168.126.10
if ! /site/gcloud --project=acme --quiet dns record-sets describe api.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.10 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create api.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.10
fi

# dns/record/api-int.ocp4.example.com/A: api-int.ocp4.example.com is 192.168.126.10
if ! /site/gcloud --project=acme --quiet dns record-sets describe api-int.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.10 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create api-int.ocp4.example.com. --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.10
fi

# dns/record/*.apps.ocp4.example.com/A: *.apps.ocp4.example.com is 192.168.126.11
if ! /site/gcloud --project=acme --quiet dns record-sets describe '*.apps.ocp4.example.com.' --zone=ocp4-x7k2p-zone --type=A '--format=value[delimiter=","](rrdatas)' 2>/dev/null | sed 's/^ *//; s/ *$//' | grep -xF -- 192.168.126.11 >/dev/null; then
  /site/gcloud --project=acme --quiet dns record-sets create '*.apps.ocp4.example.com.' --zone=ocp4-x7k2p-zone --type=A --ttl=60 --rrdatas=192.168.126.11
fi

# balancer/startup: the startup script of the load balancer's instance
if ! { [ "$(stat -c %a /site/work/gce/balancer.sh 2>/dev/null)" = 644 ] && sha256sum /site/work/gce/balancer.sh 2>/dev/null | grep -qF 500f25ec4948267665970814c159b8663d87467183a5af5e3b31b2d8b2d5ce1d; }; then
  install -D -m 0644 /dev/stdin /site/work/gce/balancer.sh <<'END_OF_FILE'
#!/bin/bash
# Made by hardway. Keeps HAProxy at what the metadata of this instance says.
set -u
attribute=http://metadata.google.internal/computeMetadata/v1/instance/attributes/haproxy-cfg
until command -v haproxy >/dev/null; do
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq haproxy || sleep 10
done
wait=
while true; do
  if curl -sf -H 'Metadata-Flavor: Google' -o /etc/haproxy/hardway.new "$attribute$wait" &&
    haproxy -c -q -f /etc/haproxy/hardway.new; then
    if ! cmp -s /etc/haproxy/hardway.new /etc/haproxy/haproxy.cfg; then
      cp /etc/haproxy/hardway.new /etc/haproxy/haproxy.cfg
      systemctl reload-or-restart haproxy
    fi
    wait='?wait_for_change=true'
  else
    wait=
    sleep 5
  fi
done
END_OF_FILE
fi

# balancer/instance: traffic for the API and the routes goes to healthy machines
if ! /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-balancer --zone=us-central1-a '--format=value(name)' >/dev/null 2>&1; then
  /site/gcloud --project=acme --quiet compute instances create ocp4-x7k2p-balancer --zone=us-central1-a --machine-type=e2-small --image-family=debian-12 --image-project=debian-cloud --network-interface=subnet=default,private-network-ip=192.168.126.10,aliases=192.168.126.11/32 --tags=ocp4-x7k2p-balancer --labels=kubernetes-io-cluster-ocp4-x7k2p=owned --no-service-account --no-scopes --metadata-from-file=startup-script=/site/work/gce/balancer.sh
fi

# balancer/config: the load balancer's configuration
if ! { [ "$(stat -c %a /site/work/gce/haproxy.cfg 2>/dev/null)" = 644 ] && sha256sum /site/work/gce/haproxy.cfg 2>/dev/null | grep -qF 1c949183a09f5e5041a8e2a3ff7cc97705ed6d4a11d5f3b0a48df6b4893b505b; }; then
  install -D -m 0644 /dev/stdin /site/work/gce/haproxy.cfg <<'END_OF_FILE'
# Made by hardway.
global
    maxconn 4000
    pidfile /run/haproxy.pid
    stats socket /run/haproxy/admin.sock mode 600 level admin

defaults
    mode tcp
    maxconn 3000
    option dontlognull
    option redispatch 1
    retries 3
    timeout queue 1m
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    timeout tunnel 1h
    timeout check 5s

listen api
    bind 192.168.126.10:6443
    balance roundrobin
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host api
    http-check expect status 200
    default-server check port 6443 check-ssl verify none inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server bootstrap 192.168.126.100:6443 backup
    server master-0 192.168.126.101:6443
    server master-1 192.168.126.102:6443
    server master-2 192.168.126.103:6443

listen machine-config-server
    bind 192.168.126.10:22623
    acl machines src 192.168.126.0/24
    tcp-request connection reject unless machines
    balance roundrobin
    option httpchk
    http-check send meth GET uri /healthz ver HTTP/1.1 hdr Host machine-config-server
    http-check expect status 200
    default-server check port 22623 check-ssl verify none inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server bootstrap 192.168.126.100:22623 backup
    server master-0 192.168.126.101:22623
    server master-1 192.168.126.102:22623
    server master-2 192.168.126.103:22623

listen ingress-https
    bind 192.168.126.11:443
    balance source
    option httpchk
    http-check send meth GET uri /healthz/ready ver HTTP/1.1 hdr Host ingress-https
    http-check expect status 200
    default-server check port 1936 inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server worker-0 192.168.126.110:443
    server worker-1 192.168.126.111:443

listen ingress-http
    bind 192.168.126.11:80
    balance source
    option httpchk
    http-check send meth GET uri /healthz/ready ver HTTP/1.1 hdr Host ingress-http
    http-check expect status 200
    default-server check port 1936 inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server worker-0 192.168.126.110:80
    server worker-1 192.168.126.111:80
END_OF_FILE
fi

# balancer/pushed: the load balancer's instance has its configuration
if ! { { [ "$(stat -c %a /site/work/gce/haproxy.pushed 2>/dev/null)" = 644 ] && sha256sum /site/work/gce/haproxy.pushed 2>/dev/null | grep -qF 1c949183a09f5e5041a8e2a3ff7cc97705ed6d4a11d5f3b0a48df6b4893b505b; } && /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-balancer --zone=us-central1-a '--format=value(name)' >/dev/null 2>&1; }; then
  /site/gcloud --project=acme --quiet compute instances add-metadata ocp4-x7k2p-balancer --zone=us-central1-a --metadata-from-file=haproxy-cfg=/site/work/gce/haproxy.cfg
  install -D -m 0644 /dev/stdin /site/work/gce/haproxy.pushed <<'END_OF_FILE'
# Made by hardway.
global
    maxconn 4000
    pidfile /run/haproxy.pid
    stats socket /run/haproxy/admin.sock mode 600 level admin

defaults
    mode tcp
    maxconn 3000
    option dontlognull
    option redispatch 1
    retries 3
    timeout queue 1m
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    timeout tunnel 1h
    timeout check 5s

listen api
    bind 192.168.126.10:6443
    balance roundrobin
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host api
    http-check expect status 200
    default-server check port 6443 check-ssl verify none inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server bootstrap 192.168.126.100:6443 backup
    server master-0 192.168.126.101:6443
    server master-1 192.168.126.102:6443
    server master-2 192.168.126.103:6443

listen machine-config-server
    bind 192.168.126.10:22623
    acl machines src 192.168.126.0/24
    tcp-request connection reject unless machines
    balance roundrobin
    option httpchk
    http-check send meth GET uri /healthz ver HTTP/1.1 hdr Host machine-config-server
    http-check expect status 200
    default-server check port 22623 check-ssl verify none inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server bootstrap 192.168.126.100:22623 backup
    server master-0 192.168.126.101:22623
    server master-1 192.168.126.102:22623
    server master-2 192.168.126.103:22623

listen ingress-https
    bind 192.168.126.11:443
    balance source
    option httpchk
    http-check send meth GET uri /healthz/ready ver HTTP/1.1 hdr Host ingress-https
    http-check expect status 200
    default-server check port 1936 inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server worker-0 192.168.126.110:443
    server worker-1 192.168.126.111:443

listen ingress-http
    bind 192.168.126.11:80
    balance source
    option httpchk
    http-check send meth GET uri /healthz/ready ver HTTP/1.1 hdr Host ingress-http
    http-check expect status 200
    default-server check port 1936 inter 2s fastinter 1s downinter 2s fall 2 rise 2 on-marked-down shutdown-sessions
    server worker-0 192.168.126.110:80
    server worker-1 192.168.126.111:80
END_OF_FILE
fi

# machine/bootstrap/instance: bootstrap (bootstrap) runs, and fetches its config from the ignition server
if ! /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-bootstrap --zone=us-central1-a '--format=value(name)' >/dev/null 2>&1; then
  sh -c 'test "$(wc -c < /site/work/ignition/pointers/bootstrap.ign)" -le 262144 || { echo '\''/site/work/ignition/pointers/bootstrap.ign is larger than 262144 bytes, the most that a metadata value holds'\'' >&2; exit 1; }'
  /site/gcloud --project=acme --quiet compute instances create ocp4-x7k2p-bootstrap --zone=us-central1-a --machine-type=n2-standard-4 --image=rhcos-418-94-gcp-x86-64 --image-project=rhcos-cloud --boot-disk-size=128GB --boot-disk-type=pd-ssd --subnet=default --private-network-ip=192.168.126.100 --tags=ocp4-x7k2p-bootstrap --labels=kubernetes-io-cluster-ocp4-x7k2p=owned,hardway-host=bootstrap,hardway-role=bootstrap --can-ip-forward --no-service-account --no-scopes --metadata=serial-port-enable=TRUE --metadata-from-file=user-data=/site/work/ignition/pointers/bootstrap.ign
fi

# machine/master-0/instance: master-0 (master) runs, and fetches its config from the ignition server
if ! /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-master-0 --zone=us-central1-a '--format=value(name)' >/dev/null 2>&1; then
  sh -c 'test "$(wc -c < /site/work/ignition/pointers/master-0.ign)" -le 262144 || { echo '\''/site/work/ignition/pointers/master-0.ign is larger than 262144 bytes, the most that a metadata value holds'\'' >&2; exit 1; }'
  /site/gcloud --project=acme --quiet compute instances create ocp4-x7k2p-master-0 --zone=us-central1-a --machine-type=n2-standard-4 --image=rhcos-418-94-gcp-x86-64 --image-project=rhcos-cloud --boot-disk-size=128GB --boot-disk-type=pd-ssd --subnet=default --private-network-ip=192.168.126.101 --tags=ocp4-x7k2p-master --labels=kubernetes-io-cluster-ocp4-x7k2p=owned,hardway-host=master-0,hardway-role=master --can-ip-forward --no-service-account --no-scopes --metadata=serial-port-enable=TRUE --metadata-from-file=user-data=/site/work/ignition/pointers/master-0.ign
fi

# machine/master-1/instance: master-1 (master) runs, and fetches its config from the ignition server
if ! /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-master-1 --zone=us-central1-b '--format=value(name)' >/dev/null 2>&1; then
  sh -c 'test "$(wc -c < /site/work/ignition/pointers/master-1.ign)" -le 262144 || { echo '\''/site/work/ignition/pointers/master-1.ign is larger than 262144 bytes, the most that a metadata value holds'\'' >&2; exit 1; }'
  /site/gcloud --project=acme --quiet compute instances create ocp4-x7k2p-master-1 --zone=us-central1-b --machine-type=n2-standard-4 --image=rhcos-418-94-gcp-x86-64 --image-project=rhcos-cloud --boot-disk-size=128GB --boot-disk-type=pd-ssd --subnet=default --private-network-ip=192.168.126.102 --tags=ocp4-x7k2p-master --labels=kubernetes-io-cluster-ocp4-x7k2p=owned,hardway-host=master-1,hardway-role=master --can-ip-forward --no-service-account --no-scopes --metadata=serial-port-enable=TRUE --metadata-from-file=user-data=/site/work/ignition/pointers/master-1.ign
fi

# machine/master-2/instance: master-2 (master) runs, and fetches its config from the ignition server
if ! /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-master-2 --zone=us-central1-a '--format=value(name)' >/dev/null 2>&1; then
  sh -c 'test "$(wc -c < /site/work/ignition/pointers/master-2.ign)" -le 262144 || { echo '\''/site/work/ignition/pointers/master-2.ign is larger than 262144 bytes, the most that a metadata value holds'\'' >&2; exit 1; }'
  /site/gcloud --project=acme --quiet compute instances create ocp4-x7k2p-master-2 --zone=us-central1-a --machine-type=n2-standard-4 --image=rhcos-418-94-gcp-x86-64 --image-project=rhcos-cloud --boot-disk-size=128GB --boot-disk-type=pd-ssd --subnet=default --private-network-ip=192.168.126.103 --tags=ocp4-x7k2p-master --labels=kubernetes-io-cluster-ocp4-x7k2p=owned,hardway-host=master-2,hardway-role=master --can-ip-forward --no-service-account --no-scopes --metadata=serial-port-enable=TRUE --metadata-from-file=user-data=/site/work/ignition/pointers/master-2.ign
fi

# machine/worker-0/instance: worker-0 (worker) runs, and fetches its config from the ignition server
if ! /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-worker-0 --zone=us-central1-a '--format=value(name)' >/dev/null 2>&1; then
  sh -c 'test "$(wc -c < /site/work/ignition/pointers/worker-0.ign)" -le 262144 || { echo '\''/site/work/ignition/pointers/worker-0.ign is larger than 262144 bytes, the most that a metadata value holds'\'' >&2; exit 1; }'
  /site/gcloud --project=acme --quiet compute instances create ocp4-x7k2p-worker-0 --zone=us-central1-a --machine-type=n2-standard-4 --image=rhcos-418-94-gcp-x86-64 --image-project=rhcos-cloud --boot-disk-size=128GB --boot-disk-type=pd-ssd --subnet=default --private-network-ip=192.168.126.110 --tags=ocp4-x7k2p-worker --labels=kubernetes-io-cluster-ocp4-x7k2p=owned,hardway-host=worker-0,hardway-role=worker --can-ip-forward --no-service-account --no-scopes --metadata=serial-port-enable=TRUE --metadata-from-file=user-data=/site/work/ignition/pointers/worker-0.ign
fi

# machine/worker-1/instance: worker-1 (worker) runs, and fetches its config from the ignition server
if ! /site/gcloud --project=acme --quiet compute instances describe ocp4-x7k2p-worker-1 --zone=us-central1-b '--format=value(name)' >/dev/null 2>&1; then
  sh -c 'test "$(wc -c < /site/work/ignition/pointers/worker-1.ign)" -le 262144 || { echo '\''/site/work/ignition/pointers/worker-1.ign is larger than 262144 bytes, the most that a metadata value holds'\'' >&2; exit 1; }'
  /site/gcloud --project=acme --quiet compute instances create ocp4-x7k2p-worker-1 --zone=us-central1-b --machine-type=n2-standard-4 --image=rhcos-418-94-gcp-x86-64 --image-project=rhcos-cloud --boot-disk-size=128GB --boot-disk-type=pd-ssd --subnet=default --private-network-ip=192.168.126.111 --tags=ocp4-x7k2p-worker --labels=kubernetes-io-cluster-ocp4-x7k2p=owned,hardway-host=worker-1,hardway-role=worker --can-ip-forward --no-service-account --no-scopes --metadata=serial-port-enable=TRUE --metadata-from-file=user-data=/site/work/ignition/pointers/worker-1.ign
fi
