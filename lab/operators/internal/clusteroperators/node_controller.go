package clusteroperators

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hardway.dev/lab/operators/internal/kube"
)

const (
	masterRole = "node-role.kubernetes.io/master"
	workerRole = "node-role.kubernetes.io/worker"
)

// MarkMasters lets masters take any pod, or keeps pods away from them, as the Scheduler object says. Kubelets register
// masters with the taint (machine-config-operator pkg/controller/node/node_controller.go, reconcileMaster).
func MarkMasters(ctx context.Context, clients *kube.Clients, areSchedulable bool) error {
	nodes, err := clients.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: masterRole})
	if err != nil {
		return err
	}
	var all []error
	for _, node := range nodes.Items {
		if patch := masterPatch(&node, areSchedulable); patch != nil {
			_, err := clients.Kube.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// masterPatch is nothing for a node that is as it should be. It carries the version that was read: taints are replaced as
// a whole, and others set theirs too.
func masterPatch(node *corev1.Node, isSchedulable bool) []byte {
	_, isWorker := node.Labels[workerRole]
	isTaint := func(taint corev1.Taint) bool {
		return taint.Key == masterRole && taint.Effect == corev1.TaintEffectNoSchedule
	}
	if isWorker == isSchedulable && slices.ContainsFunc(node.Spec.Taints, isTaint) != isSchedulable {
		return nil
	}
	taints := slices.DeleteFunc(slices.Clone(node.Spec.Taints), isTaint)
	var label any
	if isSchedulable {
		label = ""
	} else {
		taints = append(taints, corev1.Taint{Key: masterRole, Effect: corev1.TaintEffectNoSchedule})
	}
	patch, _ := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]any{workerRole: label}, "resourceVersion": node.ResourceVersion},
		"spec":     map[string]any{"taints": taints},
	})
	return patch
}
