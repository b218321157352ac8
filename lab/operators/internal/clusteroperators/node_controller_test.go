package clusteroperators

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMastersAreMarkedAsTheSchedulerSays(t *testing.T) {
	taint := corev1.Taint{Key: masterRole, Effect: corev1.TaintEffectNoSchedule}
	other := corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}
	node := func(isWorker bool, taints ...corev1.Taint) *corev1.Node {
		labels := map[string]string{masterRole: ""}
		if isWorker {
			labels[workerRole] = ""
		}
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.NodeSpec{Taints: taints}}
	}
	for _, test := range []struct {
		name          string
		node          *corev1.Node
		isSchedulable bool
		taints        []corev1.Taint
	}{
		{"as registered, not schedulable", node(false, taint), false, nil},
		{"schedulable already", node(true, other), true, nil},
		{"becomes schedulable, keeps others' taints", node(false, taint, other), true, []corev1.Taint{other}},
		{"no longer schedulable", node(true), false, []corev1.Taint{taint}},
		{"without its taint", node(false), false, []corev1.Taint{taint}},
	} {
		patch := masterPatch(test.node, test.isSchedulable)
		if (patch == nil) != (test.taints == nil) {
			t.Fatalf("%s: %s", test.name, patch)
		}
		var got struct{ Spec corev1.NodeSpec }
		if patch != nil && json.Unmarshal(patch, &got) != nil || len(got.Spec.Taints) != len(test.taints) {
			t.Errorf("%s: %s", test.name, patch)
		}
		for i, want := range test.taints {
			if got.Spec.Taints[i] != want {
				t.Errorf("%s: %s", test.name, patch)
			}
		}
	}
}
