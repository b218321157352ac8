// cluster-policy-controller stands in for OpenShift's controller of that name. It reads the same configuration file, insists
// on its kubeconfig and certificate, and answers health checks. It does not do the real one's work: it gives no namespace its
// range of user ids and watches no quota. Nothing in the lab asks for either.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"

	"sigs.k8s.io/yaml"
)

type config struct {
	Kind        string `json:"kind"`
	ServingInfo struct {
		BindAddress string `json:"bindAddress"`
		CertFile    string `json:"certFile"`
		KeyFile     string `json:"keyFile"`
	} `json:"servingInfo"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	if len(args) == 0 || args[0] != "start" {
		return fmt.Errorf("only the command start is there, not %q", args)
	}
	flags := flag.NewFlagSet("start", flag.ExitOnError)
	path := flags.String("config", "", "configuration file")
	kubeconfig := flags.String("kubeconfig", "", "how to reach the API server")
	flags.String("namespace", "", "where the leader's lease lies")
	flags.Int("v", 0, "how much to say")
	// The flag set ends the program itself when a flag is wrong.
	_ = flags.Parse(args[1:])
	if _, err := os.Stat(*kubeconfig); err != nil {
		return err
	}
	text, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	read := config{}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return err
	}
	if read.Kind != "OpenShiftControllerManagerConfig" {
		return fmt.Errorf("%s: kind is %q, not OpenShiftControllerManagerConfig", *path, read.Kind)
	}
	serving := read.ServingInfo
	log.Printf("stand-in for the cluster-policy-controller, health on %s", serving.BindAddress)
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return http.ListenAndServeTLS(serving.BindAddress, serving.CertFile, serving.KeyFile, nil)
}
