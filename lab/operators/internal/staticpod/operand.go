// Package staticpod rolls a static pod out to the masters: revisions of what it needs, and an installer pod for each
// node and revision, one node at a time (library-go pkg/operator/staticpod).
package staticpod

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hardway.dev/lab/operators/internal/kube"
)

// Resource is a ConfigMap or Secret of the operand's namespace.
type Resource struct {
	Name     string
	Optional bool
}

// Operand is a static pod with all that it needs.
type Operand struct {
	// Name is that of the ClusterOperator; the pod's ConfigMap is <PodPrefix>-pod.
	Name      string
	Namespace string
	// PodPrefix begins the folder and file on the node.
	PodPrefix string
	// MirrorPrefix begins the pod's name in the API; the kubelet adds the node's name.
	MirrorPrefix string
	// Kind is the operator's own object, such as etcds.
	Kind schema.GroupVersionResource
	// ConfigMaps and Secrets are copied for each revision.
	ConfigMaps, Secrets []Resource
	// CertConfigMaps and CertSecrets lie beside the revisions and are replaced in place.
	CertDir                     string
	CertConfigMaps, CertSecrets []Resource
	// HoldFor is how long a revision may take to get everywhere before a newer one overtakes it. With nothing, as upstream, that is
	// at once. etcd and the API server restart for half a minute on two cores, and would twice more during an install.
	HoldFor time.Duration
	// Command is the program in the operator's image that knows `installer` and `cert-syncer`.
	Command string
}

// Required lists the names that are not optional.
func Required(resources []Resource) []string {
	var names []string
	for _, resource := range resources {
		if !resource.Optional {
			names = append(names, resource.Name)
		}
	}
	return names
}

// Optional lists the others.
func Optional(resources []Resource) []string {
	var names []string
	for _, resource := range resources {
		if resource.Optional {
			names = append(names, resource.Name)
		}
	}
	return names
}

// Controller brings one operand to the masters.
type Controller struct {
	*kube.Clients
	Operand Operand
	// Image is the operator's own.
	Image string
}
