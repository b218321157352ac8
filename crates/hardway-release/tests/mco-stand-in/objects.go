package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// object is one Kubernetes object: its head, and all of it as JSON.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	file string
	raw  []byte
}

func (o object) is(group, kind string) bool {
	found, _, _ := strings.Cut(o.APIVersion, "/")
	return found == group && o.Kind == kind
}

// into reads the object as a type of its own; a field of the wrong type is an error, as it is for the real decoder.
func (o object) into(value any) error {
	if err := json.Unmarshal(o.raw, value); err != nil {
		return fmt.Errorf("error parsing %q manifest: %w", o.file, err)
	}
	return nil
}

// readFile reads the first object of a file and checks its kind.
func readFile(path, kind string) (object, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return object{}, err
	}
	objects, err := parse(path, data)
	if err != nil {
		return object{}, err
	}
	if len(objects) == 0 {
		return object{}, fmt.Errorf("Object 'Kind' is missing in %s", path)
	}
	if objects[0].Kind != kind {
		return object{}, fmt.Errorf("expected *%s.%s found *v1.%s", goPackage(kind), kind, objects[0].Kind)
	}
	return objects[0], nil
}

// goPackage is how the real commands call the package of a kind in their messages.
func goPackage(kind string) string {
	if kind == "Secret" || kind == "ConfigMap" {
		return "corev1"
	}
	return "configv1"
}

// readDir reads every file of a folder, whatever its name; folders in it are passed over.
func readDir(dir string) ([]object, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []object
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("error opening %s: %w", path, err)
		}
		objects, err := parse(path, data)
		if err != nil {
			return nil, fmt.Errorf("error parsing manifests from %s: %w", path, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

func parse(path string, data []byte) ([]object, error) {
	var objects []object
	for _, document := range split(data) {
		raw, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, fmt.Errorf("error parsing %q: %w", path, err)
		}
		if string(raw) == "null" {
			continue
		}
		found := object{file: path, raw: raw}
		if err := json.Unmarshal(raw, &found); err != nil {
			return nil, fmt.Errorf("error parsing %q: %w", path, err)
		}
		if found.Kind == "" || found.APIVersion == "" {
			return nil, fmt.Errorf("error parsing %q manifest: Object 'Kind' or 'apiVersion' is missing", path)
		}
		objects = append(objects, found)
	}
	return objects, nil
}

// split cuts a stream at its separator lines.
func split(data []byte) [][]byte {
	var documents [][]byte
	var current bytes.Buffer
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, 1<<26)
	for scanner.Scan() {
		if line := scanner.Text(); strings.HasPrefix(line, "---") {
			documents = append(documents, bytes.Clone(current.Bytes()))
			current.Reset()
		} else {
			current.WriteString(line + "\n")
		}
	}
	return append(documents, current.Bytes())
}
