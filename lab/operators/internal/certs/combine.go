package certs

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Combine puts the bundles of several ConfigMaps into one. Missing ones are left out, so that a bundle nobody seeded
// shows only later, as clients that are not trusted (library-go pkg/operator/resourcesynccontroller
// CombineCABundleConfigMaps).
func Combine(ctx context.Context, clients *kube.Clients, component string, to kube.Ref, from ...kube.Ref) error {
	var certificates []*x509.Certificate
	for _, at := range from {
		found, err := clients.Kube.CoreV1().ConfigMaps(at.Namespace).Get(ctx, at.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if found.Data["ca-bundle.crt"] == "" {
			continue
		}
		more, err := Decode([]byte(found.Data["ca-bundle.crt"]))
		if err != nil {
			return fmt.Errorf("configmap %s: %w", at, err)
		}
		certificates = append(certificates, more...)
	}
	_, err := clients.ApplyConfigMap(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: to.Namespace, Name: to.Name, Annotations: map[string]string{Owner: component}},
		Data:       map[string]string{"ca-bundle.crt": string(Encode(Unique(certificates, time.Now())...))},
	})
	return err
}
