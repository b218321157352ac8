package clusteroperators

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/kube"
)

// SideEffect does what others wait for.
func SideEffect(ctx context.Context, clients *kube.Clients, operator string, facts Facts) error {
	switch operator {
	case "machine-config":
		return MarkMasters(ctx, clients, facts.MastersSchedulable)
	case "service-ca":
		// The controller manager's revision wants it.
		return publishCA(ctx, clients, "service-ca", "openshift-service-serving-signer")
	case "ingress":
		// openshift-install's wait-for puts it into the kubeconfig.
		return publishCA(ctx, clients, "default-ingress-cert", "ingress-operator")
	}
	return nil
}

// publishCA mints a CA once and publishes its certificate. Its key is thrown away: nothing in the lab is signed with
// it.
func publishCA(ctx context.Context, clients *kube.Clients, name, subject string) error {
	client := clients.Kube.CoreV1().ConfigMaps("openshift-config-managed")
	if _, err := client.Get(ctx, name, metav1.GetOptions{}); err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	signer, err := certs.NewSigner(subject, 26*30*24*time.Hour, time.Now())
	if err != nil {
		return err
	}
	_, err = client.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config-managed", Name: name},
		Data:       map[string]string{"ca-bundle.crt": string(signer.CertPEM)},
	}, metav1.CreateOptions{})
	return err
}
