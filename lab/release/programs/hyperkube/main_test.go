package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const apiServer = `
apiServerArguments:
  authorization-mode: [Scope, SystemMasters, RBAC, Node]
  audit-policy-file: [openshift.local.audit/policy.yaml]
  enable-admission-plugins: [NodeRestriction, route.openshift.io/IngressAdmission]
  etcd-prefix: [kubernetes.io]
  feature-gates: [EventedPLEG=false, NewOLM=true]
  v: ["2"]
servicesSubnet: 172.30.0.0/16
servingInfo:
  bindAddress: "[::]:6443"
  namedCertificates:
  - {certFile: /a.crt, keyFile: /a.key, names: [localhost]}
  - {certFile: /b.crt, keyFile: /b.key}
auditConfig: {enabled: true, policyConfiguration: {kind: Policy}}
admission:
  pluginConfig:
    PodSecurity: {configuration: {kind: PodSecurityConfiguration}}
    network.openshift.io/ExternalIPRanger: {configuration: {kind: X}}
`

func TestConfigBecomesFlags(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(apiServer), 0o600); err != nil {
		t.Fatal(err)
	}
	flags, err := readConfig(path, map[string]bool{"v": true})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	plain := []string{}
	for _, flag := range flags {
		if name, file, _ := strings.Cut(flag, "="); strings.HasSuffix(file, ".yaml") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
			continue
		}
		plain = append(plain, flag)
	}
	want := []string{
		"--authorization-mode=RBAC", "--authorization-mode=Node", "--enable-admission-plugins=NodeRestriction",
		"--etcd-prefix=kubernetes.io", "--feature-gates=EventedPLEG=false", "--feature-gates=NewOLM=true",
		"--service-cluster-ip-range=172.30.0.0/16", "--bind-address=::", "--secure-port=6443",
		"--tls-sni-cert-key=/a.crt,/a.key:localhost", "--tls-sni-cert-key=/b.crt,/b.key",
	}
	if !slices.Equal(plain, want) {
		t.Errorf("flags\n%s\nwant\n%s", strings.Join(plain, "\n"), strings.Join(want, "\n"))
	}
	if files["--audit-policy-file"] != "kind: Policy\n" {
		t.Errorf("audit policy %q", files["--audit-policy-file"])
	}
	if text := files["--admission-control-config-file"]; !strings.Contains(text, "name: PodSecurity") || strings.Contains(text, "openshift") {
		t.Errorf("admission %q", text)
	}
}

func TestOnlyKnownGatesStay(t *testing.T) {
	args := []string{"--feature-gates=NewOLM=true", "--feature-gates=EventedPLEG=false,NewOLM=true", "--v=2"}
	kept := withKnownGates(args, map[string]bool{"EventedPLEG": true})
	if want := []string{"--feature-gates=EventedPLEG=false", "--v=2"}; !slices.Equal(kept, want) {
		t.Errorf("%q, want %q", kept, want)
	}
}

func TestTheConfigIsTakenOutInBothForms(t *testing.T) {
	for _, args := range [][]string{{"--openshift-config=/c", "--v=2"}, {"--openshift-config", "/c", "--v=2"}} {
		if config, rest := split(args); config != "/c" || !slices.Equal(rest, []string{"--v=2"}) {
			t.Errorf("%q: %q %q", args, config, rest)
		}
	}
}
