package controllermanager

import (
	_ "embed"
	"errors"
	"strings"

	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
)

//go:embed config.yaml
var defaults string

// Facts are what the configuration is observed from.
type Facts struct {
	Infrastructure kube.Infrastructure
	Network        kube.Network
	Gates          gates.Gates
}

// Observe computes the configuration (cluster-kube-controller-manager-operator pkg/operator/configobservation). Without
// gates or a cluster name it refuses.
func Observe(facts Facts) (controlplane.Document, error) {
	if facts.Infrastructure.Name == "" {
		return nil, errors.New("extendedArguments.cluster-name missing from config")
	}
	flags := facts.Gates.Flags()
	if len(flags) == 0 {
		return nil, errors.New("extendedArguments.feature-gates missing from config")
	}
	var pods []any
	for _, network := range facts.Network.PodNetworks {
		pods = append(pods, network.CIDR.String())
	}
	document := controlplane.ReadDocument(defaults)
	set := func(name string, values ...any) { document.SetArguments("extendedArguments", name, values...) }
	set("cluster-name", facts.Infrastructure.Name)
	// One flag a pod network, but one for all service networks.
	set("cluster-cidr", pods...)
	set("service-cluster-ip-range", strings.Join(facts.Network.ServiceNetworks, ","))
	set("feature-gates", flags...)
	return document, nil
}

// Arguments are the command line: the files, and everything of the configuration, which the program does not read
// from there.
func Arguments(document controlplane.Document) []string {
	const kubeconfig = "/etc/kubernetes/static-pod-resources/configmaps/controller-manager-kubeconfig/kubeconfig"
	first := []string{
		"--openshift-config=/etc/kubernetes/static-pod-resources/configmaps/config/config.yaml",
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--client-ca-file=/etc/kubernetes/static-pod-certs/configmaps/client-ca/ca-bundle.crt",
		"--requestheader-client-ca-file=/etc/kubernetes/static-pod-certs/configmaps/aggregator-client-ca/ca-bundle.crt",
		"--v=2",
	}
	return append(first, document.Flags("extendedArguments")...)
}
