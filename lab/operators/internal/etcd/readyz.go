package etcd

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// ReadyzOptions are the command line of readyz.
type ReadyzOptions struct {
	Target                  string
	ListenPort              string
	ServingCert, ServingKey string
	Cert, Key, CACert       string
}

// ServeReadyz answers /readyz with whether the member serves reads through the leader, and /healthz always
// (cluster-etcd-operator pkg/cmd/readyz).
func ServeReadyz(ctx context.Context, options ReadyzOptions) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/readyz", func(answer http.ResponseWriter, request *http.Request) {
		if err := CheckReady(request.Context(), options); err != nil {
			http.Error(answer, err.Error(), http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Addr: ":" + options.ListenPort, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServeTLS(options.ServingCert, options.ServingKey); ctx.Err() == nil {
		return err
	}
	return nil
}

// CheckReady asks the member for a read through the leader.
func CheckReady(ctx context.Context, options ReadyzOptions) error {
	credentials, err := ReadCredentials(options.Cert, options.Key, options.CACert)
	if err != nil {
		return err
	}
	client, err := Dial([]string{options.Target}, credentials)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := client.etcd.Get(ctx, "health"); err != nil {
		return fmt.Errorf("etcd does not answer: %w", err)
	}
	return nil
}
