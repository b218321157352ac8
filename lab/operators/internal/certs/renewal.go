package certs

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What library-go's rotation reads and writes on a Secret (pkg/operator/certrotation/annotations.go).
const (
	NotBefore   = "auth.openshift.io/certificate-not-before"
	NotAfter    = "auth.openshift.io/certificate-not-after"
	Issuer      = "auth.openshift.io/certificate-issuer"
	HostnamesOf = "auth.openshift.io/certificate-hostnames"
	Owner       = "openshift.io/owning-component"
	ManagedType = "auth.openshift.io/managed-certificate-type"
)

// SignerRenewal says why a signer must be minted anew, or nothing. The annotations decide, never the certificate
// itself: a signer without them is replaced however good it is (library-go pkg/operator/certrotation/signer.go).
func SignerRenewal(annotations map[string]string, refresh time.Duration, now time.Time) string {
	notBefore, reason := worn(annotations, now)
	switch {
	case reason != "":
		return reason
	case now.After(notBefore.Add(refresh)):
		return "past its refresh time"
	}
	return ""
}

// LeafRenewal says why a leaf must be minted anew, or nothing (library-go pkg/operator/certrotation/target.go).
// hostnames is nil for certificates without names.
func LeafRenewal(annotations map[string]string, signer *x509.Certificate, bundle []*x509.Certificate, hostnames []string, refresh time.Duration, now time.Time) string {
	notBefore, reason := worn(annotations, now)
	switch {
	case reason != "":
		return reason
	case now.After(notBefore.Add(refresh)) && now.After(signer.NotBefore.Add(refresh/10)):
		return "past its refresh time"
	case annotations[Issuer] == "":
		return "missing issuer name"
	case !slices.ContainsFunc(bundle, func(c *x509.Certificate) bool { return c.Subject.CommonName == annotations[Issuer] }):
		return fmt.Sprintf("issuer %q, not in ca bundle", annotations[Issuer])
	}
	if hostnames == nil {
		return ""
	}
	found := strings.Split(annotations[HostnamesOf], ",")
	if !slices.Equal(sorted(found), sorted(hostnames)) {
		return fmt.Sprintf("names are %q, wanted %q", strings.Join(sorted(found), ","), strings.Join(sorted(hostnames), ","))
	}
	return ""
}

// SignedByAnother says whether a leaf came from another key than the signer's, or nothing. Only etcd's operator looks
// (cluster-etcd-operator pkg/tlshelpers/target_cert_creator.go).
func SignedByAnother(certPEM []byte, signer *x509.Certificate) string {
	certificates, err := Decode(certPEM)
	if err != nil {
		return err.Error()
	}
	last := certificates[len(certificates)-1]
	if !bytes.Equal(last.AuthorityKeyId, signer.SubjectKeyId) {
		return "signer subject key does not match cert authority key anymore"
	}
	return ""
}

// Annotations describe a certificate for the next look at it.
func Annotations(certificate *x509.Certificate, component string, withHostnames bool) map[string]string {
	annotations := map[string]string{
		NotBefore: certificate.NotBefore.Format(time.RFC3339),
		NotAfter:  certificate.NotAfter.Format(time.RFC3339),
		Issuer:    certificate.Issuer.CommonName,
		Owner:     component,
	}
	if withHostnames {
		annotations[HostnamesOf] = strings.Join(Hostnames(certificate), ",")
	}
	return annotations
}

// worn says since when the annotations count a certificate, and why its validity alone asks for another, or nothing.
func worn(annotations map[string]string, now time.Time) (notBefore time.Time, reason string) {
	notBefore, notAfter, reason := validity(annotations)
	switch {
	case reason != "":
		return notBefore, reason
	case now.After(notAfter):
		return notBefore, "already expired"
	case now.After(notAfter.Add(-notAfter.Sub(notBefore) / 5)):
		return notBefore, "past 80 % of its validity"
	}
	return notBefore, ""
}

func validity(annotations map[string]string) (notBefore, notAfter time.Time, reason string) {
	if annotations[NotAfter] == "" {
		return notBefore, notAfter, "missing notAfter"
	}
	notAfter, err := time.Parse(time.RFC3339, annotations[NotAfter])
	if err != nil {
		return notBefore, notAfter, fmt.Sprintf("bad expiry: %q", annotations[NotAfter])
	}
	notBefore, err = time.Parse(time.RFC3339, annotations[NotBefore])
	if err != nil {
		return notBefore, notAfter, fmt.Sprintf("bad expiry: %q", annotations[NotBefore])
	}
	return notBefore, notAfter, ""
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
