package main

import (
	"fmt"
	"strings"
)

type mirrored struct {
	Source  string   `json:"source"`
	Mirrors []string `json:"mirrors"`
	Policy  string   `json:"mirrorSourcePolicy"`
}

// registries is what the real controller adds to registries.conf for images by digest (openshift/runtime-utils pkg/registries).
func (in *inputs) registries() (string, error) {
	text := strings.Builder{}
	for _, found := range in.mirrors {
		set := struct {
			Spec struct {
				Digest     []mirrored `json:"imageDigestMirrors"`
				Repository []mirrored `json:"repositoryDigestMirrors"`
			} `json:"spec"`
		}{}
		if err := found.into(&set); err != nil {
			return "", err
		}
		for _, entry := range append(set.Spec.Digest, set.Spec.Repository...) {
			fmt.Fprintf(&text, "\n[[registry]]\nprefix = \"\"\nlocation = %q\nblocked = %t\n", entry.Source, entry.Policy == "NeverContactSource")
			for _, mirror := range entry.Mirrors {
				fmt.Fprintf(&text, "\n[[registry.mirror]]\nlocation = %q\npull-from-mirror = \"digest-only\"\n", mirror)
			}
		}
	}
	return text.String(), nil
}
