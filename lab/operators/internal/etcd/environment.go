package etcd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/kube"
)

// Facts are what the environment of etcd is computed from.
type Facts struct {
	Endpoints Endpoints
	Nodes     []corev1.Node
	// InstallConfig is cluster-config-v1's install-config.
	InstallConfig string
}

// Environment computes the variables of the static pod, the same on every master: each finds its own by its name
// (cluster-etcd-operator pkg/etcdenvvar/etcd_env.go).
func Environment(facts Facts) ([]corev1.EnvVar, error) {
	if len(facts.Nodes) == 0 {
		return nil, errors.New("empty NodeStatuses, can't generate environment for getEtcdName")
	}
	all, err := facts.Endpoints.URLs(true)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("configmaps/etcd-endpoints names no etcd at all")
	}
	learners, err := replicas(facts.InstallConfig)
	if err != nil {
		return nil, err
	}
	variables := []corev1.EnvVar{
		{Name: "ALL_ETCD_ENDPOINTS", Value: strings.Join(all, ",")},
		{Name: "ETCD_DATA_DIR", Value: "/var/lib/etcd"},
		{Name: "ETCD_ELECTION_TIMEOUT", Value: "1000"},
		{Name: "ETCD_EXPERIMENTAL_MAX_LEARNERS", Value: strconv.Itoa(learners)},
		{Name: "ETCD_EXPERIMENTAL_WATCH_PROGRESS_NOTIFY_INTERVAL", Value: "5s"},
		{Name: "ETCD_HEARTBEAT_INTERVAL", Value: "100"},
		{Name: "ETCD_INITIAL_CLUSTER_STATE", Value: "existing"},
		{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "8589934592"},
		{Name: "ETCD_SOCKET_REUSE_ADDRESS", Value: "true"},
	}
	for _, node := range facts.Nodes {
		ips := kube.InternalIPs(&node)
		if len(ips) == 0 {
			return nil, fmt.Errorf("could not retrieve internal IP addresses for node %s", node.Name)
		}
		host := ips[0]
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		prefix := "NODE_" + strings.NewReplacer("-", "_", ".", "_").Replace(node.Name)
		variables = append(variables,
			corev1.EnvVar{Name: prefix + "_ETCD_NAME", Value: node.Name},
			corev1.EnvVar{Name: prefix + "_ETCD_URL_HOST", Value: host},
			corev1.EnvVar{Name: prefix + "_IP", Value: host},
		)
	}
	return variables, nil
}

// replicas is how many masters were asked for: as many may catch up at once.
func replicas(installConfig string) (int, error) {
	var config struct {
		ControlPlane struct {
			Replicas *int `json:"replicas"`
		} `json:"controlPlane"`
	}
	if err := yaml.Unmarshal([]byte(installConfig), &config); err != nil {
		return 0, fmt.Errorf("install-config in configmap %s/cluster-config-v1: %w", Namespace, err)
	}
	if config.ControlPlane.Replicas == nil {
		return 0, fmt.Errorf("install-config in configmap %s/cluster-config-v1 has no controlPlane.replicas", Namespace)
	}
	return *config.ControlPlane.Replicas, nil
}
