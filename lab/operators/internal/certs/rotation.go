package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Chain is a signer, the bundle that trusts it, and the certificates it signs.
type Chain struct {
	Component string
	Signer    SignerPlace
	Bundle    kube.Ref
	Leaves    []LeafPlace
	// FollowsSigner renews leaves as soon as the signer has another key.
	FollowsSigner bool
}

// SignerPlace is where a signer is kept and how long it is good.
type SignerPlace struct {
	kube.Ref
	Validity, Refresh time.Duration
}

// LeafPlace is where a certificate is kept, and what it is.
//
// Hostnames that are empty, and not nil, are names that nobody knows yet.
type LeafPlace struct {
	kube.Ref
	Leaf
	Validity, Refresh time.Duration
}

// Ensure makes sure that signer, bundle and leaves are there and good, in this order. What is found with the right
// annotations is taken over as it is.
func (c Chain) Ensure(ctx context.Context, clients *kube.Clients) error {
	signer, err := c.EnsureSigner(ctx, clients)
	if err != nil {
		return err
	}
	bundle, err := c.EnsureBundle(ctx, clients, signer)
	if err != nil {
		return err
	}
	for _, leaf := range c.Leaves {
		if _, err := c.EnsureLeaf(ctx, clients, leaf, signer, bundle); err != nil {
			return err
		}
	}
	return nil
}

// EnsureSigner returns the signer, minted anew if need be.
func (c Chain) EnsureSigner(ctx context.Context, clients *kube.Clients) (*Signer, error) {
	secret, err := readSecret(ctx, clients, c.Signer.Ref)
	if err != nil {
		return nil, err
	}
	reason := "secret doesn't exist"
	if secret != nil {
		reason = SignerRenewal(secret.Annotations, c.Signer.Refresh, time.Now())
	}
	if reason == "" {
		signer, err := ReadSigner(secret.Data["tls.crt"], secret.Data["tls.key"])
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", c.Signer.Ref, err)
		}
		return signer, nil
	}
	log.Printf("%q requires a new signing cert/key pair: %s", c.Signer.Ref, reason)
	now := time.Now()
	name := fmt.Sprintf("%s_%s@%d", c.Signer.Namespace, c.Signer.Name, now.Unix())
	signer, err := NewSigner(name, c.Signer.Validity, now)
	if err != nil {
		return nil, err
	}
	return signer, c.write(ctx, clients, c.Signer.Ref, signer, false, "signer")
}

// EnsureBundle adds the signer to the bundle and drops what has expired. Older signers stay until then.
func (c Chain) EnsureBundle(ctx context.Context, clients *kube.Clients, signer *Signer) ([]*x509.Certificate, error) {
	found, err := clients.Kube.CoreV1().ConfigMaps(c.Bundle.Namespace).Get(ctx, c.Bundle.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	certificates := []*x509.Certificate{signer.Certificate}
	if err == nil {
		// A bundle that cannot be read is started anew (library-go pkg/operator/certrotation/cabundle.go).
		if older, err := Decode([]byte(found.Data["ca-bundle.crt"])); err == nil {
			certificates = append(certificates, older...)
		}
	}
	certificates = Unique(certificates, time.Now())
	_, err = clients.ApplyConfigMap(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Bundle.Namespace, Name: c.Bundle.Name,
			Annotations: map[string]string{Owner: c.Component},
			Labels:      map[string]string{ManagedType: "ca-bundle"},
		},
		Data: map[string]string{"ca-bundle.crt": string(Encode(certificates...))},
	})
	return certificates, err
}

// EnsureLeaf returns the Secret of a certificate, minted anew if need be.
func (c Chain) EnsureLeaf(ctx context.Context, clients *kube.Clients, place LeafPlace, signer *Signer, bundle []*x509.Certificate) (*corev1.Secret, error) {
	secret, err := readSecret(ctx, clients, place.Ref)
	if err != nil {
		return nil, err
	}
	reason := "secret doesn't exist"
	if secret != nil {
		reason = LeafRenewal(secret.Annotations, signer.Certificate, bundle, place.Hostnames, place.Refresh, time.Now())
		if reason == "" && c.FollowsSigner {
			reason = SignedByAnother(secret.Data["tls.crt"], signer.Certificate)
		}
	}
	if reason == "" {
		return secret, nil
	}
	if place.Hostnames != nil && len(place.Hostnames) == 0 {
		return nil, errors.New("no hostnames set")
	}
	log.Printf("%q requires a new target cert/key pair: %s", place.Ref, reason)
	made, err := signer.Issue(place.Leaf, place.Validity, time.Now())
	if err != nil {
		return nil, err
	}
	if err := c.write(ctx, clients, place.Ref, made, place.Hostnames != nil, "target"); err != nil {
		return nil, err
	}
	return readSecret(ctx, clients, place.Ref)
}

func (c Chain) write(ctx context.Context, clients *kube.Clients, at kube.Ref, made *Signer, withHostnames bool, kind string) error {
	_, err := clients.ApplySecret(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: at.Namespace, Name: at.Name,
			Annotations: Annotations(made.Certificate, c.Component, withHostnames),
			Labels:      map[string]string{ManagedType: kind},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{"tls.crt": made.CertPEM, "tls.key": made.KeyPEM},
	})
	return err
}

// Unique drops copies and what has expired, keeping the order.
func Unique(certificates []*x509.Certificate, now time.Time) []*x509.Certificate {
	var kept []*x509.Certificate
	for _, certificate := range certificates {
		isKept := slices.ContainsFunc(kept, certificate.Equal)
		if !isKept && now.Before(certificate.NotAfter) {
			kept = append(kept, certificate)
		}
	}
	return kept
}

func readSecret(ctx context.Context, clients *kube.Clients, at kube.Ref) (*corev1.Secret, error) {
	secret, err := clients.Kube.CoreV1().Secrets(at.Namespace).Get(ctx, at.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return secret, err
}
