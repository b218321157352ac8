// Package version stands in for cluster-version-operator: it applies the release's manifests and reports how far it is.
package version

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Manifest is one object of the release.
type Manifest struct {
	File   string
	Object *unstructured.Unstructured
}

// Payload is a release.
type Payload struct {
	Version   string
	Image     string
	Manifests []Manifest
	// Skipped says why an object was left out, by file and name.
	Skipped map[string]string
}

// Load reads the release out of the image that this program runs in: root/release-manifests, and root/manifests if
// there is one (cluster-version-operator pkg/payload/payload.go).
func Load(root, image string, rules Rules) (*Payload, error) {
	payload := &Payload{Image: image, Skipped: map[string]string{}}
	metadata, err := os.ReadFile(filepath.Join(root, "release-manifests", "release-metadata"))
	if err != nil {
		return nil, err
	}
	var head struct{ Version string }
	if err := json.Unmarshal(metadata, &head); err != nil || head.Version == "" {
		return nil, fmt.Errorf("release-metadata names no version: %v", err)
	}
	payload.Version = head.Version
	var problems []error
	for _, folder := range []string{"manifests", "release-manifests"} {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
				problems = append(problems, payload.add(filepath.Join(root, folder, entry.Name()), rules))
			}
		}
	}
	slices.SortStableFunc(payload.Manifests, func(a, b Manifest) int { return strings.Compare(a.File, b.File) })
	return payload, errors.Join(problems...)
}

func (p *Payload) add(path string, rules Rules) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	if strings.HasPrefix(name, "0000_00_cluster-version-operator_") {
		text = bytes.ReplaceAll(text, []byte("{{.ReleaseImage}}"), []byte(p.Image))
		text = bytes.ReplaceAll(text, []byte("{{.ClusterProfile}}"), []byte(rules.Profile))
	}
	objects, err := Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, object := range objects {
		if reason := rules.Exclusion(object); reason != "" {
			p.Skipped[name+" "+object.GetKind()+" "+object.GetName()] = reason
			continue
		}
		p.Manifests = append(p.Manifests, Manifest{File: name, Object: object})
	}
	return nil
}

// Decode reads every object of a YAML or JSON text.
func Decode(text []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); err != nil {
			if errors.Is(err, io.EOF) {
				return objects, nil
			}
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

var groupName = regexp.MustCompile(`^0000_([0-9]+)_([^_]+)`)

// Groups cuts the manifests into run level and component. In a group files are applied in order; the groups do not
// wait for each other while a cluster is being installed (cluster-version-operator pkg/payload/task_graph.go).
func (p *Payload) Groups() [][]Manifest {
	var groups [][]Manifest
	at := map[string]int{}
	for _, manifest := range p.Manifests {
		name := groupName.FindString(manifest.File)
		if name == "" {
			name = manifest.File
		}
		index, ok := at[name]
		if !ok {
			index = len(groups)
			at[name] = index
			groups = append(groups, nil)
		}
		groups[index] = append(groups[index], manifest)
	}
	return groups
}
