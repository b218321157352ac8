package installer

import (
	"bytes"
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// SyncCerts keeps the files that lie beside the revisions up to date until the context ends (library-go
// pkg/operator/staticpod/certsyncpod). What was not there before is written too: the names say what is wanted.
func SyncCerts(ctx context.Context, clients *kube.Clients, namespace, folder string, names Names, every time.Duration) {
	for {
		if err := SyncCertsOnce(ctx, clients, namespace, folder, names); err != nil && ctx.Err() == nil {
			log.Printf("certificates are not up to date: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// SyncCertsOnce writes what differs.
func SyncCertsOnce(ctx context.Context, clients *kube.Clients, namespace, folder string, names Names) error {
	var all []error
	for _, name := range append(names.ConfigMaps, names.OptionalConfigMaps...) {
		found, err := clients.Kube.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			all = append(all, ignoreMissing(err))
			continue
		}
		for file, content := range found.Data {
			all = append(all, update(filepath.Join(folder, "configmaps", name, file), []byte(content)))
		}
	}
	for _, name := range append(names.Secrets, names.OptionalSecrets...) {
		found, err := clients.Kube.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			all = append(all, ignoreMissing(err))
			continue
		}
		for file, content := range found.Data {
			all = append(all, update(filepath.Join(folder, "secrets", name, file), content))
		}
	}
	return errors.Join(all...)
}

func update(path string, content []byte) error {
	if found, err := os.ReadFile(path); err == nil && bytes.Equal(found, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	log.Printf("writing %s", path)
	return WriteAtomically(path, content, 0o600)
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
