// Package certs mints certificates and decides when one must be minted anew.
//
// As in library-go (pkg/crypto/crypto.go) all keys are RSA of 2048 bits, and every signature is SHA256WithRSA, whatever key the
// signer has: one with an ECDSA key signs nothing.
package certs

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// Signer signs certificates: its own certificate, the key, and both as PEM.
type Signer struct {
	Certificate     *x509.Certificate
	key             crypto.Signer
	CertPEM, KeyPEM []byte
}

// Leaf says what a certificate is for.
type Leaf struct {
	CommonName string
	Groups     []string
	// Hostnames are names and addresses; addresses are written as both (library-go pkg/crypto IPAddressesDNSNames).
	Hostnames []string
	Usages    []x509.ExtKeyUsage
	// IsSigner makes an intermediate CA.
	IsSigner bool
}

// NewSigner makes a CA that signs itself.
func NewSigner(name string, validity time.Duration, now time.Time) (*Signer, error) {
	template := template(Leaf{CommonName: name, IsSigner: true}, validity, now)
	return mint(template, nil)
}

// ReadSigner reads a CA from PEM. The key must belong to the first certificate.
func ReadSigner(certPEM, keyPEM []byte) (*Signer, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	if !certificate.IsCA {
		return nil, fmt.Errorf("certificate %q is not a CA", certificate.Subject.CommonName)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, errors.New("the key cannot sign")
	}
	return &Signer{Certificate: certificate, key: key, CertPEM: certPEM, KeyPEM: keyPEM}, nil
}

// Issue signs a certificate, which never outlives the signer.
func (s *Signer) Issue(leaf Leaf, validity time.Duration, now time.Time) (*Signer, error) {
	if left := s.Certificate.NotAfter.Sub(now); left < validity {
		validity = left
	}
	made, err := mint(template(leaf, validity, now), s)
	if err != nil {
		return nil, err
	}
	// Servers show the whole chain.
	if len(leaf.Hostnames) > 0 {
		made.CertPEM = slices.Concat(made.CertPEM, Encode(s.Certificate))
	}
	return made, nil
}

// Encode writes certificates as PEM.
func Encode(certificates ...*x509.Certificate) []byte {
	var text bytes.Buffer
	for _, certificate := range certificates {
		_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
	}
	return text.Bytes()
}

// Decode reads certificates from PEM; text without any is an error.
func Decode(text []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		found = append(found, certificate)
	}
	if len(found) == 0 {
		return nil, errors.New("no certificate found")
	}
	return found, nil
}

// Hostnames lists every name and address a certificate is good for, once.
func Hostnames(certificate *x509.Certificate) []string {
	names := slices.Clone(certificate.DNSNames)
	for _, ip := range certificate.IPAddresses {
		names = append(names, ip.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func template(leaf Leaf, validity time.Duration, now time.Time) *x509.Certificate {
	template := &x509.Certificate{
		SignatureAlgorithm:    x509.SHA256WithRSA,
		Subject:               pkix.Name{CommonName: leaf.CommonName, Organization: leaf.Groups},
		NotBefore:             now.Add(-time.Second),
		NotAfter:              now.Add(validity),
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           leaf.Usages,
		BasicConstraintsValid: true,
		IsCA:                  leaf.IsSigner,
	}
	if leaf.IsSigner {
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	for _, name := range leaf.Hostnames {
		template.DNSNames = append(template.DNSNames, name)
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	return template
}

const keyBits = 2048

func mint(template *x509.Certificate, by *Signer) (*Signer, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, err
	}
	parent, parentKey := template, crypto.Signer(key)
	if by != nil {
		parent, parentKey = by.Certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return &Signer{Certificate: certificate, key: key, CertPEM: Encode(certificate), KeyPEM: keyPEM}, nil
}
