package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

const group = "machineconfiguration.openshift.io"

// Images that the command stops without.
var requiredImages = []string{
	"machine-config-operator", "keepalived-ipfailover", "coredns", "baremetal-runtimecfg",
	"oauth-proxy", "kube-rbac-proxy", "pod", "haproxy-router",
}

// controllerConfig is the part of ControllerConfig that the stand-in controller uses.
type controllerConfig struct {
	Spec controllerConfigSpec `json:"spec"`
}

type controllerConfigSpec struct {
	AdditionalTrustBundle      []byte            `json:"additionalTrustBundle"`
	BaseOSContainerImage       string            `json:"baseOSContainerImage"`
	BaseOSExtensionsImage      string            `json:"baseOSExtensionsContainerImage"`
	ClusterDNSIP               string            `json:"clusterDNSIP"`
	DNS                        json.RawMessage   `json:"dns"`
	Images                     map[string]string `json:"images"`
	Infra                      infrastructure    `json:"infra"`
	KubeAPIServerServingCAData []byte            `json:"kubeAPIServerServingCAData"`
	NetworkType                string            `json:"networkType"`
	Proxy                      json.RawMessage   `json:"proxy,omitempty"`
	ReleaseImage               string            `json:"releaseImage"`
	RootCAData                 []byte            `json:"rootCAData"`
}

type infrastructure struct {
	Spec struct {
		CloudConfig struct {
			Name string `json:"name"`
		} `json:"cloudConfig"`
	} `json:"spec"`
	Status struct {
		APIServerInternalURI string `json:"apiServerInternalURI"`
		ControlPlaneTopology string `json:"controlPlaneTopology"`
		InfrastructureName   string `json:"infrastructureName"`
		PlatformStatus       struct {
			Type string `json:"type"`
		} `json:"platformStatus"`
	} `json:"status"`
}

type operatorFlags struct {
	rootCA, kubeCA, pullSecret, destDir, config, infra, network, dns, proxy, trust string
	cloudConfig, cloudCA, releaseImage, references, payloadVersion                 string
}

func runOperator(args []string) error {
	o := operatorFlags{
		rootCA:         "/etc/ssl/kubernetes/ca.crt",
		pullSecret:     "/assets/manifests/pull.json",
		infra:          "/assets/manifests/cluster-infrastructure-02-config.yml",
		network:        "/assets/manifests/cluster-network-02-config.yml",
		dns:            "/assets/manifests/cluster-dns-02-config.yml",
		proxy:          "/assets/manifests/cluster-proxy-01-config.yaml",
		trust:          "/assets/manifests/user-ca-bundle-config.yaml",
		payloadVersion: "0.0.1-snapshot",
	}
	flags(args, map[string]*string{
		"root-ca": &o.rootCA, "kube-ca": &o.kubeCA, "pull-secret": &o.pullSecret, "dest-dir": &o.destDir,
		"config-file": &o.config, "infra-config-file": &o.infra, "network-config-file": &o.network,
		"dns-config-file": &o.dns, "proxy-config-file": &o.proxy, "additional-trust-bundle-config-file": &o.trust,
		"cloud-config-file": &o.cloudConfig, "cloud-provider-ca-file": &o.cloudCA, "release-image": &o.releaseImage,
		"image-references": &o.references, "payload-version": &o.payloadVersion,
	})
	images, err := readImages(o)
	if err != nil {
		return err
	}
	spec, err := o.spec(images)
	if err != nil {
		return fmt.Errorf("error rendering bootstrap manifests: %w", err)
	}
	return o.write(spec)
}

func readImages(o operatorFlags) (map[string]string, error) {
	if o.references == "" {
		return nil, fmt.Errorf("the stand-in takes images from --image-references only")
	}
	stream, err := readFile(o.references, "ImageStream")
	if err != nil {
		return nil, fmt.Errorf("failed to read %s: %w", o.references, err)
	}
	var tags struct {
		Spec struct {
			Tags []struct {
				Name string `json:"name"`
				From struct{ Kind, Name string }
			} `json:"tags"`
		} `json:"spec"`
	}
	if err := stream.into(&tags); err != nil {
		return nil, err
	}
	images := map[string]string{}
	for _, tag := range tags.Spec.Tags {
		if tag.From.Kind == "DockerImage" {
			images[tag.Name] = tag.From.Name
		}
	}
	required := requiredImages
	if minor(o.payloadVersion) >= 21 {
		required = append(required, "docker-registry")
	}
	for _, name := range required {
		if images[name] == "" {
			return nil, fmt.Errorf("Failed to find %s in image references", name)
		}
	}
	return images, nil
}

// minor is the minor version of a release of 4; a later major counts as newer than all of them.
func minor(version string) int {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		return 0
	}
	number, _ := strconv.Atoi(parts[1])
	if major, _ := strconv.Atoi(parts[0]); major > 4 {
		return 100 + number
	}
	return number
}

func (o operatorFlags) spec(images map[string]string) (*controllerConfigSpec, error) {
	spec := &controllerConfigSpec{ReleaseImage: o.releaseImage}
	for _, file := range []struct {
		path string
		to   *[]byte
	}{{o.rootCA, &spec.RootCAData}, {o.kubeCA, &spec.KubeAPIServerServingCAData}} {
		data, err := os.ReadFile(file.path)
		if err != nil {
			return nil, err
		}
		*file.to = data
	}
	if _, err := os.ReadFile(o.config); err != nil {
		return nil, err
	}
	if _, err := os.ReadFile(o.pullSecret); err != nil {
		return nil, err
	}
	infra, err := readFile(o.infra, "Infrastructure")
	if err != nil {
		return nil, err
	}
	if err := infra.into(&spec.Infra); err != nil {
		return nil, err
	}
	if spec.Infra.Status.PlatformStatus.Type == "" {
		spec.Infra.Status.PlatformStatus.Type = "None"
	}
	if spec.Infra.Spec.CloudConfig.Name != "" {
		if _, err := os.ReadFile(o.cloudConfig); err != nil {
			return nil, fmt.Errorf("failed to load the cloud provider config: %w", err)
		}
	}
	if err := o.readProxyAndDNS(spec); err != nil {
		return nil, err
	}
	if err := o.readNetwork(spec); err != nil {
		return nil, err
	}
	if err := o.readTrust(spec); err != nil {
		return nil, err
	}
	spec.BaseOSContainerImage = images["rhel-coreos"]
	spec.BaseOSExtensionsImage = images["rhel-coreos-extensions"]
	spec.Images = map[string]string{}
	for _, name := range requiredImages {
		spec.Images[name] = images[name]
	}
	return spec, nil
}

func (o operatorFlags) readProxyAndDNS(spec *controllerConfigSpec) error {
	proxy, err := readFile(o.proxy, "Proxy")
	if err != nil {
		return err
	}
	var parts struct {
		Status json.RawMessage `json:"status"`
	}
	if err := proxy.into(&parts); err != nil {
		return err
	}
	spec.Proxy = parts.Status
	dns, err := readFile(o.dns, "DNS")
	spec.DNS = dns.raw
	return err
}

func (o operatorFlags) readNetwork(spec *controllerConfigSpec) error {
	file, err := readFile(o.network, "Network")
	if err != nil {
		return err
	}
	var network struct {
		Spec struct {
			NetworkType    string   `json:"networkType"`
			ServiceNetwork []string `json:"serviceNetwork"`
		} `json:"spec"`
	}
	if err := file.into(&network); err != nil {
		return err
	}
	if len(network.Spec.ServiceNetwork) == 0 {
		return fmt.Errorf("service cidr is empty in Network")
	}
	ip, _, err := net.ParseCIDR(network.Spec.ServiceNetwork[0])
	if err != nil {
		return err
	}
	ip[len(ip)-1] += 10
	spec.ClusterDNSIP = ip.String()
	spec.NetworkType = network.Spec.NetworkType
	return nil
}

func (o operatorFlags) readTrust(spec *controllerConfigSpec) error {
	file, err := readFile(o.trust, "ConfigMap")
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var bundle struct {
		Data map[string]string `json:"data"`
	}
	if err := file.into(&bundle); err != nil {
		return err
	}
	spec.AdditionalTrustBundle = []byte(bundle.Data["ca-bundle.crt"])
	return nil
}

func (o operatorFlags) write(spec *controllerConfigSpec) error {
	pullSecret, err := os.ReadFile(o.pullSecret)
	if err != nil {
		return err
	}
	config := map[string]any{
		"apiVersion": group + "/v1",
		"kind":       "ControllerConfig",
		"metadata": map[string]any{
			"name":        "machine-config-controller",
			"annotations": map[string]string{group + "/generated-by-version": version},
		},
		"spec": spec,
	}
	for path, content := range map[string]any{
		"bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml": config,
		"bootstrap/manifests/master.machineconfigpool.yaml":                 pool("master"),
		"bootstrap/manifests/worker.machineconfigpool.yaml":                 pool("worker"),
		"bootstrap/manifests/machineconfigcontroller-pull-secret":           pullSecret,
		"bootstrap/machineconfigoperator-bootstrap-pod.yaml":                map[string]any{"apiVersion": "v1", "kind": "Pod"},
		"manifests/csr-bootstrap-role-binding.yaml":                         map[string]any{"kind": "ClusterRoleBinding"},
		"manifests/kube-apiserver-serving-ca-configmap.yaml":                map[string]any{"kind": "ConfigMap"},
	} {
		if err := writeYAML(filepath.Join(o.destDir, path), content, 0o755, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func pool(name string) map[string]any {
	return map[string]any{
		"apiVersion": group + "/v1",
		"kind":       "MachineConfigPool",
		"metadata": map[string]any{
			"name":   name,
			"labels": map[string]string{"pools.operator." + group + "/" + name: "", group + "/mco-built-in": ""},
		},
		"spec": map[string]any{
			"machineConfigSelector": map[string]any{"matchLabels": map[string]string{group + "/role": name}},
			"nodeSelector":          map[string]any{"matchLabels": map[string]string{"node-role.kubernetes.io/" + name: ""}},
		},
	}
}

// writeYAML writes bytes as they are and everything else as YAML.
func writeYAML(path string, content any, dirMode, mode os.FileMode) error {
	data, isBytes := content.([]byte)
	if !isBytes {
		var err error
		if data, err = yaml.Marshal(content); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	return os.WriteFile(path, data, mode)
}
