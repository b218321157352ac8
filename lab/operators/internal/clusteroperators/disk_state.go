package clusteroperators

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// contentFile is the whole configuration that a node was made from (machine-config-operator pkg/server). The lab has no controller that
// renders it once more in the cluster, so the node's own copy stands for it.
const contentFile = "etc/mcs-machine-config-content.json"

// kubeletCA is left out: others replace it (machine-config-operator pkg/daemon/on_disk_validation.go).
const kubeletCA = "/etc/kubernetes/kubelet-ca.crt"

type renderedFile struct {
	Path     string
	Mode     *uint32
	Contents struct{ Source, Compression string }
}

// CheckDisk says what of a node's disk is not as rendered: the configuration that the node names, and each of its files below /etc with the
// same bytes and the same mode. root is where the node's root is mounted.
func CheckDisk(root, name string) error {
	text, err := os.ReadFile(filepath.Join(root, contentFile))
	if err != nil {
		return fmt.Errorf("missing MachineConfig %s: %w", name, err)
	}
	var rendered struct {
		Metadata struct{ Name string }
		Spec     struct {
			Config struct {
				Storage struct{ Files []renderedFile }
			}
		}
	}
	if err := json.Unmarshal(text, &rendered); err != nil {
		return fmt.Errorf("%s: %w", contentFile, err)
	}
	if rendered.Metadata.Name != name {
		return fmt.Errorf("missing MachineConfig %s: the node was made from %q", name, rendered.Metadata.Name)
	}
	for _, file := range rendered.Spec.Config.Storage.Files {
		if !strings.HasPrefix(file.Path, "/etc/") || file.Path == kubeletCA {
			continue
		}
		if err := file.check(root); err != nil {
			return fmt.Errorf("unexpected on-disk state validating against %s: %w", name, err)
		}
	}
	return nil
}

func (f renderedFile) check(root string) error {
	path := filepath.Join(root, f.Path)
	found, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("could not stat file %q: %w", f.Path, err)
	}
	mode := fs.FileMode(0o644)
	if f.Mode != nil {
		mode = fs.FileMode(*f.Mode) & fs.ModePerm
	}
	if found.Mode() != mode {
		return fmt.Errorf("mode mismatch for file %q: expected %v, found %v", f.Path, mode, found.Mode())
	}
	expected, err := f.bytes()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(content, expected) {
		return fmt.Errorf("content mismatch for file %q", f.Path)
	}
	return nil
}

// bytes decodes the file's data URL.
func (f renderedFile) bytes() ([]byte, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(f.Contents.Source, "data:"), ",")
	if f.Contents.Source == "" {
		return nil, nil
	}
	if !ok || !strings.HasPrefix(f.Contents.Source, "data:") {
		return nil, fmt.Errorf("%q is no data URL", f.Contents.Source)
	}
	plain, err := url.PathUnescape(body)
	if err != nil {
		return nil, err
	}
	content := []byte(plain)
	if strings.HasSuffix(head, ";base64") {
		if content, err = base64.StdEncoding.DecodeString(plain); err != nil {
			return nil, err
		}
	}
	if f.Contents.Compression != "gzip" {
		return content, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}
