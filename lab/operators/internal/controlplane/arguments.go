package controlplane

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"
)

// Document is a component's configuration file.
type Document map[string]any

// ReadDocument reads a file that came with the program.
func ReadDocument(text string) Document {
	document := Document{}
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		panic(fmt.Sprintf("the built-in configuration is no YAML: %v", err))
	}
	return document
}

// SetArguments puts a list of values under section.name; without values nothing is set.
func (d Document) SetArguments(section, name string, values ...any) {
	if len(values) == 0 {
		return
	}
	arguments, ok := d[section].(map[string]any)
	if !ok {
		arguments = map[string]any{}
		d[section] = arguments
	}
	arguments[name] = values
}

// Text is the document as YAML, keys in order.
func (d Document) Text() string {
	text, _ := yaml.Marshal(d)
	return string(text)
}

// Flags turns the lists of a section into a command line, in order, so that the same configuration makes the same
// pod (cluster-kube-controller-manager-operator GetKubeControllerManagerArgs).
func (d Document) Flags(section string) []string {
	arguments, _ := d[section].(map[string]any)
	var flags []string
	for name, values := range arguments {
		list, _ := values.([]any)
		for _, value := range list {
			flags = append(flags, fmt.Sprintf("--%s=%v", name, value))
		}
	}
	slices.Sort(flags)
	return flags
}

// Any turns texts into what a document holds.
func Any(texts []string) []any {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return values
}
