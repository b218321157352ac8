package clusteroperators

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hardway.dev/lab/operators/internal/kube"
)

// Run makes passes until the context ends.
func Run(ctx context.Context, clients *kube.Clients, version string, every time.Duration) {
	last := ""
	for ctx.Err() == nil {
		err := Pass(ctx, clients, version)
		if text := fmt.Sprint(err); err != nil && text != last && ctx.Err() == nil {
			log.Print(text)
			last = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// standIn marks the ClusterOperators of this table in their manifests. One without it belongs to a real operator, which speaks for itself.
const standIn = "hardway.dev/lab"

// Pass reports on every operator whose ClusterOperator the version operator has created.
func Pass(ctx context.Context, clients *kube.Clients, version string) error {
	facts, err := ReadFacts(ctx, clients)
	if err != nil {
		return err
	}
	var all []error
	for _, row := range Table {
		if facts.Real[row.Name] {
			continue
		}
		missing := row.Missing(facts)
		if len(missing) == 0 {
			all = append(all, SideEffect(ctx, clients, row.Name, facts))
		}
		versions := []kube.OperandVersion{{Name: "operator", Version: version}}
		for _, name := range row.Versions {
			versions = append(versions, kube.OperandVersion{Name: name, Version: version})
		}
		err := clients.WriteClusterOperator(ctx, row.Name, Conditions(missing), versions)
		if err != nil && !apierrors.IsNotFound(err) {
			all = append(all, fmt.Errorf("clusteroperator/%s: %w", row.Name, err))
		}
	}
	return errors.Join(all...)
}

// Conditions say what is waited for. Not available yet is no fault: Degraded stays False.
func Conditions(missing []string) []kube.Condition {
	degraded := kube.Condition{Type: "Degraded", Status: kube.False, Reason: "AsExpected"}
	upgradeable := kube.Condition{Type: "Upgradeable", Status: kube.True, Reason: "AsExpected"}
	if len(missing) == 0 {
		return []kube.Condition{
			{Type: "Available", Status: kube.True, Reason: "AsExpected"},
			{Type: "Progressing", Status: kube.False, Reason: "AsExpected"}, degraded, upgradeable,
		}
	}
	message := strings.Join(missing, "; ")
	return []kube.Condition{
		{Type: "Available", Status: kube.False, Reason: "WaitingForPrerequisites", Message: message},
		{Type: "Progressing", Status: kube.True, Reason: "WaitingForPrerequisites", Message: message}, degraded, upgradeable,
	}
}

// ReadFacts reads what needs look at. Objects that are not there yet leave their fields empty.
func ReadFacts(ctx context.Context, clients *kube.Clients) (Facts, error) {
	facts := Facts{Available: map[string]bool{}, Real: map[string]bool{}}
	operators, err := clients.Dynamic.Resource(kube.ClusterOperators).List(ctx, metav1.ListOptions{})
	if err != nil {
		return facts, err
	}
	for _, operator := range operators.Items {
		condition := kube.FindCondition(kube.ClusterOperatorConditions(&operator), "Available")
		facts.Available[operator.GetName()] = condition.Status == kube.True
		facts.Real[operator.GetName()] = operator.GetAnnotations()[standIn] != "stand-in"
	}
	nodes, err := clients.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return facts, err
	}
	facts.nodes(nodes.Items)
	infrastructure, err := clients.ReadInfrastructure(ctx)
	if err != nil && !apierrors.IsNotFound(errors.Unwrap(err)) {
		log.Print(err)
	}
	facts.ControlPlaneTopology, facts.InfrastructureTopology = infrastructure.ControlPlaneTopology, infrastructure.InfrastructureTopology
	dnses := schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "dnses"}
	facts.BaseDomain = text(ctx, clients, dnses, "spec", "baseDomain")
	facts.IngressDomain = text(ctx, clients, kube.Ingresses, "spec", "domain")
	facts.IngressPlacement = text(ctx, clients, kube.Ingresses, "status", "defaultPlacement")
	if scheduler, err := clients.Dynamic.Resource(kube.Schedulers).Get(ctx, "cluster", metav1.GetOptions{}); err == nil {
		facts.MastersSchedulable, _, _ = unstructured.NestedBool(scheduler.Object, "spec", "mastersSchedulable")
	}
	facts.KubeadminError, err = kubeadminError(ctx, clients)
	return facts, err
}

func (f *Facts) nodes(nodes []corev1.Node) {
	for _, node := range nodes {
		_, isMaster := node.Labels["node-role.kubernetes.io/master"]
		if isMaster {
			f.HasMasters = true
			if node.Annotations[currentConfig] == "" {
				f.UnannotatedMasters = append(f.UnannotatedMasters, node.Name)
			}
			if node.Annotations[nodeState] == "Degraded" {
				f.DegradedMasters = append(f.DegradedMasters, fmt.Sprintf("node %s is reporting: %q", node.Name, node.Annotations[nodeReason]))
			}
		}
		if !kube.IsReady(&node) {
			continue
		}
		if isMaster {
			f.ReadyMasters = append(f.ReadyMasters, node.Name)
		} else {
			f.ReadyWorkers = append(f.ReadyWorkers, node.Name)
		}
	}
}

// kubeadminError looks at the Secret as the OAuth server does: a bcrypt hash, and made within an hour of kube-system
// (library-go pkg/authentication/bootstrapauthenticator). Without it there is no first user, which is allowed.
func kubeadminError(ctx context.Context, clients *kube.Clients) (string, error) {
	secret, err := clients.Kube.CoreV1().Secrets("kube-system").Get(ctx, "kubeadmin", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	namespace, err := clients.Kube.CoreV1().Namespaces().Get(ctx, "kube-system", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(string(secret.Data["kubeadmin"]), "$2") {
		return "secret kube-system/kubeadmin holds no bcrypt hash", nil
	}
	if secret.CreationTimestamp.After(namespace.CreationTimestamp.Add(time.Hour)) {
		return "secret kube-system/kubeadmin is more than an hour younger than kube-system, and is not believed", nil
	}
	return "", nil
}

func text(ctx context.Context, clients *kube.Clients, resource schema.GroupVersionResource, path ...string) string {
	object, err := clients.Dynamic.Resource(resource).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(object.Object, path...)
	return value
}
