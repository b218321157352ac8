package controllermanager

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/kube"
)

const day = 24 * time.Hour

// EnsureSigner keeps the CA that signs kubelets' certificates: csr-signer, itself signed by csr-signer-signer, which was
// seeded (cluster-kube-controller-manager-operator pkg/operator/certrotationcontroller and targetconfigcontroller).
// Both are published, so that API servers trust kubelets whichever signed for them.
func EnsureSigner(ctx context.Context, clients *kube.Clients) error {
	chain := certs.Chain{
		Component: "kube-controller-manager",
		Signer:    certs.SignerPlace{Ref: atOperator("csr-signer-signer"), Validity: 60 * day, Refresh: 30 * day},
		Bundle:    atOperator("csr-controller-signer-ca"),
		Leaves: []certs.LeafPlace{{
			Ref:  atOperator("csr-signer"),
			Leaf: certs.Leaf{CommonName: fmt.Sprintf("kube-csr-signer_@%d", time.Now().Unix()), IsSigner: true},
			// Never longer than its own signer, which at first has a day.
			Validity: 30 * day, Refresh: 15 * day,
		}},
	}
	if err := chain.Ensure(ctx, clients); err != nil {
		return err
	}
	signer, err := clients.Kube.CoreV1().Secrets(OperatorNamespace).Get(ctx, "csr-signer", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := addToBundle(ctx, clients, signer.Data["tls.crt"]); err != nil {
		return err
	}
	err = certs.Combine(ctx, clients, "kube-controller-manager", atOperator("csr-controller-ca"),
		atOperator("csr-signer-ca"), atOperator("csr-controller-signer-ca"))
	if err != nil {
		return err
	}
	if err := clients.SyncConfigMap(ctx, inManaged("csr-controller-ca"), atOperator("csr-controller-ca")); err != nil {
		return err
	}
	return promote(ctx, clients, signer)
}

// promote hands a signer to the operand: the first one at once, a later one when API servers had time to trust it.
func promote(ctx context.Context, clients *kube.Clients, signer *corev1.Secret) error {
	certificates, err := certs.Decode(signer.Data["tls.crt"])
	if err != nil {
		return fmt.Errorf("secrets/csr-signer: %w", err)
	}
	_, err = clients.Kube.CoreV1().Secrets(Namespace).Get(ctx, "csr-signer", metav1.GetOptions{})
	isFirst := apierrors.IsNotFound(err)
	if err != nil && !isFirst {
		return err
	}
	if !isFirst && time.Since(certificates[0].NotBefore) < 5*time.Minute {
		return nil
	}
	// The controller takes one certificate, not a chain.
	_, err = clients.ApplySecret(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "csr-signer", Annotations: signer.Annotations},
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{"tls.crt": certs.Encode(certificates[0]), "tls.key": signer.Data["tls.key"]},
	})
	return err
}

// addToBundle keeps all signers of the last time in csr-signer-ca.
func addToBundle(ctx context.Context, clients *kube.Clients, signer []byte) error {
	certificates, err := certs.Decode(signer)
	if err != nil {
		return err
	}
	found, err := clients.Kube.CoreV1().ConfigMaps(OperatorNamespace).Get(ctx, "csr-signer-ca", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	var older []*x509.Certificate
	if err == nil {
		older, _ = certs.Decode([]byte(found.Data["ca-bundle.crt"]))
	}
	_, err = clients.ApplyConfigMap(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: OperatorNamespace, Name: "csr-signer-ca"},
		Data:       map[string]string{"ca-bundle.crt": string(certs.Encode(certs.Unique(append(older, certificates[0]), time.Now())...))},
	})
	return err
}
