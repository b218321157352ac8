package controllermanager

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"hardway.dev/lab/operators/internal/kube"
)

// The seeded key until the bootstrap API server is gone; then another, published at once and used later.
func TestTokenKey(t *testing.T) {
	ctx := context.Background()
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	pod := &corev1.Pod{ObjectMeta: meta("openshift-kube-apiserver", "kube-apiserver-a"), Status: corev1.PodStatus{HostIP: "10.0.0.1"}}
	pod.Labels = map[string]string{"app": "openshift-kube-apiserver"}
	endpoints := func(addresses ...string) *corev1.Endpoints {
		made := &corev1.Endpoints{ObjectMeta: meta("default", "kubernetes"), Subsets: []corev1.EndpointSubset{{}}}
		for _, address := range addresses {
			made.Subsets[0].Addresses = append(made.Subsets[0].Addresses, corev1.EndpointAddress{IP: address})
		}
		return made
	}
	client := fake.NewSimpleClientset(pod, endpoints("10.0.0.1", "10.0.0.100"),
		&corev1.Secret{ObjectMeta: meta("openshift-config", "initial-service-account-private-key"), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"service-account.key": []byte("seeded")}},
		&corev1.ConfigMap{ObjectMeta: meta(managed, publicKeys), Data: map[string]string{"service-account-001.pub": "seeded"}})
	clients := &kube.Clients{Kube: client}
	keys := &TokenKey{Clients: clients}
	look := func(step string, key string, published int) {
		t.Helper()
		for range 2 {
			if err := keys.Ensure(ctx); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		}
		used, err := client.CoreV1().Secrets(Namespace).Get(ctx, tokenKey, metav1.GetOptions{})
		if err != nil || (string(used.Data["service-account.key"]) == "seeded") != (key == "seeded") {
			t.Errorf("%s: %v %s", step, err, used.Data)
		}
		public, err := client.CoreV1().ConfigMaps(managed).Get(ctx, publicKeys, metav1.GetOptions{})
		if err != nil || len(public.Data) != published || public.Data["service-account-001.pub"] != "seeded" {
			t.Errorf("%s: %v %v", step, err, public.Data)
		}
	}
	look("with the bootstrap host", "seeded", 1)
	if _, err := client.CoreV1().Endpoints("default").Update(ctx, endpoints("10.0.0.1"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	look("without it", "seeded", 2)
	next, err := client.CoreV1().Secrets(OperatorNamespace).Get(ctx, nextTokenKey, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	next.Annotations[readyAnnotation] = time.Now().Add(-time.Second).Format(time.RFC3339)
	if _, err := client.CoreV1().Secrets(OperatorNamespace).Update(ctx, next, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	look("when it is time", "drawn", 2)
}
