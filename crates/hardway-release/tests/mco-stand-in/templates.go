package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// nodeFiles says where the files of the templates' folder go. The folder is the lab's; without it the rendered configs boot
// nothing.
var nodeFiles = []struct{ name, path string }{
	{"crio.conf", "/etc/crio/crio.conf.d/00-default"},
	{"kubelet.conf", "/etc/kubernetes/kubelet.conf"},
	{"policy.json", "/etc/containers/policy.json"},
	{"registries.conf", "/etc/containers/registries.conf"},
	{"sdn.conf", "/etc/NetworkManager/conf.d/sdn.conf"},
}

// What a kubelet says of itself when it registers (MCO templates/*/01-*-kubelet).
var nodeLabels = map[string]string{
	"master": "node-role.kubernetes.io/control-plane,node-role.kubernetes.io/master",
	"worker": "node-role.kubernetes.io/worker",
}

const masterTaint = "    --register-with-taints=node-role.kubernetes.io/master=:NoSchedule \\\n"

// template fills a config with the files and units of a folder of templates. A folder that is not there adds nothing.
func (in *inputs) template(dir, role string, config *ignitionConfig) error {
	if _, err := os.Stat(filepath.Join(dir, "kubelet.service")); os.IsNotExist(err) {
		return nil
	}
	taint := ""
	if role == "master" {
		taint = masterTaint
	}
	marks := strings.NewReplacer("@POD_IMAGE@", in.spec.Images["pod"], "@NODE_LABELS@", nodeLabels[role], "@TAINTS@", taint,
		"172.30.0.10", in.spec.ClusterDNSIP)
	read := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		return marks.Replace(string(text)), err
	}
	for _, node := range nodeFiles {
		text, err := read(node.name)
		if err != nil {
			return fmt.Errorf("failed to create templates: %w", err)
		}
		if node.name == "registries.conf" {
			mirrors, err := in.registries()
			if err != nil {
				return err
			}
			text += mirrors
		}
		config.Storage.Files = replace(config.Storage.Files, []map[string]any{file(node.path, []byte(text))}, "path")
	}
	for _, name := range []string{"crio-ordering.conf", "kubelet-dependencies.target", "kubelet.service"} {
		text, err := read(name)
		if err != nil {
			return fmt.Errorf("failed to create templates: %w", err)
		}
		config.Systemd.Units = replace(config.Systemd.Units, []map[string]any{unit(name, text)}, "name")
	}
	return nil
}

func file(path string, content []byte) map[string]any {
	return map[string]any{
		"path": path, "mode": 0o644, "overwrite": true,
		"contents": map[string]any{"source": "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(content)},
	}
}

func unit(name, text string) map[string]any {
	switch name {
	case "crio-ordering.conf":
		return map[string]any{"name": "crio.service", "dropins": []any{map[string]any{"name": "05-mco-ordering.conf", "contents": text}}}
	case "kubelet.service":
		return map[string]any{"name": name, "enabled": true, "contents": text}
	}
	return map[string]any{"name": name, "contents": text}
}
