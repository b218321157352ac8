package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/installer"
)

// packManifests does for the manifests of this folder what `oc adm release new` does for operators': it replaces the
// placeholders of image-references by pull specs and the snapshot version by the release's, and gives files that have no place in the
// order of the whole release one of their component's.
func packManifests(_ context.Context, arguments []string) error {
	flags := newFlags("release-manifests")
	from := flags.String("from", "", "folder of manifests with its image-references")
	to := flags.String("to", "", "folder to write to")
	version := flags.String("version", "", "the release's version")
	component := flags.String("component", "", "whose manifests these are: the tag of its image")
	images := map[string]string{}
	flags.Func("image", "NAME=PULLSPEC, as often as there are images", func(text string) error {
		name, spec, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=PULLSPEC", text)
		}
		images[name] = spec
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	return Pack(*from, *to, *version, *component, images)
}

// Pack writes the manifests. Every placeholder must have an image. Only a file that begins with 0000_ says when it is applied; others come
// with their component in the fifties (oc `pkg/cli/admin/release/new.go`).
func Pack(from, to, version, component string, images map[string]string) error {
	if version == "" {
		return errors.New("--version must be given")
	}
	references, err := readReferences(filepath.Join(from, "image-references"))
	if err != nil {
		return err
	}
	// Longer ones first: one placeholder may begin another.
	slices.SortFunc(references, func(a, b reference) int { return len(b.placeholder) - len(a.placeholder) })
	pairs := []string{"0.0.1-snapshot", version}
	var missing []string
	for _, reference := range references {
		spec, ok := images[reference.name]
		if !ok {
			missing = append(missing, reference.name)
		}
		pairs = append(pairs, reference.placeholder, spec)
	}
	if len(missing) > 0 {
		return fmt.Errorf("no --image for %s", strings.Join(missing, ", "))
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	replacer := strings.NewReplacer(pairs...)
	for _, entry := range entries {
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			continue
		}
		name := entry.Name()
		if component != "" && !strings.HasPrefix(name, "0000_") {
			name = "0000_50_" + component + "_" + name
		}
		text, err := os.ReadFile(filepath.Join(from, entry.Name()))
		if err != nil {
			return err
		}
		if err := installer.WriteAtomically(filepath.Join(to, name), []byte(replacer.Replace(string(text))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

type reference struct{ name, placeholder string }

func readReferences(path string) ([]reference, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var stream struct {
		Spec struct {
			Tags []struct {
				Name string
				From struct{ Name string }
			}
		}
	}
	encoded, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(encoded, &stream); err != nil {
		return nil, err
	}
	var references []reference
	for _, tag := range stream.Spec.Tags {
		references = append(references, reference{tag.Name, tag.From.Name})
	}
	return references, nil
}
