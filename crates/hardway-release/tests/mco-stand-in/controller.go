package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

const configGroup = "config.openshift.io"

// inputs is what the controller picks out of its folder.
type inputs struct {
	config       *object
	spec         controllerConfigSpec
	gates        *object
	pools        []machineConfigPool
	configs      []machineConfig
	kubelet      []boundToPools
	runtime      []boundToPools
	mirrors      []object
	others       []object
	pullSecret   []byte
	templates    string
	enabledGates json.RawMessage
}

type boundToPools struct {
	object
	Spec struct {
		Selector selector `json:"machineConfigPoolSelector"`
	} `json:"spec"`
}

func runController(args []string) error {
	var manifestDir, destDir, pullSecret string
	templates, payloadVersion := "/etc/mcc/templates", "0.0.1-snapshot"
	flags(args, map[string]*string{
		"manifest-dir": &manifestDir, "dest-dir": &destDir, "pull-secret": &pullSecret,
		"templates": &templates, "payload-version": &payloadVersion,
	})
	if manifestDir == "" || destDir == "" {
		return fmt.Errorf("--dest-dir or --manifest-dir not set")
	}
	if err := renderAll(manifestDir, destDir, pullSecret, templates, payloadVersion); err != nil {
		return fmt.Errorf("error running MCC[BOOTSTRAP]: %w", err)
	}
	return nil
}

func renderAll(manifestDir, destDir, pullSecretFile, templates, payloadVersion string) error {
	if _, err := os.ReadDir(manifestDir); err != nil {
		return err
	}
	pullSecret, err := readPullSecret(pullSecretFile)
	if err != nil {
		return err
	}
	objects, err := readDir(manifestDir)
	if err != nil {
		return err
	}
	in := inputs{pullSecret: pullSecret, templates: templates}
	for _, found := range objects {
		if err := in.take(found); err != nil {
			return err
		}
	}
	if err := in.check(manifestDir, payloadVersion); err != nil {
		return err
	}
	for _, pool := range in.pools {
		rendered, err := in.render(pool)
		if err != nil {
			return err
		}
		if err := write(destDir, pool, rendered); err != nil {
			return err
		}
	}
	log("writing the following controllerConfig to disk: %s", in.config.raw)
	path := filepath.Join(destDir, "controller-config", "machine-config-controller.yaml")
	return writeYAML(path, json.RawMessage(in.config.raw), 0o764, 0o664)
}

func readPullSecret(path string) ([]byte, error) {
	const wanted = "kubernetes.io/dockerconfigjson"
	file, err := readFile(path, "Secret")
	if err != nil {
		return nil, err
	}
	var secret struct {
		Type string            `json:"type"`
		Data map[string][]byte `json:"data"`
	}
	if err := file.into(&secret); err != nil {
		return nil, err
	}
	if secret.Type != wanted {
		return nil, fmt.Errorf("expected secret type %s found %s", wanted, secret.Type)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, secret.Data[".dockerconfigjson"]); err != nil {
		return nil, fmt.Errorf("couldn't compact pullsecret: %w", err)
	}
	return compact.Bytes(), nil
}

// take sorts an object in by its kind. Groups the controller does not know are passed over.
func (in *inputs) take(found object) error {
	switch {
	case found.is(group, "ControllerConfig"):
		in.config = &found
		var config controllerConfig
		if err := found.into(&config); err != nil {
			return err
		}
		in.spec = config.Spec
	case found.is(group, "MachineConfigPool"):
		pool := machineConfigPool{}
		if err := found.into(&pool); err != nil {
			return err
		}
		pool.object = found
		in.pools = append(in.pools, pool)
	case found.is(group, "MachineConfig"):
		config := machineConfig{}
		if err := found.into(&config); err != nil {
			return err
		}
		config.object = found
		in.configs = append(in.configs, config)
	case found.is(group, "KubeletConfig"), found.is(group, "ContainerRuntimeConfig"):
		bound := boundToPools{}
		if err := found.into(&bound); err != nil {
			return err
		}
		bound.object = found
		if found.Kind == "KubeletConfig" {
			in.kubelet = append(in.kubelet, bound)
		} else {
			in.runtime = append(in.runtime, bound)
		}
	case found.is("operator.openshift.io", "ImageContentSourcePolicy"),
		found.is(configGroup, "ImageDigestMirrorSet"), found.is(configGroup, "ImageTagMirrorSet"):
		in.mirrors = append(in.mirrors, found)
	case found.is(configGroup, "FeatureGate") && found.Metadata.Name == "cluster":
		in.gates = &found
	case found.is(configGroup, "Image"), found.is(configGroup, "ClusterImagePolicy"), found.is(configGroup, "ImagePolicy"),
		found.is(configGroup, "Node"), found.is(configGroup, "APIServer"):
		in.others = append(in.others, found)
	default:
		log("skipping %q manifest because of unhandled %s %s", found.file, found.APIVersion, found.Kind)
	}
	return nil
}

func (in *inputs) check(manifestDir, payloadVersion string) error {
	if in.config == nil {
		return fmt.Errorf("error: no controllerconfig found in dir: %q", manifestDir)
	}
	if in.gates == nil {
		return fmt.Errorf("error: no featuregate found in dir: %q", manifestDir)
	}
	var gates struct {
		Status struct {
			FeatureGates []struct {
				Version string          `json:"version"`
				Enabled json.RawMessage `json:"enabled"`
			} `json:"featureGates"`
		} `json:"status"`
	}
	if err := in.gates.into(&gates); err != nil {
		return err
	}
	for _, entry := range gates.Status.FeatureGates {
		if entry.Version == payloadVersion {
			in.enabledGates = entry.Enabled
		}
	}
	if in.enabledGates == nil {
		return fmt.Errorf("error creating feature gate access: unable to determine features: "+
			"missing desired version %q in featuregates.config.openshift.io/cluster", payloadVersion)
	}
	if in.spec.Infra.Status.PlatformStatus.Type == "" {
		return fmt.Errorf("failed to create MachineConfig for role master: cannot generate MachineConfigs when no platformStatus.type is set")
	}
	if err := in.checkURL(); err != nil {
		return err
	}
	if err := onePerPool("KubeletConfig", in.kubelet, in.pools); err != nil {
		return err
	}
	return onePerPool("ContainerRuntimeConfig", in.runtime, in.pools)
}

// checkURL fails where a template of the real controller would.
func (in *inputs) checkURL() error {
	parsed, err := url.Parse(in.spec.Infra.Status.APIServerInternalURI)
	if err != nil {
		return fmt.Errorf("invalid url: %w", err)
	}
	if parsed.Port() == "" && parsed.Scheme != "https" && parsed.Scheme != "http" {
		return fmt.Errorf("failed to execute template: unknown scheme in %s", in.spec.Infra.Status.APIServerInternalURI)
	}
	return nil
}

func onePerPool(kind string, all []boundToPools, pools []machineConfigPool) error {
	seen := map[string]bool{}
	for _, bound := range all {
		for _, pool := range pools {
			if !bound.Spec.Selector.selects(pool.Metadata.Labels) {
				continue
			}
			if seen[pool.Metadata.Name] {
				return fmt.Errorf("Error found multiple %ss targeting MachineConfigPool %s. "+
					"Please apply only one %s manifest for each pool during installation", kind, pool.Metadata.Name, kind)
			}
			seen[pool.Metadata.Name] = true
		}
	}
	return nil
}

func write(destDir string, pool machineConfigPool, rendered map[string]any) error {
	name := rendered["metadata"].(map[string]any)["name"].(string)
	var whole map[string]any
	if err := json.Unmarshal(pool.raw, &whole); err != nil {
		return err
	}
	spec, _ := whole["spec"].(map[string]any)
	spec["configuration"] = map[string]any{"name": name}
	whole["status"] = map[string]any{"configuration": map[string]any{"name": name}}
	file := filepath.Join(destDir, "machine-pools", pool.Metadata.Name+".yaml")
	if err := writeYAML(file, whole, 0o764, 0o664); err != nil {
		return err
	}
	return writeYAML(filepath.Join(destDir, "machine-configs", name+".yaml"), rendered, 0o764, 0o664)
}
