// Package etcd stands in for cluster-etcd-operator: it takes over the seeded signers, rolls etcd out to the masters,
// adds them as members one by one, and removes the bootstrap member when it may.
package etcd

import (
	"time"

	"hardway.dev/lab/operators/internal/kube"
	"hardway.dev/lab/operators/internal/staticpod"
)

// Where things are (cluster-etcd-operator pkg/operator/operatorclient, pkg/tlshelpers).
const (
	Namespace         = "openshift-etcd"
	OperatorNamespace = "openshift-etcd-operator"
	BootstrapMember   = "etcd-bootstrap"
	// BootstrapAnnotation holds the address of the member that will go.
	BootstrapAnnotation = "alpha.installer.openshift.io/etcd-bootstrap"
)

// Kind is etcds.operator.openshift.io.
var Kind = kube.OperatorResource("etcds")

// Operand is etcd on the masters (cluster-etcd-operator pkg/operator/starter.go RevisionConfigMaps, RevisionSecrets).
var Operand = staticpod.Operand{
	Name:         "etcd",
	Namespace:    Namespace,
	PodPrefix:    "etcd",
	MirrorPrefix: "etcd",
	Kind:         Kind,
	HoldFor:      5 * time.Minute,
	Command:      "cluster-etcd-operator",
	ConfigMaps:   []staticpod.Resource{{Name: "etcd-pod"}, {Name: "etcd-endpoints"}, {Name: "etcd-all-bundles"}},
	Secrets:      []staticpod.Resource{{Name: "etcd-all-certs"}},
	CertDir:      "etcd-certs",
	CertConfigMaps: []staticpod.Resource{
		{Name: "etcd-all-bundles"},
	},
	CertSecrets: []staticpod.Resource{{Name: "etcd-all-certs"}},
}

func here(name string) kube.Ref { return kube.Ref{Namespace: Namespace, Name: name} }
