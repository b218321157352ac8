package version

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"hardway.dev/lab/operators/internal/kube"
)

// Applier writes manifests.
type Applier struct {
	*kube.Clients
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

// NewApplier makes one.
func NewApplier(clients *kube.Clients) (*Applier, error) {
	client, err := discovery.NewDiscoveryClientForConfig(clients.Config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	return &Applier{Clients: clients, mapper: mapper}, nil
}

const (
	fieldManager = "cluster-version-operator"
	createOnly   = "release.openshift.io/create-only"
	deletes      = "release.openshift.io/delete"
)

// Apply brings one object into the cluster. Upstream merges field by field with code of its own; here the API server
// does it (server-side apply), with the same owner for the same fields.
func (a *Applier) Apply(ctx context.Context, manifest *unstructured.Unstructured, clusterVersion *unstructured.Unstructured) error {
	client, err := a.Client(manifest)
	if err != nil {
		return err
	}
	name := manifest.GetName()
	if manifest.GetAnnotations()[deletes] == "true" {
		err := client.Delete(ctx, name, metav1.DeleteOptions{})
		return ignoreMissing(err)
	}
	object := manifest.DeepCopy()
	isCreateOnly := object.GetAnnotations()[createOnly] == "true"
	own(object, clusterVersion, !isCreateOnly)
	if isOwnDeployment(object) {
		if err := a.setAPIServer(ctx, object); err != nil {
			return err
		}
	}
	if object.GetKind() == "ClusterOperator" {
		return a.create(ctx, client, object)
	}
	if isCreateOnly {
		return a.create(ctx, client, object)
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		return err
	}
	force := true
	_, err = client.Patch(ctx, name, types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: fieldManager, Force: &force})
	return err
}

// Client is the API of an object's kind and namespace.
func (a *Applier) Client(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		a.mapper.Reset()
		return nil, fmt.Errorf("UpdatePayloadResourceTypeMissing: no kind %s", kind)
	}
	if err != nil {
		return nil, err
	}
	resource := a.Dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return resource.Namespace(object.GetNamespace()), nil
	}
	return resource, nil
}

// create makes an object that does not exist; what a ClusterOperator's manifest says of related objects goes into its
// status, without the versions, which are what the operator will reach.
func (a *Applier) create(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	created, err := client.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil || object.GetKind() != "ClusterOperator" {
		return err
	}
	related, ok, _ := unstructured.NestedSlice(object.Object, "status", "relatedObjects")
	if !ok {
		return nil
	}
	created.Object["status"] = map[string]any{"relatedObjects": related}
	_, err = client.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

func isOwnDeployment(object *unstructured.Unstructured) bool {
	return object.GetKind() == "Deployment" && object.GetNamespace() == "openshift-cluster-version" && object.GetName() == "cluster-version-operator"
}

// setAPIServer points the operator's own pod at the internal load balancer, when it is known
// (cluster-version-operator lib/resourcebuilder/apps.go). Under a wrong field name it is not known, and the pod stays
// with an API server on its own node, which is none until the pivot.
func (a *Applier) setAPIServer(ctx context.Context, object *unstructured.Unstructured) error {
	infrastructure, err := a.ReadInfrastructure(ctx)
	if err != nil || infrastructure.APIServerInternalURI == "" {
		return nil
	}
	address, err := url.Parse(infrastructure.APIServerInternalURI)
	if err != nil {
		return err
	}
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	for _, container := range containers {
		variables, _ := container.(map[string]any)["env"].([]any)
		for _, variable := range variables {
			switch fields, _ := variable.(map[string]any); fields["name"] {
			case "KUBERNETES_SERVICE_HOST":
				fields["value"] = address.Hostname()
			case "KUBERNETES_SERVICE_PORT":
				fields["value"] = address.Port()
			}
		}
	}
	return unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")
}

func own(object, clusterVersion *unstructured.Unstructured, isController bool) {
	reference := metav1.OwnerReference{
		APIVersion: clusterVersion.GetAPIVersion(), Kind: clusterVersion.GetKind(), Name: clusterVersion.GetName(), UID: clusterVersion.GetUID(),
	}
	if isController {
		reference.Controller = &isController
	}
	object.SetOwnerReferences([]metav1.OwnerReference{reference})
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
