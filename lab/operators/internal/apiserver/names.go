// Package apiserver stands in for cluster-kube-apiserver-operator: it takes over the seeded signers and keys, and
// rolls the API server out to the masters once etcd has enough endpoints.
package apiserver

import (
	"time"

	"hardway.dev/lab/operators/internal/controlplane"
	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/staticpod"
)

// Where things are (cluster-kube-apiserver-operator pkg/operator/operatorclient).
const (
	Namespace         = "openshift-kube-apiserver"
	OperatorNamespace = "openshift-kube-apiserver-operator"
	config            = "openshift-config"
	managed           = "openshift-config-managed"
)

// Kind is kubeapiservers.operator.openshift.io.
var Kind = kube.OperatorResource("kubeapiservers")

// Operand is the API server on the masters (cluster-kube-apiserver-operator pkg/operator/starter.go). Left out are the
// objects of sidecars that the lab does not run: check-endpoints, cert-regeneration.
var Operand = staticpod.Operand{
	Name:         "kube-apiserver",
	Namespace:    Namespace,
	PodPrefix:    "kube-apiserver",
	MirrorPrefix: "kube-apiserver",
	Kind:         Kind,
	HoldFor:      5 * time.Minute,
	Command:      "cluster-kube-apiserver-operator",
	ConfigMaps: []staticpod.Resource{
		{Name: "kube-apiserver-pod"}, {Name: "config"}, {Name: "kube-apiserver-cert-syncer-kubeconfig"},
		{Name: "oauth-metadata", Optional: true}, {Name: "cloud-config", Optional: true},
		{Name: "bound-sa-token-signing-certs"}, {Name: "etcd-serving-ca"},
		{Name: "kube-apiserver-server-ca", Optional: true}, {Name: "kubelet-serving-ca"},
		{Name: "sa-token-signing-certs"}, {Name: "kube-apiserver-audit-policies"},
	},
	Secrets: []staticpod.Resource{
		{Name: "etcd-client"}, {Name: "encryption-config", Optional: true}, {Name: "localhost-recovery-serving-certkey"},
		{Name: controlplane.RecoveryToken}, {Name: "webhook-authenticator", Optional: true},
	},
	CertDir:        "kube-apiserver-certs",
	CertConfigMaps: []staticpod.Resource{{Name: "aggregator-client-ca"}, {Name: "client-ca"}, {Name: "trusted-ca-bundle", Optional: true}},
	CertSecrets: []staticpod.Resource{
		{Name: "aggregator-client"}, {Name: "localhost-serving-cert-certkey"}, {Name: "service-network-serving-certkey"},
		{Name: "external-loadbalancer-serving-certkey"}, {Name: "internal-loadbalancer-serving-certkey"},
		{Name: "bound-service-account-signing-key"}, {Name: "control-plane-node-admin-client-cert-key"}, {Name: "kubelet-client"},
	},
}

func here(name string) kube.Ref       { return kube.Ref{Namespace: Namespace, Name: name} }
func atOperator(name string) kube.Ref { return kube.Ref{Namespace: OperatorNamespace, Name: name} }
func inManaged(name string) kube.Ref  { return kube.Ref{Namespace: managed, Name: name} }
func inConfig(name string) kube.Ref   { return kube.Ref{Namespace: config, Name: name} }
