package staticpod

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"hardway.dev/lab/operators/internal/kube"
)

// A node that is done hands over to the next within one pass: between passes there is nothing to wait for.
func TestInstallGoesOnUntilItHasToWait(t *testing.T) {
	ready := pod("x-a", "a", map[string]string{"revision": "1"}, corev1.PodRunning)
	ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	done := pod("installer-1-a", "a", map[string]string{"app": "installer"}, corev1.PodSucceeded)
	all := []runtime.Object{ready, done, secret("tls", "", "f"), secret("key-1", "", "f"), configMap("x-pod-1")}
	clients := &kube.Clients{Kube: fake.NewSimpleClientset(all...)}
	controller := &Controller{Clients: clients, Operand: operand}
	controller.Operand.MirrorPrefix = "x"
	status := &kube.Status{LatestAvailableRevision: 1, NodeStatuses: []kube.NodeStatus{node("a", 0, 1), node("b", 0, 0)}}
	if err := controller.Install(context.Background(), status); err != nil {
		t.Fatal(err)
	}
	a, b := status.NodeStatuses[0], status.NodeStatuses[1]
	if a.CurrentRevision != 1 || a.TargetRevision != 0 || b.TargetRevision != 1 {
		t.Errorf("%+v", status.NodeStatuses)
	}
	if _, err := clients.Kube.CoreV1().Pods("n").Get(context.Background(), "installer-1-b", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// A Secret whose token is still to come is not there, and so there is no revision with it.
func TestATokenThatIsNotThereYet(t *testing.T) {
	token := secret("key", corev1.SecretTypeServiceAccountToken)
	clients := &kube.Clients{Kube: fake.NewSimpleClientset(token, configMap("x-pod"))}
	controller := &Controller{Clients: clients, Operand: operand}
	status := &kube.Status{}
	if err := controller.Revise(context.Background(), status); err == nil || status.LatestAvailableRevision != 0 {
		t.Errorf("%v, revision %d", err, status.LatestAvailableRevision)
	}
	token.Data = map[string][]byte{"token": []byte("t"), "ca.crt": []byte("c")}
	if _, err := clients.Kube.CoreV1().Secrets("n").Update(context.Background(), token, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := controller.Revise(context.Background(), status); err != nil || status.LatestAvailableRevision != 1 {
		t.Errorf("%v, revision %d", err, status.LatestAvailableRevision)
	}
}

func pod(name, node string, labels map[string]string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func secret(name string, kind corev1.SecretType, files ...string) *corev1.Secret {
	data := map[string][]byte{}
	for _, file := range files {
		data[file] = []byte("s")
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}, Type: kind, Data: data}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}, Data: map[string]string{"f": "1"}}
}
