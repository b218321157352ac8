package apiserver

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/kube"
)

const (
	nextKey    = "next-bound-service-account-signing-key"
	signingKey = "bound-service-account-signing-key"
	publicKeys = "bound-sa-token-signing-certs"
)

// EnsureTokenKeys keeps the key that API servers sign tokens with, and the public halves they accept
// (cluster-kube-apiserver-operator pkg/operator/boundsatokensignercontroller). A key that was not seeded is made here,
// and the bootstrap API server will not accept the tokens signed with it.
func EnsureTokenKeys(ctx context.Context, clients *kube.Clients) error {
	secret, err := clients.Kube.CoreV1().Secrets(OperatorNamespace).Get(ctx, nextKey, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err != nil || len(secret.Data["service-account.key"]) == 0 || len(secret.Data["service-account.pub"]) == 0 {
		data, err := certs.NewTokenKeys()
		if err != nil {
			return err
		}
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: OperatorNamespace, Name: nextKey}, Data: data}
		if _, err := clients.ApplySecret(ctx, secret); err != nil {
			return err
		}
	}
	found, err := clients.Kube.CoreV1().ConfigMaps(Namespace).Get(ctx, publicKeys, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	keys := map[string]string{}
	if err == nil {
		maps.Copy(keys, found.Data)
	}
	public := string(secret.Data["service-account.pub"])
	if !slices.Contains(slices.Collect(maps.Values(keys)), public) {
		keys[fmt.Sprintf("service-account-%03d.pub", len(keys)+1)] = public
	}
	_, err = clients.ApplyConfigMap(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: publicKeys}, Data: keys})
	if err != nil {
		return err
	}
	return clients.SyncSecret(ctx, here(signingKey), atOperator(nextKey))
}
