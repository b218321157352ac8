package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

// config is what the files of the API server and the controller manager have in common, and what each has of its own.
// The same translation, for tests without containers, is in crates/hardway-assets/src/static_pods/upstream.rs.
type config struct {
	APIServerArguments map[string][]string `json:"apiServerArguments"`
	ExtendedArguments  map[string][]string `json:"extendedArguments"`
	ServicesSubnet     string              `json:"servicesSubnet"`
	ServingInfo        struct {
		BindAddress       string `json:"bindAddress"`
		NamedCertificates []struct {
			CertFile string   `json:"certFile"`
			KeyFile  string   `json:"keyFile"`
			Names    []string `json:"names"`
		} `json:"namedCertificates"`
	} `json:"servingInfo"`
	AuditConfig struct {
		Enabled             bool           `json:"enabled"`
		PolicyConfiguration map[string]any `json:"policyConfiguration"`
	} `json:"auditConfig"`
	Admission struct {
		PluginConfig map[string]struct {
			Configuration map[string]any `json:"configuration"`
		} `json:"pluginConfig"`
	} `json:"admission"`
}

// readConfig turns a configuration file into flags. Parts that upstream reads from files of their own are written to a folder
// that lives as long as the container. Flags that are given already are left out.
func readConfig(path string, given map[string]bool) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var read config
	if err := yaml.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	out := &flagList{given: given}
	out.lists(read.APIServerArguments)
	out.lists(read.ExtendedArguments)
	if read.APIServerArguments == nil {
		return out.flags, nil
	}
	if err := out.serving(read); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hyperkube-")
	if err != nil {
		return nil, err
	}
	if read.AuditConfig.Enabled {
		if err := out.file("audit-policy-file", filepath.Join(dir, "audit-policy.yaml"), read.AuditConfig.PolicyConfiguration); err != nil {
			return nil, err
		}
	}
	return out.flags, out.file("admission-control-config-file", filepath.Join(dir, "admission-config.yaml"), read.admission())
}

type flagList struct {
	given map[string]bool
	flags []string
}

func (l *flagList) put(name, value string) {
	if !l.given[name] {
		l.flags = append(l.flags, "--"+name+"="+value)
	}
}

func (l *flagList) lists(lists map[string][]string) {
	keys := make([]string, 0, len(lists))
	for name := range lists {
		keys = append(keys, name)
	}
	sort.Strings(keys)
	for _, name := range keys {
		for _, value := range lists[name] {
			if isUpstream(name, value) {
				l.put(name, value)
			}
		}
	}
}

func (l *flagList) serving(read config) error {
	if read.ServicesSubnet != "" {
		l.put("service-cluster-ip-range", read.ServicesSubnet)
	}
	if at := read.ServingInfo.BindAddress; at != "" {
		host, port, err := net.SplitHostPort(at)
		if err != nil {
			return fmt.Errorf("servingInfo.bindAddress: %w", err)
		}
		l.put("bind-address", host)
		l.put("secure-port", port)
	}
	for _, certificate := range read.ServingInfo.NamedCertificates {
		value := certificate.CertFile + "," + certificate.KeyFile
		if len(certificate.Names) > 0 {
			value += ":" + strings.Join(certificate.Names, ",")
		}
		l.put("tls-sni-cert-key", value)
	}
	return nil
}

func (l *flagList) file(flag, path string, content any) error {
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	l.put(flag, path)
	return nil
}

// admission is the configuration of upstream's plugins, in upstream's form.
func (c config) admission() map[string]any {
	names := []string{}
	for name := range c.Admission.PluginConfig {
		if !strings.Contains(name, ".openshift.io/") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	plugins := []any{}
	for _, name := range names {
		plugins = append(plugins, map[string]any{"name": name, "configuration": c.Admission.PluginConfig[name].Configuration})
	}
	return map[string]any{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins}
}

// isUpstream tells whether upstream has this value of this flag: it knows neither OpenShift's authorizers nor its admission
// plugins, and reads the audit policy from a file of its own.
func isUpstream(name, value string) bool {
	switch name {
	case "audit-policy-file":
		return false
	case "authorization-mode":
		return value != "Scope" && value != "SystemMasters"
	case "enable-admission-plugins", "disable-admission-plugins":
		return !strings.Contains(value, ".openshift.io/")
	}
	return true
}
