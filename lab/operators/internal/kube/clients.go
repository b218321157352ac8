// Package kube holds what every stand-in does with the API: connect, copy objects, keep conditions.
package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Clients talk to one API server.
type Clients struct {
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	Config  *rest.Config
}

// The kinds of OpenShift that the stand-ins read and write. All are cluster-scoped.
var (
	ClusterOperators = config("clusteroperators")
	ClusterVersions  = config("clusterversions")
	FeatureGates     = config("featuregates")
	Infrastructures  = config("infrastructures")
	Networks         = config("networks")
	Ingresses        = config("ingresses")
	Schedulers       = config("schedulers")
)

// Connect reads a kubeconfig, or the pod's own service account when there is none.
func Connect(kubeconfig string) (*Clients, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %q: %w", kubeconfig, err)
	}
	return ForConfig(config)
}

// ForConfig makes clients of a finished configuration.
func ForConfig(config *rest.Config) (*Clients, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 200, 400
	config.WarningHandler = rest.NoWarnings{}
	plain, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	any, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Clients{Kube: plain, Dynamic: any, Config: config}, nil
}

func config(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: resource}
}

// OperatorResource is a kind of operator.openshift.io/v1, such as etcds.
func OperatorResource(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: resource}
}
