// insecure-readyz answers load balancers that cannot speak TLS: over plain HTTP, with what the API server's own /readyz says.
// A stand-in for the command of that name of OpenShift's cluster-kube-apiserver-operator, with the same flags.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "insecure-readyz" {
		log.Fatalf("only the command insecure-readyz is there, not %q", os.Args[1:])
	}
	flags := flag.NewFlagSet("insecure-readyz", flag.ExitOnError)
	port := flags.Int("insecure-port", 6080, "where to listen")
	delegate := flags.String("delegate-url", "", "whom to ask")
	// The flag set ends the program itself when a flag is wrong.
	_ = flags.Parse(os.Args[2:])
	if *delegate == "" {
		log.Fatal("--delegate-url is missing")
	}
	// Whoever asks only wants to know whether the server is ready; nothing secret is sent either way.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer, err := client.Get(*delegate)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		if _, err := io.Copy(w, answer.Body); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe(fmt.Sprintf(":%d", *port), nil))
}
