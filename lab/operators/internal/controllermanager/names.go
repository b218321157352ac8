// Package controllermanager stands in for cluster-kube-controller-manager-operator: it goes on signing kubelets'
// certificates where the bootstrap controller manager stops, with the key that was seeded for it.
package controllermanager

import (
	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/staticpod"
)

// Where things are (cluster-kube-controller-manager-operator pkg/operator/operatorclient).
const (
	Namespace         = "openshift-kube-controller-manager"
	OperatorNamespace = "openshift-kube-controller-manager-operator"
	managed           = "openshift-config-managed"
)

// Kind is kubecontrollermanagers.operator.openshift.io.
var Kind = kube.OperatorResource("kubecontrollermanagers")

// Operand is the controller manager on the masters (cluster-kube-controller-manager-operator pkg/operator/starter.go).
var Operand = staticpod.Operand{
	Name:         "kube-controller-manager",
	Namespace:    Namespace,
	PodPrefix:    "kube-controller-manager",
	MirrorPrefix: "kube-controller-manager",
	Kind:         Kind,
	Command:      "cluster-kube-controller-manager-operator",
	ConfigMaps: []staticpod.Resource{
		{Name: "kube-controller-manager-pod"}, {Name: "config"}, {Name: "cluster-policy-controller-config"},
		{Name: "controller-manager-kubeconfig"}, {Name: "cloud-config", Optional: true},
		{Name: "kube-controller-cert-syncer-kubeconfig"}, {Name: "serviceaccount-ca"}, {Name: "service-ca"}, {Name: "recycler-config"},
	},
	Secrets: []staticpod.Resource{
		{Name: "service-account-private-key"}, {Name: "serving-cert", Optional: true}, {Name: controlplane.RecoveryToken},
	},
	CertDir:        "kube-controller-manager-certs",
	CertConfigMaps: []staticpod.Resource{{Name: "aggregator-client-ca"}, {Name: "client-ca"}, {Name: "trusted-ca-bundle", Optional: true}},
	CertSecrets:    []staticpod.Resource{{Name: "kube-controller-manager-client-cert-key"}, {Name: "csr-signer"}},
}

func here(name string) kube.Ref       { return kube.Ref{Namespace: Namespace, Name: name} }
func atOperator(name string) kube.Ref { return kube.Ref{Namespace: OperatorNamespace, Name: name} }
func inManaged(name string) kube.Ref  { return kube.Ref{Namespace: managed, Name: name} }
