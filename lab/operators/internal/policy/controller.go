// Package policy stands in for cluster-policy-controller: it gives every namespace the range of user ids that
// SecurityContextConstraints would take from, and answers the probes.
package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/kube"
)

const (
	uidRange = "openshift.io/sa.scc.uid-range"
	groups   = "openshift.io/sa.scc.supplemental-groups"
	mcs      = "openshift.io/sa.scc.mcs"
	first    = 1000000000
	size     = 10000
)

// Config is what is read of its configuration file.
type Config struct {
	ServingInfo struct{ BindAddress, CertFile, KeyFile string }
}

// ReadConfig reads the file.
func ReadConfig(path string) (Config, error) {
	var config Config
	text, err := os.ReadFile(path)
	if err != nil {
		return config, err
	}
	return config, yaml.Unmarshal(text, &config)
}

// Run serves /healthz and keeps the namespaces' annotations until the context ends.
func Run(ctx context.Context, clients *kube.Clients, config Config) error {
	failed := make(chan error, 1)
	go func() { failed <- serve(ctx, config) }()
	for {
		if err := Pass(ctx, clients); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		case <-time.After(5 * time.Second):
		}
	}
}

// Pass gives a range to each namespace that has none.
func Pass(ctx context.Context, clients *kube.Clients) error {
	list, err := clients.Kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	next := 0
	for _, namespace := range list.Items {
		next = max(next, block(namespace.Annotations[uidRange])+1)
	}
	for _, namespace := range list.Items {
		if namespace.Annotations[uidRange] != "" {
			continue
		}
		patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": Annotations(next)}})
		if _, err := clients.Kube.CoreV1().Namespaces().Patch(ctx, namespace.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		next++
	}
	return nil
}

// Annotations are those of the n-th range (openshift/cluster-policy-controller pkg/security).
func Annotations(n int) map[string]string {
	ids := fmt.Sprintf("%d/%d", first+n*size, size)
	return map[string]string{uidRange: ids, groups: ids, mcs: fmt.Sprintf("s0:c%d,c%d", n/1024+1, n%1024)}
}

// block is the number of a range, -1 if there is none.
func block(text string) int {
	start, _, _ := strings.Cut(text, "/")
	number, err := strconv.Atoi(start)
	if err != nil || number < first {
		return -1
	}
	return (number - first) / size
}

func serve(ctx context.Context, config Config) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(answer http.ResponseWriter, _ *http.Request) { _, _ = answer.Write([]byte("ok")) })
	server := &http.Server{Addr: config.ServingInfo.BindAddress, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return server.ListenAndServeTLS(config.ServingInfo.CertFile, config.ServingInfo.KeyFile)
}
