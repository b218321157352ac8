package main

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

const roleLabel = group + "/role"

type machineConfigPool struct {
	object
	Spec struct {
		Selector selector `json:"machineConfigSelector"`
	} `json:"spec"`
}

type machineConfig struct {
	object
	Spec machineConfigSpec `json:"spec"`
}

type machineConfigSpec struct {
	OSImageURL      string          `json:"osImageURL"`
	Config          *ignitionConfig `json:"config"`
	KernelArguments []string        `json:"kernelArguments"`
	Extensions      []string        `json:"extensions"`
	FIPS            bool            `json:"fips"`
	KernelType      string          `json:"kernelType"`
	ExtensionsImage string          `json:"baseOSExtensionsContainerImage,omitempty"`
}

type ignitionConfig struct {
	Ignition struct {
		Version string `json:"version"`
	} `json:"ignition"`
	Passwd  map[string]any `json:"passwd,omitempty"`
	Storage struct {
		Files []map[string]any `json:"files,omitempty"`
	} `json:"storage,omitzero"`
	Systemd struct {
		Units []map[string]any `json:"units,omitempty"`
	} `json:"systemd,omitzero"`
}

// selector is a label selector; an empty one picks nothing.
type selector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchExpressions []struct {
		Key, Operator string
		Values        []string
	} `json:"matchExpressions"`
}

func (s selector) selects(labels map[string]string) bool {
	for key, value := range s.MatchLabels {
		if found, ok := labels[key]; !ok || found != value {
			return false
		}
	}
	for _, expression := range s.MatchExpressions {
		found, ok := labels[expression.Key]
		listed := ok && slices.Contains(expression.Values, found)
		if !map[string]bool{"In": listed, "NotIn": !listed, "Exists": ok, "DoesNotExist": !ok}[expression.Operator] {
			return false
		}
	}
	return len(s.MatchLabels)+len(s.MatchExpressions) > 0
}

// render merges what a pool selects into one MachineConfig. Its name comes from its content.
func (in *inputs) render(pool machineConfigPool) (map[string]any, error) {
	made := in.config.Metadata.Annotations[group+"/generated-by-version"]
	if made != version {
		return nil, fmt.Errorf("Ignoring controller config generated from %s (my version: %s)", made, version)
	}
	selected, err := in.selected(pool)
	if err != nil {
		return nil, err
	}
	spec := machineConfigSpec{
		OSImageURL: in.spec.BaseOSContainerImage, ExtensionsImage: in.spec.BaseOSExtensionsImage,
		KernelType: "default", Config: &ignitionConfig{}, KernelArguments: []string{}, Extensions: []string{},
	}
	spec.Config.Ignition.Version = "3.4.0"
	for _, config := range selected {
		if err := merge(&spec, config); err != nil {
			return nil, err
		}
	}
	content, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("rendered-%s-%x", pool.Metadata.Name, md5.Sum(content))
	return map[string]any{
		"apiVersion": group + "/v1",
		"kind":       "MachineConfig",
		"metadata": map[string]any{
			"name":              name,
			"creationTimestamp": nil,
			"annotations":       map[string]string{group + "/generated-by-controller-version": version},
			// As the real one writes it: the pool has no uid yet.
			"ownerReferences": []any{map[string]any{
				"apiVersion": group + "/v1", "kind": "MachineConfigPool", "name": pool.Metadata.Name, "uid": "", "controller": true,
			}},
		},
		"spec": json.RawMessage(content),
	}, nil
}

// selected are the pool's configs: those of role worker by name, then the others by name.
func (in *inputs) selected(pool machineConfigPool) ([]machineConfig, error) {
	var selected []machineConfig
	all := append([]machineConfig{in.kernelArguments(pool)}, in.configs...)
	for _, role := range []string{"master", "worker"} {
		own, err := in.own(role)
		if err != nil {
			return nil, err
		}
		all = append(all, own)
	}
	for _, config := range all {
		if pool.Spec.Selector.selects(config.Metadata.Labels) {
			selected = append(selected, config)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("couldn't find any MachineConfigs for pool: %s", pool.Metadata.Name)
	}
	sort.SliceStable(selected, func(i, j int) bool {
		a, b := selected[i].Metadata, selected[j].Metadata
		if aWorker, bWorker := a.Labels[roleLabel] == "worker", b.Labels[roleLabel] == "worker"; aWorker != bWorker {
			return aWorker
		}
		return a.Name < b.Name
	})
	return selected, nil
}

// kernelArguments is what the controller makes for every pool, the user's own pools included.
func (in *inputs) kernelArguments(pool machineConfigPool) machineConfig {
	config := machineConfig{Spec: machineConfigSpec{KernelArguments: []string{"psi=0"}}}
	config.Metadata.Name = "97-" + pool.Metadata.Name + "-generated-kubelet"
	config.Metadata.Labels = map[string]string{roleLabel: pool.Metadata.Name}
	return config
}

// own is the part the controller makes itself for a role: here a few files that show each input, and those of the templates.
func (in *inputs) own(role string) (machineConfig, error) {
	config := machineConfig{Spec: machineConfigSpec{Config: &ignitionConfig{}}}
	config.Metadata.Name = "00-" + role
	config.Metadata.Labels = map[string]string{roleLabel: role}
	config.Spec.Config.Ignition.Version = "3.4.0"
	url := strings.TrimPrefix(in.spec.Infra.Status.APIServerInternalURI, "https://")
	host, port, _ := strings.Cut(url, ":")
	add := func(path string, content []byte) {
		config.Spec.Config.Storage.Files = append(config.Spec.Config.Storage.Files, file(path, content))
	}
	add("/etc/kubernetes/apiserver-url.env", fmt.Appendf(nil, "KUBERNETES_SERVICE_HOST='%s'\nKUBERNETES_SERVICE_PORT='%s'\n", host, port))
	add("/etc/kubernetes/kubelet.conf", fmt.Appendf(nil, "kind: KubeletConfiguration\nclusterDNS: [%s]\n", in.spec.ClusterDNSIP))
	add("/var/lib/kubelet/config.json", in.pullSecret)
	if len(in.spec.AdditionalTrustBundle) > 0 {
		add("/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt", in.spec.AdditionalTrustBundle)
	}
	add("/etc/stand-in/inputs", in.sums(role))
	config.Spec.Config.Systemd.Units = []map[string]any{unit("kubelet.service", "[Service]\nExecStart=/bin/true\n")}
	return config, in.template(in.templates, role, config.Spec.Config)
}

// sums has a line for each input the real controller would use, so that each changes the result.
func (in *inputs) sums(role string) []byte {
	lines := []string{}
	line := func(name string, content []byte) {
		lines = append(lines, fmt.Sprintf("%s %x\n", name, sha256.Sum256(content)))
	}
	spec, _ := json.Marshal(in.spec)
	line("controller-config", spec)
	line("feature-gates", in.enabledGates)
	for _, found := range slices.Concat(in.mirrors, in.others) {
		line(found.Kind+"/"+found.Metadata.Name, found.raw)
	}
	for _, bound := range slices.Concat(in.kubelet, in.runtime) {
		for _, pool := range in.pools {
			if pool.Metadata.Name == role && bound.Spec.Selector.selects(pool.Metadata.Labels) {
				line(bound.Kind+"/"+bound.Metadata.Name, bound.raw)
			}
		}
	}
	sort.Strings(lines)
	return []byte(strings.Join(lines, ""))
}

var ignitionVersion = regexp.MustCompile(`^(2\.2|3\.[0-4])\.0$`)

func merge(spec *machineConfigSpec, config machineConfig) error {
	add := config.Spec
	if !slices.Contains([]string{"", "default", "realtime", "64k-pages"}, add.KernelType) {
		return fmt.Errorf("kernelType=%s is invalid", add.KernelType)
	}
	if add.KernelType != "" {
		spec.KernelType = add.KernelType
	}
	if add.OSImageURL != "" {
		spec.OSImageURL = add.OSImageURL
	}
	spec.FIPS = spec.FIPS || add.FIPS
	spec.KernelArguments = append(spec.KernelArguments, add.KernelArguments...)
	spec.Extensions = append(spec.Extensions, add.Extensions...)
	if add.Config == nil {
		return nil
	}
	if !ignitionVersion.MatchString(add.Config.Ignition.Version) {
		return fmt.Errorf("parsing Ignition config failed: unknown version. Supported spec versions: 2.2, 3.0, 3.1, 3.2, 3.3, 3.4")
	}
	for key, value := range add.Config.Passwd {
		if spec.Config.Passwd == nil {
			spec.Config.Passwd = map[string]any{}
		}
		spec.Config.Passwd[key] = value
	}
	spec.Config.Storage.Files = replace(spec.Config.Storage.Files, add.Config.Storage.Files, "path")
	spec.Config.Systemd.Units = replace(spec.Config.Systemd.Units, add.Config.Systemd.Units, "name")
	return nil
}

// replace adds entries; one with the same key takes the place of the earlier one.
func replace(all, added []map[string]any, key string) []map[string]any {
	for _, entry := range added {
		at := slices.IndexFunc(all, func(other map[string]any) bool { return other[key] == entry[key] })
		if at >= 0 {
			all[at] = entry
		} else {
			all = append(all, entry)
		}
	}
	return all
}
