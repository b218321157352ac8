package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"
)

const day = 24 * time.Hour

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func signer(t *testing.T, name string) *Signer {
	t.Helper()
	made, err := NewSigner(name, 100*day, now)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func without(annotations map[string]string, key string) map[string]string {
	annotations = maps.Clone(annotations)
	delete(annotations, key)
	return annotations
}

func with(annotations map[string]string, key, value string) map[string]string {
	annotations = maps.Clone(annotations)
	annotations[key] = value
	return annotations
}

func TestSignerRenewal(t *testing.T) {
	good := Annotations(signer(t, "a").Certificate, "etcd", false)
	for name, c := range map[string]struct {
		annotations map[string]string
		at          time.Time
		reason      string
	}{
		"good":                   {good, now, ""},
		"no annotations":         {nil, now, "missing notAfter"},
		"without its end":        {without(good, NotAfter), now, "missing notAfter"},
		"without its start":      {without(good, NotBefore), now, "bad expiry"},
		"a date that is none":    {with(good, NotAfter, "tomorrow"), now, "bad expiry"},
		"expired":                {good, now.Add(101 * day), "already expired"},
		"nearly expired":         {good, now.Add(81 * day), "80 %"},
		"old enough":             {good, now.Add(61 * day), "refresh time"},
		"the issuer is not read": {without(good, Issuer), now, ""},
	} {
		if reason := SignerRenewal(c.annotations, 60*day, c.at); (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: %q", name, reason)
		}
	}
}

func TestLeafRenewal(t *testing.T) {
	ca, other := signer(t, "a"), signer(t, "b")
	leaf, err := ca.Issue(Leaf{CommonName: "x", Hostnames: []string{"x", "10.0.0.1"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, 1000*day, now)
	if err != nil {
		t.Fatal(err)
	}
	if leaf.Certificate.NotAfter.After(ca.Certificate.NotAfter) {
		t.Error("it outlives its signer")
	}
	good := Annotations(leaf.Certificate, "etcd", true)
	if good[HostnamesOf] != "10.0.0.1,x" {
		t.Errorf("names %q", good[HostnamesOf])
	}
	names := []string{"10.0.0.1", "x"}
	for name, c := range map[string]struct {
		annotations map[string]string
		bundle      []*x509.Certificate
		names       []string
		reason      string
	}{
		"good":             {good, []*x509.Certificate{ca.Certificate}, names, ""},
		"an older signer":  {good, []*x509.Certificate{other.Certificate, ca.Certificate}, names, ""},
		"not in bundle":    {good, []*x509.Certificate{other.Certificate}, names, "not in ca bundle"},
		"no issuer":        {without(good, Issuer), []*x509.Certificate{ca.Certificate}, names, "missing issuer"},
		"no annotations":   {nil, []*x509.Certificate{ca.Certificate}, names, "missing notAfter"},
		"a name more":      {good, []*x509.Certificate{ca.Certificate}, append(names, "y"), "names are"},
		"a name too many":  {good, []*x509.Certificate{ca.Certificate}, names[:1], "names are"},
		"without names":    {good, []*x509.Certificate{ca.Certificate}, nil, ""},
		"names in a row":   {good, []*x509.Certificate{ca.Certificate}, []string{"x", "10.0.0.1", "x"}, ""},
		"no names written": {without(good, HostnamesOf), []*x509.Certificate{ca.Certificate}, names, "names are"},
	} {
		if reason := LeafRenewal(c.annotations, ca.Certificate, c.bundle, c.names, 60*day, now); (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: %q", name, reason)
		}
	}
	if reason := SignedByAnother(leaf.CertPEM, other.Certificate); reason == "" {
		t.Error("another signer was not noticed")
	}
}

func TestReadSigner(t *testing.T) {
	ca := signer(t, "a")
	if _, err := ReadSigner(ca.CertPEM, ca.KeyPEM); err != nil {
		t.Error(err)
	}
	if _, err := ReadSigner(ca.CertPEM, signer(t, "b").KeyPEM); err == nil {
		t.Error("a key of another certificate was taken")
	}
	leaf, err := ca.Issue(Leaf{CommonName: "x"}, day, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSigner(leaf.CertPEM, leaf.KeyPEM); err == nil {
		t.Error("a leaf was taken for a signer")
	}
}

// What is minted is RSA; a signer of another kind of key fails when it is to sign, with Go's own words, and not before: reading it
// is no mistake.
func TestOnlyRSASigns(t *testing.T) {
	ca := signer(t, "a")
	if _, ok := ca.key.Public().(*rsa.PublicKey); !ok || ca.Certificate.SignatureAlgorithm != x509.SHA256WithRSA {
		t.Errorf("%T, %s", ca.key.Public(), ca.Certificate.SignatureAlgorithm)
	}
	leaf, err := ca.Issue(Leaf{CommonName: "x"}, day, now)
	if err != nil || leaf.Certificate.SignatureAlgorithm != x509.SHA256WithRSA || leaf.Certificate.PublicKeyAlgorithm != x509.RSA {
		t.Errorf("%v %+v", err, leaf)
	}
	certPEM, keyPEM := ellipticSigner(t)
	other, err := ReadSigner(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Issue(Leaf{CommonName: "x"}, day, now)
	if err == nil || err.Error() != "x509: requested SignatureAlgorithm does not match private key type" {
		t.Errorf("%v", err)
	}
}

func ellipticSigner(t *testing.T) (certPEM, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := template(Leaf{CommonName: "elliptic", IsSigner: true}, 100*day, now)
	template.SignatureAlgorithm, template.SerialNumber = x509.ECDSAWithSHA256, big.NewInt(1)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded})
}

func TestUnique(t *testing.T) {
	a, b := signer(t, "a").Certificate, signer(t, "b").Certificate
	if kept := Unique([]*x509.Certificate{a, b, a}, now); len(kept) != 2 || !kept[0].Equal(a) {
		t.Errorf("%d kept", len(kept))
	}
	if kept := Unique([]*x509.Certificate{a}, now.Add(200*day)); len(kept) != 0 {
		t.Error("an expired one was kept")
	}
}
