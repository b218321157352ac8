package network

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/kube"
)

//go:embed daemonset.yaml
var daemonSetTemplate string

// Operator is the stand-in.
type Operator struct {
	*kube.Clients
	OperatorImage, ProxyImage string
	Version                   string
}

// Pass gives nodes their subnets and keeps the DaemonSet; what keeps it from that is the ClusterOperator's Degraded.
func (o *Operator) Pass(ctx context.Context) error {
	status, err := o.reconcile(ctx)
	return o.WriteClusterOperator(ctx, "network", Conditions(status, err), []kube.OperandVersion{{Name: "operator", Version: o.Version}})
}

// Conditions are the ClusterOperator's.
func Conditions(status appsv1.DaemonSetStatus, err error) []kube.Condition {
	condition := func(kind string, is bool, reason, message string) kube.Condition {
		if is {
			return kube.Condition{Type: kind, Status: kube.True, Reason: reason, Message: message}
		}
		return kube.Condition{Type: kind, Status: kube.False, Reason: "AsExpected"}
	}
	isAvailable := status.NumberAvailable > 0
	isProgressing := status.NumberAvailable < status.DesiredNumberScheduled || status.DesiredNumberScheduled == 0
	degraded := condition("Degraded", false, "", "")
	if err != nil {
		degraded = condition("Degraded", true, "ApplyOperatorConfig", err.Error())
	}
	available := condition("Available", isAvailable, "AsExpected", "the pod network is set up")
	if !isAvailable {
		available.Reason, available.Message = "Startup", "The network is starting up"
	}
	message := fmt.Sprintf("DaemonSet %q is not available on %d of %d nodes", Namespace+"/"+daemonSet,
		status.DesiredNumberScheduled-status.NumberAvailable, status.DesiredNumberScheduled)
	return []kube.Condition{
		available, degraded, condition("Progressing", isProgressing, "Deploying", message),
		{Type: "Upgradeable", Status: kube.True, Reason: "AsExpected"},
	}
}

// Where the DaemonSet is.
const (
	Namespace = "openshift-network-operator"
	daemonSet = "lab-network"
)

func (o *Operator) reconcile(ctx context.Context) (appsv1.DaemonSetStatus, error) {
	var none appsv1.DaemonSetStatus
	infrastructure, err := o.ReadInfrastructure(ctx)
	if err != nil {
		return none, err
	}
	// Upstream's pods get the address from a file that is rendered from this very field; without it no node ever has
	// a network.
	internal, err := infrastructure.InternalURL()
	if err != nil {
		return none, err
	}
	network, err := o.ReadNetwork(ctx)
	if err != nil {
		return none, err
	}
	if err := o.assign(ctx, network); err != nil {
		return none, err
	}
	text := strings.NewReplacer(
		"${OPERATOR_IMAGE}", o.OperatorImage, "${PROXY_IMAGE}", o.ProxyImage,
		"${API_HOST}", internal.Hostname(), "${API_PORT}", internal.Port(), "${API_URL}", internal.String(),
		"${POD_NETWORK}", network.PodNetworks[0].CIDR.String(),
	).Replace(daemonSetTemplate)
	return o.apply(ctx, text)
}

func (o *Operator) assign(ctx context.Context, network kube.Network) error {
	nodes, err := o.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	taken, names := map[string]netip.Prefix{}, []string{}
	for _, node := range nodes.Items {
		names = append(names, node.Name)
		if prefix, err := netip.ParsePrefix(node.Annotations[SubnetAnnotation]); err == nil {
			taken[node.Name] = prefix
		}
	}
	given, err := Assign(network.PodNetworks[0], taken, names)
	if err != nil {
		return err
	}
	for node, prefix := range given {
		patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{SubnetAnnotation: prefix.String()}}})
		if _, err := o.Kube.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operator) apply(ctx context.Context, text string) (appsv1.DaemonSetStatus, error) {
	encoded, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return appsv1.DaemonSetStatus{}, err
	}
	force := true
	client := o.Kube.AppsV1().DaemonSets(Namespace)
	found, err := client.Patch(ctx, daemonSet, types.ApplyPatchType, encoded, metav1.PatchOptions{FieldManager: "cluster-network-operator", Force: &force})
	if err != nil {
		return appsv1.DaemonSetStatus{}, err
	}
	return found.Status, nil
}
