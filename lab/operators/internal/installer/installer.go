// Package installer puts a revision of a static pod onto the node it runs on (library-go
// pkg/operator/staticpod/installerpod).
package installer

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// Names are what to copy: required and optional ConfigMaps and Secrets.
type Names struct{ ConfigMaps, OptionalConfigMaps, Secrets, OptionalSecrets []string }

// Options are the command line.
type Options struct {
	Revision            int
	Namespace, Pod      string
	NodeName            string
	ResourceDir, PodDir string
	CertDir             string
	Revisioned, Certs   Names
}

// Run reads everything first and writes the pod last, so that a pod on disk finds all its files.
func Run(ctx context.Context, clients *kube.Clients, options Options) error {
	if options.Revision < 1 || options.NodeName == "" {
		return errors.New("--revision and NODE_NAME must be given")
	}
	pods, err := clients.Kube.CoreV1().ConfigMaps(options.Namespace).Get(ctx, options.suffixed(options.Pod), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if _, ok := pods.Data["pod.yaml"]; !ok {
		return fmt.Errorf("configmap %s has no key pod.yaml", pods.Name)
	}
	folder := filepath.Join(options.ResourceDir, options.suffixed(options.Pod))
	if err := copyAll(ctx, clients, options.Namespace, folder, options.Revisioned, options.suffixed, options.substitute); err != nil {
		return err
	}
	if options.CertDir != "" {
		same := func(name string) string { return name }
		if err := copyAll(ctx, clients, options.Namespace, options.CertDir, options.Certs, same, options.substitute); err != nil {
			return err
		}
	}
	text := []byte(options.substitute(pods.Data["pod.yaml"]))
	for _, place := range []string{folder, options.PodDir} {
		if err := os.MkdirAll(place, 0o755); err != nil {
			return err
		}
		if err := WriteAtomically(filepath.Join(place, options.Pod+".yaml"), text, 0o600); err != nil {
			return err
		}
	}
	log.Printf("installed revision %d of %s", options.Revision, options.Pod)
	return nil
}

func (o Options) suffixed(name string) string { return name + "-" + strconv.Itoa(o.Revision) }

// substitute fills in what differs from node to node and from revision to revision.
func (o Options) substitute(text string) string {
	variable := strings.NewReplacer("-", "_", ".", "_").Replace(o.NodeName)
	return strings.NewReplacer(
		"REVISION", strconv.Itoa(o.Revision), "NODE_NAME", o.NodeName, "NODE_ENVVAR_NAME", variable,
	).Replace(text)
}

func copyAll(ctx context.Context, clients *kube.Clients, namespace, folder string, names Names, full, substitute func(string) string) error {
	write := func(kind, name string, data map[string]string) error {
		into := filepath.Join(folder, kind, name)
		if err := os.MkdirAll(into, 0o755); err != nil {
			return err
		}
		for file, content := range data {
			if err := WriteAtomically(filepath.Join(into, file), []byte(substitute(content)), 0o600); err != nil {
				return err
			}
		}
		return nil
	}
	copyMap := func(name string) error {
		found, err := clients.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, full(name), metav1.GetOptions{})
		if err != nil {
			return err
		}
		return write("configmaps", name, found.Data)
	}
	copySecret := func(name string) error {
		found, err := clients.Kube.CoreV1().Secrets(namespace).Get(ctx, full(name), metav1.GetOptions{})
		if err != nil {
			return err
		}
		return write("secrets", name, maps.Collect(func(yield func(string, string) bool) {
			for key, value := range found.Data {
				if !yield(key, string(value)) {
					return
				}
			}
		}))
	}
	var all []error
	for _, set := range []struct {
		names    []string
		copy     func(string) error
		optional bool
	}{
		{names.ConfigMaps, copyMap, false}, {names.OptionalConfigMaps, copyMap, true},
		{names.Secrets, copySecret, false}, {names.OptionalSecrets, copySecret, true},
	} {
		for _, name := range set.names {
			if err := set.copy(name); err != nil && !(set.optional && apierrors.IsNotFound(err)) {
				all = append(all, err)
			}
		}
	}
	return errors.Join(all...)
}

// WriteAtomically replaces a file in one step: readers see the old content or the new.
func WriteAtomically(path string, content []byte, mode os.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if err := errors.Join(temporary.Chmod(mode), second(temporary.Write(content)), temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

func second[T any](_ T, err error) error { return err }
