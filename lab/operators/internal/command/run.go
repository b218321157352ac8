// Package command is the command line of every program that lab-operator stands in for.
package command

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// verb is one thing a program does.
type verb func(ctx context.Context, arguments []string) error

// programs are the names that lab-operator answers to, with the verbs of each that generated pods and manifests use.
func programs() map[string]map[string]verb {
	return map[string]map[string]verb{
		"cluster-etcd-operator":                    {"operator": runEtcdOperator, "installer": install, "readyz": serveEtcdReadyz},
		"cluster-kube-apiserver-operator":          {"operator": runAPIServerOperator, "installer": install, "cert-syncer": syncCerts, "insecure-readyz": serveInsecureReadyz},
		"cluster-kube-controller-manager-operator": {"operator": runControllerManagerOperator, "installer": install, "cert-syncer": syncCerts},
		"cluster-kube-scheduler-operator":          {"operator": runSchedulerOperator, "installer": install, "cert-syncer": syncCerts},
		"cluster-policy-controller":                {"start": runPolicyController},
		"cluster-version-operator":                 {"start": runVersionOperator, "image": printImage},
		"cluster-network-operator":                 {"start": runNetworkOperator, "node-network": runNodeNetwork, "write-kubeconfig": writeKubeconfig},
		"machine-config-daemon":                    {"start": runMachineConfigDaemon},
		"lab-operator": {
			"run-etcd": runEtcd, "copy-self": copySelf, "cluster-operators": runClusterOperators, "release-manifests": packManifests,
		},
	}
}

// Run finds program and verb. `lab-operator cluster-etcd-operator operator` is the same as
// `cluster-etcd-operator operator`.
func Run(ctx context.Context, arguments []string) error {
	all := programs()
	if arguments[0] == "lab-operator" && len(arguments) > 1 && all[arguments[1]] != nil {
		arguments = arguments[1:]
	}
	verbs, ok := all[arguments[0]]
	if !ok {
		return fmt.Errorf("%q is none of the programs that lab-operator stands in for: %s", arguments[0], names(all))
	}
	if len(arguments) < 2 || verbs[arguments[1]] == nil {
		return fmt.Errorf("usage: %s %s", arguments[0], strings.ReplaceAll(names(verbs), ", ", "|"))
	}
	return verbs[arguments[1]](ctx, arguments[2:])
}

// newFlags takes the flag that every program has and none here uses.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.String("v", "2", "how much to log (not used)")
	return flags
}

// list is a flag with commas.
func list(flags *flag.FlagSet, name string) *[]string {
	values := &[]string{}
	flags.Func(name, "names, with commas between", func(text string) error {
		for _, value := range strings.Split(text, ",") {
			if value != "" {
				*values = append(*values, value)
			}
		}
		return nil
	})
	return values
}

func names[V any](of map[string]V) string {
	var all []string
	for name := range of {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
