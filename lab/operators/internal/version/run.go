package version

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"hardway.dev/lab/operators/internal/kube"
)

// Options are the command line.
type Options struct {
	ReleaseImage string
	// Root is where the release lies: / unless PAYLOAD_OVERRIDE says otherwise.
	Root     string
	Profile  string
	NodeName string
	// AlwaysEnabled are capabilities that cannot be turned off.
	AlwaysEnabled []string
	// GateWait is how long a FeatureGate may be missing at the start.
	GateWait time.Duration
	Every    time.Duration
}

// ErrGateChanged ends the process; the kubelet starts it again (cluster-version-operator pkg/featuregates).
var ErrGateChanged = errors.New("the feature set changed")

// Run holds the lease and applies the release until the context ends. The bootstrap pod and the Deployment on a master
// never work at the same time.
func Run(ctx context.Context, clients *kube.Clients, options Options) error {
	host, _ := os.Hostname()
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "openshift-cluster-version", Name: "version"},
		Client:     clients.Kube.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("%s_%s_%d", options.NodeName, host, os.Getpid())},
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 60 * time.Second, RenewDeadline: 45 * time.Second, RetryPeriod: 3 * time.Second, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { cancel(Lead(ctx, clients, options)) },
			OnStoppedLeading: func() { log.Print("gave the lease up") },
		},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// Lead is the work itself, with the lease held.
func Lead(ctx context.Context, clients *kube.Clients, options Options) error {
	featureSet, err := awaitGate(ctx, clients, options.GateWait)
	if err != nil {
		return err
	}
	if err := awaitClusterVersion(ctx, clients); err != nil {
		return err
	}
	rules := Rules{Profile: options.Profile, FeatureSet: featureSet}
	var payload *Payload
	var capabilities Capabilities
	applier, err := NewApplier(clients)
	if err != nil {
		return err
	}
	last := ""
	for ctx.Err() == nil {
		now, err := readFeatureSet(ctx, clients)
		if err == nil && now != featureSet {
			return ErrGateChanged
		}
		clusterVersion, err := ReadClusterVersion(ctx, clients)
		if err == nil {
			capabilities, err = CapabilitiesOf(clusterVersion, options.AlwaysEnabled)
		}
		// What is turned on later comes with the next pass.
		if err == nil && (payload == nil || !slices.Equal(rules.DisabledCapabilities, capabilities.Disabled)) {
			rules.DisabledCapabilities = capabilities.Disabled
			if payload, err = Load(options.Root, options.ReleaseImage, rules); err != nil {
				return err
			}
			log.Printf("release %s: %d manifests, %d left out, without %v", payload.Version, len(payload.Manifests), len(payload.Skipped), capabilities.Disabled)
		}
		if payload == nil {
			log.Print(err)
			select {
			case <-ctx.Done():
			case <-time.After(options.Every):
			}
			continue
		}
		var result Result
		if err == nil {
			result = applier.Pass(ctx, payload, clusterVersion)
			if err := WriteStatus(ctx, clients, payload, result, capabilities); err != nil && ctx.Err() == nil {
				log.Printf("status: %v", err)
			}
		}
		if text := fmt.Sprintf("%s %v", progress(payload.Version, result), result.Errors); text != last {
			log.Print(text)
			last = text
		}
		every := options.Every
		if result.IsComplete() && result.Total > 0 {
			every *= 6
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
	return nil
}

// awaitGate waits until FeatureGates can be listed.
func awaitGate(ctx context.Context, clients *kube.Clients, limit time.Duration) (string, error) {
	deadline, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		set, err := readFeatureSet(deadline, clients)
		if err == nil {
			log.Printf("feature set %q", set)
			return set, nil
		}
		select {
		case <-deadline.Done():
			return "", fmt.Errorf("FeatureGates cannot be listed: %w", err)
		case <-time.After(time.Second):
		}
	}
}

// readFeatureSet takes a cluster without a FeatureGate for one of the default set; it is the other operators that cannot
// do without (cluster-version-operator pkg/start/start.go processInitialFeatureGate).
func readFeatureSet(ctx context.Context, clients *kube.Clients) (string, error) {
	list, err := clients.Dynamic.Resource(kube.FeatureGates).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, object := range list.Items {
		if object.GetName() == "cluster" {
			set, _, _ := unstructured.NestedString(object.Object, "spec", "featureSet")
			return set, nil
		}
	}
	return "", nil
}

func awaitClusterVersion(ctx context.Context, clients *kube.Clients) error {
	for {
		_, err := ReadClusterVersion(ctx, clients)
		if err == nil {
			return nil
		}
		log.Printf("No cluster version object, waiting for one (%v)", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(3 * time.Second):
		}
	}
}
