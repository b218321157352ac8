package kube

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ref names a ConfigMap or Secret.
type Ref struct{ Namespace, Name string }

func (r Ref) String() string { return r.Namespace + "/" + r.Name }

// ApplyConfigMap creates the object, or brings data, labels and annotations up to date. Labels and annotations of
// others stay.
func (c *Clients) ApplyConfigMap(ctx context.Context, wanted *corev1.ConfigMap) (changed bool, err error) {
	client := c.Kube.CoreV1().ConfigMaps(wanted.Namespace)
	found, err := client.Get(ctx, wanted.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, wanted, metav1.CreateOptions{})
		return err == nil, err
	}
	if err != nil {
		return false, err
	}
	isSame := maps.Equal(found.Data, wanted.Data) && len(found.BinaryData) == 0
	isMarked := mark(&found.ObjectMeta, &wanted.ObjectMeta)
	if isSame && isMarked {
		return false, nil
	}
	found.Data, found.BinaryData = wanted.Data, nil
	_, err = client.Update(ctx, found, metav1.UpdateOptions{})
	return err == nil, err
}

// ApplySecret does the same for a Secret. The type cannot be changed, so one of another type is replaced.
func (c *Clients) ApplySecret(ctx context.Context, wanted *corev1.Secret) (changed bool, err error) {
	client := c.Kube.CoreV1().Secrets(wanted.Namespace)
	if wanted.Type == "" {
		wanted.Type = corev1.SecretTypeOpaque
	}
	found, err := client.Get(ctx, wanted.Name, metav1.GetOptions{})
	if err == nil && found.Type != wanted.Type {
		err = client.Delete(ctx, wanted.Name, metav1.DeleteOptions{})
		if err == nil {
			err = apierrors.NewNotFound(corev1.Resource("secrets"), wanted.Name)
		}
	}
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, wanted, metav1.CreateOptions{})
		return err == nil, err
	}
	if err != nil {
		return false, err
	}
	isSame := maps.EqualFunc(found.Data, wanted.Data, bytes.Equal)
	isMarked := mark(&found.ObjectMeta, &wanted.ObjectMeta)
	if isSame && isMarked {
		return false, nil
	}
	found.Data = wanted.Data
	_, err = client.Update(ctx, found, metav1.UpdateOptions{})
	return err == nil, err
}

// SyncConfigMap keeps a copy of a ConfigMap elsewhere. Without a source the copy goes too (library-go
// pkg/operator/resourcesynccontroller).
func (c *Clients) SyncConfigMap(ctx context.Context, to, from Ref) error {
	source, err := c.Kube.CoreV1().ConfigMaps(from.Namespace).Get(ctx, from.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ignoreMissing(c.Kube.CoreV1().ConfigMaps(to.Namespace).Delete(ctx, to.Name, metav1.DeleteOptions{}))
	}
	if err != nil {
		return fmt.Errorf("configmap %s: %w", from, err)
	}
	meta := metav1.ObjectMeta{Namespace: to.Namespace, Name: to.Name}
	_, err = c.ApplyConfigMap(ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: source.Data})
	return err
}

// SyncSecret keeps a copy of a Secret elsewhere.
func (c *Clients) SyncSecret(ctx context.Context, to, from Ref) error {
	source, err := c.Kube.CoreV1().Secrets(from.Namespace).Get(ctx, from.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ignoreMissing(c.Kube.CoreV1().Secrets(to.Namespace).Delete(ctx, to.Name, metav1.DeleteOptions{}))
	}
	if err != nil {
		return fmt.Errorf("secret %s: %w", from, err)
	}
	meta := metav1.ObjectMeta{Namespace: to.Namespace, Name: to.Name}
	_, err = c.ApplySecret(ctx, &corev1.Secret{ObjectMeta: meta, Type: source.Type, Data: source.Data})
	return err
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// mark adds the wanted labels and annotations and tells whether they were all there.
func mark(found, wanted *metav1.ObjectMeta) bool {
	complete := true
	add := func(into *map[string]string, from map[string]string) {
		for key, value := range from {
			if has, ok := (*into)[key]; ok && has == value {
				continue
			}
			if *into == nil {
				*into = map[string]string{}
			}
			(*into)[key], complete = value, false
		}
	}
	add(&found.Labels, wanted.Labels)
	add(&found.Annotations, wanted.Annotations)
	return complete
}
