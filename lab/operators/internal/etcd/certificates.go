package etcd

import (
	"context"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/kube"
)

const day = 24 * time.Hour

// Lifetimes of cluster-etcd-operator pkg/tlshelpers/tlshelpers.go.
const (
	signerValidity = 5 * 365 * day
	signerRefresh  = 1533 * day
	leafValidity   = 3 * 365 * day
	leafRefresh    = 803 * day
)

func signerChain(signer, bundle string) certs.Chain {
	return certs.Chain{
		Component:     "etcd",
		Signer:        certs.SignerPlace{Ref: here(signer), Validity: signerValidity, Refresh: signerRefresh},
		Bundle:        here(bundle),
		FollowsSigner: true,
	}
}

// EnsureCertificates keeps signers, bundles, clients and one set of certificates a master, and the two objects that
// static pods mount (cluster-etcd-operator pkg/operator/etcdcertsigner).
func EnsureCertificates(ctx context.Context, clients *kube.Clients) error {
	server := signerChain("etcd-signer", "etcd-ca-bundle")
	metrics := signerChain("etcd-metric-signer", "etcd-metrics-ca-bundle")
	serverSigner, serverBundle, err := ensureSigner(ctx, clients, server)
	if err != nil {
		return fmt.Errorf("error on ensuring etcd-signer cert: %w", err)
	}
	metricsSigner, metricsBundle, err := ensureSigner(ctx, clients, metrics)
	if err != nil {
		return fmt.Errorf("error on ensuring metrics-signer cert: %w", err)
	}
	if err := writeBundles(ctx, clients, serverBundle, metricsBundle); err != nil {
		return err
	}
	for _, client := range []struct {
		chain  certs.Chain
		signer *certs.Signer
		bundle []*x509.Certificate
		name   string
		user   string
	}{
		{server, serverSigner, serverBundle, "etcd-client", "etcd-client"},
		{metrics, metricsSigner, metricsBundle, "etcd-metric-client", "etcd-metric"},
	} {
		place := certs.LeafPlace{Ref: here(client.name), Validity: leafValidity, Refresh: leafRefresh, Leaf: certs.Leaf{
			CommonName: client.user, Groups: []string{"system:etcd", client.user}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}}
		if _, err := client.chain.EnsureLeaf(ctx, clients, place, client.signer, client.bundle); err != nil {
			return err
		}
	}
	masters, err := clients.Masters(ctx)
	if err != nil || len(masters) == 0 {
		return err
	}
	all := map[string][]byte{}
	for _, master := range masters {
		for use, chain := range map[string]struct {
			certs.Chain
			signer *certs.Signer
			bundle []*x509.Certificate
		}{
			"peer": {server, serverSigner, serverBundle}, "serving": {server, serverSigner, serverBundle},
			"serving-metrics": {metrics, metricsSigner, metricsBundle},
		} {
			secret, err := chain.EnsureLeaf(ctx, clients, nodeLeaf(use, &master), chain.signer, chain.bundle)
			if err != nil {
				return fmt.Errorf("%s certificate of %s: %w", use, master.Name, err)
			}
			all[secret.Name+".crt"], all[secret.Name+".key"] = secret.Data["tls.crt"], secret.Data["tls.key"]
		}
	}
	_, err = clients.ApplySecret(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "etcd-all-certs", Annotations: map[string]string{certs.Owner: "Etcd"}},
		Data:       all,
	})
	return err
}

func ensureSigner(ctx context.Context, clients *kube.Clients, chain certs.Chain) (*certs.Signer, []*x509.Certificate, error) {
	signer, err := chain.EnsureSigner(ctx, clients)
	if err != nil {
		return nil, nil, err
	}
	bundle, err := chain.EnsureBundle(ctx, clients, signer)
	return signer, bundle, err
}

// nodeLeaf is one of a master's certificates. They serve and are shown to others, so they are good for both.
func nodeLeaf(use string, master *corev1.Node) certs.LeafPlace {
	hostnames := append([]string{
		"localhost", "etcd.kube-system.svc", "etcd.kube-system.svc.cluster.local",
		"etcd.openshift-etcd.svc", "etcd.openshift-etcd.svc.cluster.local", "127.0.0.1", "::1",
	}, kube.InternalIPs(master)...)
	return certs.LeafPlace{
		Ref:      here("etcd-" + use + "-" + master.Name),
		Validity: leafValidity, Refresh: leafRefresh,
		Leaf: certs.Leaf{
			CommonName: slices.Min(hostnames), Hostnames: hostnames,
			Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		},
	}
}

// writeBundles writes the object that static pods mount, only when its text changes.
func writeBundles(ctx context.Context, clients *kube.Clients, server, metrics []*x509.Certificate) error {
	data := map[string]string{
		"server-ca-bundle.crt":  string(certs.Encode(server...)),
		"metrics-ca-bundle.crt": string(certs.Encode(metrics...)),
	}
	found, err := clients.Kube.CoreV1().ConfigMaps(Namespace).Get(ctx, "etcd-all-bundles", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil && maps.Equal(found.Data, data) {
		return nil
	}
	_, err = clients.ApplyConfigMap(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "etcd-all-bundles", Annotations: map[string]string{certs.Owner: "Etcd"}},
		Data:       data,
	})
	return err
}
