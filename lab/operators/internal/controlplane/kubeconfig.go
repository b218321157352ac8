package controlplane

import "sigs.k8s.io/yaml"

// Kubeconfig names files, so that a certificate can be replaced without touching it.
type Kubeconfig struct {
	Server, ServerName string
	CAFile             string
	// Either a certificate and its key, or a token.
	CertFile, KeyFile string
	TokenFile         string
}

// Text is the kubeconfig as YAML.
func (k Kubeconfig) Text() string {
	cluster := map[string]any{"server": k.Server, "certificate-authority": k.CAFile}
	if k.ServerName != "" {
		cluster["tls-server-name"] = k.ServerName
	}
	user := map[string]any{}
	if k.TokenFile != "" {
		user["tokenFile"] = k.TokenFile
	} else {
		user["client-certificate"], user["client-key"] = k.CertFile, k.KeyFile
	}
	text, _ := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "main",
		"clusters": []any{map[string]any{"name": "main", "cluster": cluster}},
		"users":    []any{map[string]any{"name": "main", "user": user}},
		"contexts": []any{map[string]any{"name": "main", "context": map[string]any{"cluster": "main", "user": "main"}}},
	})
	return string(text)
}

// RecoveryKubeconfig is the sidecars': the node's own API server by a name that nothing else uses, and a token.
func RecoveryKubeconfig(caFile string) Kubeconfig {
	return Kubeconfig{
		Server: "https://localhost:6443", ServerName: "localhost-recovery", CAFile: caFile,
		TokenFile: "/etc/kubernetes/static-pod-resources/secrets/" + RecoveryToken + "/token",
	}
}
