// Package controlplane holds what the operators of the API server, the controller manager and the scheduler share.
package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

const (
	recoveryAccount = "localhost-recovery-client"
	// RecoveryToken is the Secret that its token is in.
	RecoveryToken = "localhost-recovery-client-token"
)

// EnsureRecoveryToken creates the account that sidecars act as, and waits until its token is there. The token is an
// old-style one: the controller manager signs it with the service-account key, so it shows whether API servers have
// the public half (cluster-kube-apiserver-operator pkg/operator/targetconfigcontroller ensureLocalhostRecoverySAToken).
func EnsureRecoveryToken(ctx context.Context, clients *kube.Clients, namespace string) error {
	core := clients.Kube.CoreV1()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: recoveryAccount}}
	if _, err := core.ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); ignoreExisting(err) != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "system:openshift:operator:" + namespace + "-recovery"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: recoveryAccount}},
	}
	if _, err := clients.Kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); ignoreExisting(err) != nil {
		return err
	}
	found, err := core.ServiceAccounts(namespace).Get(ctx, recoveryAccount, metav1.GetOptions{})
	if err != nil {
		return err
	}
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: RecoveryToken, Annotations: map[string]string{corev1.ServiceAccountNameKey: recoveryAccount},
		},
		Type: corev1.SecretTypeServiceAccountToken,
	}
	if _, err := core.Secrets(namespace).Create(ctx, token, metav1.CreateOptions{}); ignoreExisting(err) != nil {
		return err
	}
	token, err = core.Secrets(namespace).Get(ctx, RecoveryToken, metav1.GetOptions{})
	if err != nil {
		return err
	}
	switch {
	case token.Annotations[corev1.ServiceAccountUIDKey] == "":
		return fmt.Errorf("secret %s/%s hasn't been populated with SA token yet: missing SA UID", namespace, RecoveryToken)
	case token.Annotations[corev1.ServiceAccountUIDKey] != string(found.UID):
		return fmt.Errorf("secret %s/%s hasn't been populated with current SA token yet: SA UID mismatch", namespace, RecoveryToken)
	case len(token.Data["token"]) == 0 || len(token.Data["ca.crt"]) == 0:
		return fmt.Errorf("secret %s/%s hasn't been populated with current SA token yet", namespace, RecoveryToken)
	}
	return nil
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
