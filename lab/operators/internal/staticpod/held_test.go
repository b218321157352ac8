package staticpod

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"hardway.dev/lab/operators/internal/kube"
)

// A revision under way holds the next one up where that was asked for, but not for ever.
func TestIsHeld(t *testing.T) {
	for name, c := range map[string]struct {
		hold   time.Duration
		age    time.Duration
		latest int32
		nodes  []kube.NodeStatus
		want   bool
	}{
		"as upstream":   {0, time.Minute, 1, []kube.NodeStatus{node("a", 1, 0), node("b", 0, 1)}, false},
		"nothing yet":   {5 * time.Minute, 0, 0, []kube.NodeStatus{node("a", 0, 0)}, false},
		"just begun":    {5 * time.Minute, 2 * time.Second, 1, []kube.NodeStatus{node("a", 0, 1)}, false},
		"under way":     {5 * time.Minute, time.Minute, 1, []kube.NodeStatus{node("a", 1, 0), node("b", 0, 1)}, true},
		"everywhere":    {5 * time.Minute, time.Minute, 1, []kube.NodeStatus{node("a", 1, 0)}, false},
		"it gets stuck": {5 * time.Minute, time.Hour, 1, []kube.NodeStatus{node("a", 0, 1)}, false},
	} {
		created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", Name: "revision-status-1", CreationTimestamp: metav1.NewTime(time.Now().Add(-c.age)),
		}}
		operand := operand
		operand.HoldFor = c.hold
		controller := &Controller{Clients: &kube.Clients{Kube: fake.NewSimpleClientset(created)}, Operand: operand}
		held, err := controller.IsHeld(context.Background(), &kube.Status{LatestAvailableRevision: c.latest, NodeStatuses: c.nodes})
		if err != nil || held != c.want {
			t.Errorf("%s: %v, %v", name, held, err)
		}
	}
}
