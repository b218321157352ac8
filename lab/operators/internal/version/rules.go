package version

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Rules decide which manifests are for this cluster.
type Rules struct {
	// Profile is self-managed-high-availability, on a single node too.
	Profile string
	// FeatureSet is spec.featureSet; nothing means Default.
	FeatureSet string
	// DisabledCapabilities are those that were turned off.
	DisabledCapabilities []string
}

var featureSets = []string{"Default", "CustomNoUpgrade", "DevPreviewNoUpgrade", "TechPreviewNoUpgrade"}

// Exclusion says why a manifest is not for this cluster, or nothing (library-go pkg/manifest of 4.18, which does not
// look at single feature gates).
func (r Rules) Exclusion(object *unstructured.Unstructured) string {
	annotations := object.GetAnnotations()
	if len(annotations) == 0 {
		return "no annotations"
	}
	if sets, ok := annotations["release.openshift.io/feature-set"]; ok {
		wanted := r.FeatureSet
		if wanted == "" {
			wanted = "Default"
		}
		allowed := strings.Split(sets, ",")
		for _, set := range allowed {
			if !slices.Contains(featureSets, set) {
				return "unknown feature set " + set
			}
		}
		if !slices.Contains(allowed, wanted) {
			return "feature set " + wanted + ", and it is for " + sets
		}
	}
	if value := annotations["include.release.openshift.io/"+r.Profile]; value != "true" {
		return "not for profile " + r.Profile
	}
	for _, capability := range strings.Split(annotations["capability.openshift.io/name"], "+") {
		if slices.Contains(r.DisabledCapabilities, capability) {
			return "capability " + capability + " is off"
		}
	}
	return ""
}

// Override is one entry of ClusterVersion's spec.overrides.
type Override struct {
	Group, Kind, Namespace, Name string
	Unmanaged                    bool
}

// IsUnmanaged tells whether an object is left to the cluster's owner. The namespace of the entry is not looked at for
// objects that have none.
func IsUnmanaged(overrides []Override, object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(overrides, func(o Override) bool {
		return o.Unmanaged && o.Kind == object.GetKind() && o.Name == object.GetName() &&
			o.Group == object.GroupVersionKind().Group && (object.GetNamespace() == "" || o.Namespace == object.GetNamespace())
	})
}

// Overrides reads the list out of a ClusterVersion.
func Overrides(clusterVersion *unstructured.Unstructured) []Override {
	entries, _, _ := unstructured.NestedSlice(clusterVersion.Object, "spec", "overrides")
	var overrides []Override
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		text := func(key string) string { value, _ := fields[key].(string); return value }
		unmanaged, _ := fields["unmanaged"].(bool)
		overrides = append(overrides, Override{
			Group: text("group"), Kind: text("kind"), Namespace: text("namespace"), Name: text("name"), Unmanaged: unmanaged,
		})
	}
	return overrides
}
