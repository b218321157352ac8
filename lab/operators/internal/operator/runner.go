// Package operator runs the passes of one operator and reports what came of them.
package operator

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hardway.dev/lab/operators/internal/gates"
	"hardway.dev/lab/operators/internal/kube"
)

// Step is one controller of an operator. An error makes <Name>Degraded True; the other steps run all the same.
type Step struct {
	Name string
	// Reason is said with an error; "Error" if it is empty.
	Reason string
	Run    func(ctx context.Context, operator *kube.Operator) error
}

// Runner is an operator: its steps, in order, and where it reports.
type Runner struct {
	*kube.Clients
	Kind            schema.GroupVersionResource
	ClusterOperator string
	// Version is the release's.
	Version  string
	Versions []kube.OperandVersion
	Gates    gates.Gates
	Steps    []Step
	// Inertia of Degraded; DefaultInertia if there is none.
	Inertia kube.Inertia
}

// DefaultInertia keeps what passes within two minutes from being called Degraded (library-go
// pkg/operator/status/status_controller.go).
func DefaultInertia(kube.Condition) time.Duration { return 2 * time.Minute }

// ErrGatesChanged ends the process: the pod is started again and reads the new gates.
var ErrGatesChanged = errors.New("feature gates changed")

// Run makes passes until the context ends or the gates change.
func (r *Runner) Run(ctx context.Context, every time.Duration) error {
	last := ""
	for {
		err := r.Pass(ctx)
		if errors.Is(err, ErrGatesChanged) {
			return err
		}
		if text := fmt.Sprint(err); err != nil && text != last && ctx.Err() == nil {
			log.Printf("pass: %v", err)
			last = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// Pass runs every step once and writes status and ClusterOperator.
func (r *Runner) Pass(ctx context.Context) error {
	now, err := gates.Read(ctx, r.Clients, r.Version)
	if err != nil && !errors.Is(err, gates.ErrMissing) {
		return err
	}
	if err != nil || !now.Equal(r.Gates) {
		return ErrGatesChanged
	}
	operator, err := r.ReadOperator(ctx, r.Kind)
	if err != nil {
		return err
	}
	if operator.ManagementState() == "Unmanaged" {
		return nil
	}
	for _, step := range r.Steps {
		err := step.Run(ctx, operator)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if was := kube.FindCondition(operator.Status.Conditions, step.Name+"Degraded"); err != nil && was.Message != err.Error() {
			log.Printf("%s: %v", step.Name, err)
		}
		operator.Status.SetError(step.Name, step.Reason, err)
	}
	if err := r.WriteOperator(ctx, r.Kind, operator); err != nil {
		return err
	}
	err = r.WriteClusterOperator(ctx, r.ClusterOperator, Summary(operator.Status.Conditions, r.Inertia, time.Now()), r.Versions)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Summary folds an operator's conditions into those of its ClusterOperator. Only what is Degraded has to last before it is told.
func Summary(conditions []kube.Condition, inertia kube.Inertia, now time.Time) []kube.Condition {
	if inertia == nil {
		inertia = DefaultInertia
	}
	upgradeable := kube.Condition{Type: "Upgradeable", Status: kube.True, Reason: "AsExpected", Message: "All is well"}
	return []kube.Condition{
		kube.Union(conditions, "Available", nil, now),
		kube.Union(conditions, "Degraded", inertia, now),
		kube.Union(conditions, "Progressing", nil, now),
		upgradeable,
	}
}
