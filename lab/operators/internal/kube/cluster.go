package kube

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"sort"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Infrastructure is what operators read of infrastructures.config.openshift.io/cluster.
type Infrastructure struct {
	Name                   string
	APIServerURL           string
	APIServerInternalURI   string
	ControlPlaneTopology   string
	InfrastructureTopology string
}

// IsSingleNode tells whether the control plane has one node only.
func (i Infrastructure) IsSingleNode() bool { return i.ControlPlaneTopology == "SingleReplica" }

// ErrNoInternalURI is what the control plane's operators stop at when the field is empty, which it also is when it was
// written under another name (cluster-kube-controller-manager-operator
// pkg/operator/targetconfigcontroller/targetconfigcontroller.go manageControllerManagerKubeconfig).
var ErrNoInternalURI = errors.New("infrastructure/cluster: missing apiServerInternalURI")

// InternalURL is the address that nodes and operands use.
func (i Infrastructure) InternalURL() (*url.URL, error) {
	if i.APIServerInternalURI == "" {
		return nil, ErrNoInternalURI
	}
	return url.Parse(i.APIServerInternalURI)
}

// ReadInfrastructure reads the object; one without a topology is not usable.
func (c *Clients) ReadInfrastructure(ctx context.Context) (Infrastructure, error) {
	object, err := c.Dynamic.Resource(Infrastructures).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return Infrastructure{}, fmt.Errorf("infrastructures/cluster: %w", err)
	}
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(object.Object, "status", field)
		return value
	}
	infrastructure := Infrastructure{
		Name:                   text("infrastructureName"),
		APIServerURL:           text("apiServerURL"),
		APIServerInternalURI:   text("apiServerInternalURI"),
		ControlPlaneTopology:   text("controlPlaneTopology"),
		InfrastructureTopology: text("infrastructureTopology"),
	}
	if infrastructure.ControlPlaneTopology == "" {
		return infrastructure, errors.New("infrastructures/cluster: status.controlPlaneTopology is not set")
	}
	return infrastructure, nil
}

// Network is what operators read of networks.config.openshift.io/cluster.
type Network struct {
	PodNetworks     []PodNetwork
	ServiceNetworks []string
}

// PodNetwork is one range of pod addresses, cut into one subnet a node.
type PodNetwork struct {
	CIDR       netip.Prefix
	HostPrefix int
}

// ReadNetwork reads the object; without networks in it nothing can be configured.
func (c *Clients) ReadNetwork(ctx context.Context) (Network, error) {
	object, err := c.Dynamic.Resource(Networks).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return Network{}, fmt.Errorf("networks/cluster: %w", err)
	}
	var network Network
	network.ServiceNetworks, _, _ = unstructured.NestedStringSlice(object.Object, "spec", "serviceNetwork")
	entries, _, _ := unstructured.NestedSlice(object.Object, "spec", "clusterNetwork")
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		cidr, _, _ := unstructured.NestedString(fields, "cidr")
		prefix, _, _ := unstructured.NestedInt64(fields, "hostPrefix")
		parsed, err := netip.ParsePrefix(cidr)
		if err != nil {
			return network, fmt.Errorf("networks/cluster: clusterNetwork: %w", err)
		}
		network.PodNetworks = append(network.PodNetworks, PodNetwork{CIDR: parsed, HostPrefix: int(prefix)})
	}
	if len(network.PodNetworks) == 0 || len(network.ServiceNetworks) == 0 {
		return network, errors.New("networks/cluster: clusterNetwork and serviceNetwork must be set")
	}
	return network, nil
}

// Masters lists the nodes that carry the control plane, by name.
func (c *Clients) Masters(ctx context.Context) ([]corev1.Node, error) {
	list, err := c.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/master"})
	if err != nil {
		return nil, err
	}
	sort.Slice(list.Items, func(i, j int) bool { return list.Items[i].Name < list.Items[j].Name })
	return list.Items, nil
}

// InternalIPs are a node's addresses, the first being the one that is advertised.
func InternalIPs(node *corev1.Node) []string {
	var ips []string
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			ips = append(ips, address.Address)
		}
	}
	return ips
}

// IsReady tells whether a node can run pods.
func IsReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// IsBootstrapComplete tells whether the bootstrap host has reported its end: ConfigMap kube-system/bootstrap with
// status=complete (library-go pkg/operator/bootstrap).
func (c *Clients) IsBootstrapComplete(ctx context.Context) (bool, error) {
	found, err := c.Kube.CoreV1().ConfigMaps("kube-system").Get(ctx, "bootstrap", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return found.Data["status"] == "complete", nil
}
