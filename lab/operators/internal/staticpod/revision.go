package staticpod

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Contents are all ConfigMaps and Secrets of a namespace.
type Contents struct {
	ConfigMaps map[string]map[string]string
	Secrets    map[string]map[string][]byte
	Types      map[string]corev1.SecretType
}

// ReadContents lists a namespace.
func ReadContents(ctx context.Context, clients *kube.Clients, namespace string) (Contents, error) {
	contents := Contents{
		ConfigMaps: map[string]map[string]string{},
		Secrets:    map[string]map[string][]byte{},
		Types:      map[string]corev1.SecretType{},
	}
	maps, err := clients.Kube.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return contents, err
	}
	for _, item := range maps.Items {
		contents.ConfigMaps[item.Name] = item.Data
	}
	secrets, err := clients.Kube.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return contents, err
	}
	for _, item := range secrets.Items {
		contents.Secrets[item.Name], contents.Types[item.Name] = item.Data, item.Type
	}
	return contents, nil
}

// Difference says in what the present differs from a revision, or nothing. A required object that is missing is an
// error: no revision is made without it (library-go pkg/operator/revisioncontroller).
func (o Operand) Difference(contents Contents, revision int32) (string, error) {
	suffix := "-" + strconv.Itoa(int(revision))
	difference := ""
	for _, resource := range o.ConfigMaps {
		now, isThere := contents.ConfigMaps[resource.Name]
		then, wasThere := contents.ConfigMaps[resource.Name+suffix]
		if !isThere && !resource.Optional {
			return "", fmt.Errorf("configmaps %q not found", resource.Name)
		}
		if isThere != wasThere || !maps.Equal(now, then) {
			difference = "configmap/" + resource.Name
		}
	}
	for _, resource := range o.Secrets {
		now, isThere := contents.Secrets[resource.Name]
		then, wasThere := contents.Secrets[resource.Name+suffix]
		if !isThere && !resource.Optional {
			return "", fmt.Errorf("secrets %q not found", resource.Name)
		}
		if isThere != wasThere || !maps.EqualFunc(now, then, bytes.Equal) {
			difference = "secret/" + resource.Name
		}
	}
	return difference, nil
}

// Missing lists the required objects that an installer pod of this revision would not find.
func (o Operand) Missing(contents Contents, revision int32) (configMaps, secrets []string) {
	suffix := "-" + strconv.Itoa(int(revision))
	check := func(resources []Resource, suffix string, has func(string) bool, into *[]string) {
		for _, name := range Required(resources) {
			if !has(name + suffix) {
				*into = append(*into, name+suffix)
			}
		}
	}
	hasMap := func(name string) bool { _, ok := contents.ConfigMaps[name]; return ok }
	hasSecret := func(name string) bool { _, ok := contents.Secrets[name]; return ok }
	check(o.CertConfigMaps, "", hasMap, &configMaps)
	check(o.ConfigMaps, suffix, hasMap, &configMaps)
	check(o.CertSecrets, "", hasSecret, &secrets)
	check(o.Secrets, suffix, hasSecret, &secrets)
	return configMaps, secrets
}

// overtakenFor is how long a revision can be overtaken at no cost.
const overtakenFor = 5 * time.Second

// IsHeld tells whether a new revision has to wait until the last one is everywhere. The real operators let the newer overtake at
// once, and so do these where Operand.HoldFor says nothing, and everywhere as long as no installer can have come to its end: changes
// that come together make one rollout. A revision that does not get there holds nothing up for ever: the next may mend it.
func (c *Controller) IsHeld(ctx context.Context, status *kube.Status) (bool, error) {
	if c.Operand.HoldFor == 0 || status.LatestAvailableRevision == 0 || status.IsStable() {
		return false, nil
	}
	name := "revision-status-" + strconv.Itoa(int(status.LatestAvailableRevision))
	found, err := c.Kube.CoreV1().ConfigMaps(c.Operand.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	age := time.Since(found.CreationTimestamp.Time)
	return age >= overtakenFor && age < c.Operand.HoldFor, nil
}

// Revise makes a new revision when anything differs from the last one.
func (c *Controller) Revise(ctx context.Context, status *kube.Status) error {
	if isHeld, err := c.IsHeld(ctx, status); isHeld || err != nil {
		return err
	}
	contents, err := ReadContents(ctx, c.Clients, c.Operand.Namespace)
	if err != nil {
		return err
	}
	difference, err := c.Operand.Difference(contents, status.LatestAvailableRevision)
	if err != nil || difference == "" {
		return err
	}
	next := status.LatestAvailableRevision + 1
	if err := c.copyAll(ctx, contents, next, difference); err != nil {
		return err
	}
	status.LatestAvailableRevision = next
	return nil
}

func (c *Controller) copyAll(ctx context.Context, contents Contents, revision int32, reason string) error {
	suffix := "-" + strconv.Itoa(int(revision))
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: c.Operand.Namespace, Name: name + suffix}
	}
	for _, resource := range c.Operand.ConfigMaps {
		data, ok := contents.ConfigMaps[resource.Name]
		if !ok {
			err := c.Kube.CoreV1().ConfigMaps(c.Operand.Namespace).Delete(ctx, resource.Name+suffix, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			continue
		}
		if _, err := c.ApplyConfigMap(ctx, &corev1.ConfigMap{ObjectMeta: meta(resource.Name), Data: data}); err != nil {
			return err
		}
	}
	for _, resource := range c.Operand.Secrets {
		data, ok := contents.Secrets[resource.Name]
		if !ok {
			continue
		}
		// A copy of a token is a plain Secret: the token controller would otherwise fill it anew.
		secretType := contents.Types[resource.Name]
		if secretType == corev1.SecretTypeServiceAccountToken {
			secretType = corev1.SecretTypeOpaque
		}
		if _, err := c.ApplySecret(ctx, &corev1.Secret{ObjectMeta: meta(resource.Name), Type: secretType, Data: data}); err != nil {
			return err
		}
	}
	_, err := c.ApplyConfigMap(ctx, &corev1.ConfigMap{
		ObjectMeta: meta("revision-status"),
		Data:       map[string]string{"revision": strconv.Itoa(int(revision)), "reason": reason + " has changed"},
	})
	return err
}
