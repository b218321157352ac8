package version

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"hardway.dev/lab/operators/internal/kube"
)

// History is one entry of status.history.
type History struct {
	State          string       `json:"state"`
	StartedTime    metav1.Time  `json:"startedTime"`
	CompletionTime *metav1.Time `json:"completionTime"`
	Version        string       `json:"version"`
	Image          string       `json:"image"`
	Verified       bool         `json:"verified"`
}

// Release is status.desired.
type Release struct {
	Version string `json:"version"`
	Image   string `json:"image"`
}

// Status is what this stand-in writes of a ClusterVersion's status.
type Status struct {
	Conditions         []kube.Condition `json:"conditions,omitempty"`
	Desired            Release          `json:"desired"`
	History            []History        `json:"history,omitempty"`
	ObservedGeneration int64            `json:"observedGeneration"`
	VersionHash        string           `json:"versionHash"`
}

// NextStatus says how far the release is, in upstream's words (cluster-version-operator pkg/cvo/status.go).
func NextStatus(status Status, payload *Payload, result Result, overrides []Override, now metav1.Time) Status {
	now = now.Rfc3339Copy()
	version := payload.Version
	status.Desired = Release{Version: version, Image: payload.Image}
	if len(status.History) == 0 || status.History[0].Version != version || status.History[0].Image != payload.Image {
		status.History = append([]History{{State: "Partial", StartedTime: now, Version: version, Image: payload.Image}}, status.History...)
	}
	latest := &status.History[0]
	if result.IsComplete() && latest.State != "Completed" {
		latest.State, latest.CompletionTime = "Completed", &now
	}
	set := func(kind, value, reason, message string) {
		status.Conditions = kube.SetCondition(status.Conditions, kube.Condition{Type: kind, Status: value, Reason: reason, Message: message}, now)
	}
	set("ReleaseAccepted", kube.True, "PayloadLoaded", fmt.Sprintf("Payload loaded version=%q image=%q architecture=%q", version, payload.Image, runtime.GOARCH))
	set("ImplicitlyEnabledCapabilities", kube.False, "AsExpected", "Capabilities match configured spec")
	set("RetrievedUpdates", kube.False, "NoUpstream", "the lab has no update service")
	if len(overrides) > 0 {
		set("Upgradeable", kube.False, "ClusterVersionOverridesSet", "Disabling ownership via cluster version overrides prevents upgrades. Please remove overrides before continuing.")
	} else {
		set("Upgradeable", kube.True, "AsExpected", "")
	}
	failing := failure(result)
	set("Failing", failing.Status, failing.Reason, failing.Message)
	isCompleted := latest.State == "Completed"
	switch {
	case isCompleted:
		set("Available", kube.True, "", "Done applying "+version)
	default:
		set("Available", kube.False, "", "")
	}
	switch {
	case isCompleted && failing.Status == kube.True:
		set("Progressing", kube.False, failing.Reason, fmt.Sprintf("Error while reconciling %s: %s", version, failing.Message))
	case isCompleted:
		set("Progressing", kube.False, "", "Cluster version is "+version)
	case failing.Status == kube.True:
		set("Progressing", kube.True, failing.Reason, fmt.Sprintf("Unable to apply %s: %s", version, failing.Message))
	default:
		set("Progressing", kube.True, "", progress(version, result))
	}
	return status
}

// failure takes errors, but not operators that are still on their way.
func failure(result Result) kube.Condition {
	switch len(result.Errors) {
	case 0:
		return kube.Condition{Status: kube.False}
	case 1:
		reason := "UpdatePayloadFailed"
		if name, _, ok := strings.Cut(result.Errors[0].Error(), "UpdatePayloadResourceTypeMissing"); ok && name != "" {
			reason = "UpdatePayloadResourceTypeMissing"
		}
		return kube.Condition{Status: kube.True, Reason: reason, Message: result.Errors[0].Error()}
	}
	var messages []string
	for _, err := range result.Errors {
		messages = append(messages, "* "+err.Error())
	}
	return kube.Condition{Status: kube.True, Reason: "MultipleErrors", Message: "Multiple errors are preventing progress:\n" + strings.Join(messages, "\n")}
}

func progress(version string, result Result) string {
	text := "Working towards " + version
	if result.Total > 0 && result.Done > 0 {
		text += fmt.Sprintf(": %d of %d done (%d%% complete)", result.Done, result.Total, 100*result.Done/result.Total)
	}
	if len(result.Waiting) > 0 {
		text += ", waiting on " + strings.Join(result.Waiting, ", ")
	}
	return text
}

// WriteStatus writes a ClusterVersion's status if it changed; what others wrote beside stays.
func WriteStatus(ctx context.Context, clients *kube.Clients, payload *Payload, result Result, capabilities Capabilities) error {
	object, err := ReadClusterVersion(ctx, clients)
	if err != nil {
		return err
	}
	raw, _, _ := unstructured.NestedMap(object.Object, "status")
	if raw == nil {
		raw = map[string]any{}
	}
	var found Status
	if err := apiruntime.DefaultUnstructuredConverter.FromUnstructured(raw, &found); err != nil {
		return err
	}
	before := found
	before.Conditions = append([]kube.Condition(nil), found.Conditions...)
	before.History = append([]History(nil), found.History...)
	next := NextStatus(found, payload, result, Overrides(object), metav1.Now())
	next.ObservedGeneration = object.GetGeneration()
	said, _, _ := unstructured.NestedMap(raw, "capabilities")
	if reflect.DeepEqual(before, next) && reflect.DeepEqual(said, capabilities.status()) {
		return nil
	}
	// Through JSON: a completion time that is not there yet is written as null, which the converter cannot.
	var written map[string]any
	if text, err := json.Marshal(next); err != nil {
		return err
	} else if err := json.Unmarshal(text, &written); err != nil {
		return err
	}
	for key, value := range written {
		raw[key] = value
	}
	raw["capabilities"] = capabilities.status()
	if _, ok := raw["availableUpdates"]; !ok {
		raw["availableUpdates"] = nil
	}
	object.Object["status"] = raw
	_, err = clients.Dynamic.Resource(kube.ClusterVersions).UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return err
}
