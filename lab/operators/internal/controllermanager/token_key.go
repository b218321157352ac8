package controllermanager

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/certs"
	"hardway.dev/lab/operators/internal/etcd"
	"hardway.dev/lab/operators/internal/kube"
)

const (
	tokenKey     = "service-account-private-key"
	nextTokenKey = "next-service-account-private-key"
	publicKeys   = "sa-token-signing-certs"
	// readyAnnotation says from when on the next key may be used.
	readyAnnotation = "kube-controller-manager.openshift.io/ready-to-use"
	// trustFor is how long API servers have to take the public half over. Upstream gives them five minutes; here the rollout that
	// follows would fall into the minutes after an install, which people look at.
	trustFor = 15 * time.Minute
)

// TokenKey keeps the key of old-style tokens (cluster-kube-controller-manager-operator
// pkg/operator/certrotationcontroller/satokensigner_controller.go).
type TokenKey struct {
	*kube.Clients
	// isBootstrapGone: it never comes back, so it is asked for once.
	isBootstrapGone bool
}

// Ensure begins with the key that was seeded. Once the API server of the bootstrap host is gone, which knows no other, a new one is
// drawn and its public half published; it is used when API servers had time to take that over.
func (k *TokenKey) Ensure(ctx context.Context) error {
	isGone, err := k.bootstrapIsGone(ctx)
	if err != nil {
		return err
	}
	if !isGone {
		return k.prime(ctx)
	}
	next, err := k.next(ctx)
	if err != nil {
		return err
	}
	if err := k.publish(ctx, string(next.Data["service-account.pub"])); err != nil {
		return err
	}
	ready, err := time.Parse(time.RFC3339, next.Annotations[readyAnnotation])
	if err == nil && time.Now().Before(ready) {
		return nil
	}
	return k.SyncSecret(ctx, here(tokenKey), atOperator(nextTokenKey))
}

// bootstrapIsGone tells whether every address of the API is that of an API server's pod.
func (k *TokenKey) bootstrapIsGone(ctx context.Context) (bool, error) {
	if k.isBootstrapGone {
		return true, nil
	}
	pods, err := k.Kube.CoreV1().Pods("openshift-kube-apiserver").List(ctx, metav1.ListOptions{LabelSelector: "app=openshift-kube-apiserver"})
	if err != nil {
		return false, err
	}
	var hosts []string
	for _, pod := range pods.Items {
		hosts = append(hosts, pod.Status.HostIP)
	}
	endpoints, err := k.Kube.CoreV1().Endpoints("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	if len(endpoints.Subsets) == 0 {
		return false, errors.New("missing kubernetes endpoints subsets")
	}
	var strangers []string
	for _, subset := range endpoints.Subsets {
		for _, address := range subset.Addresses {
			if !slices.Contains(hosts, address.IP) {
				strangers = append(strangers, address.IP)
			}
		}
	}
	if len(strangers) > 0 {
		return false, nil
	}
	// Upstream begins here. The lab waits until etcd has forgotten the bootstrap host, too: API servers restart for that, and once is
	// enough for both.
	if members, err := etcd.ReadEndpoints(ctx, k.Clients); err != nil || members.Bootstrap != "" {
		return false, err
	}
	log.Printf("found expected kube-apiserver endpoints: %s", strings.Join(hosts, ", "))
	k.isBootstrapGone = true
	return true, nil
}

// prime takes over what was seeded.
func (k *TokenKey) prime(ctx context.Context) error {
	_, err := k.Kube.CoreV1().Secrets(Namespace).Get(ctx, tokenKey, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	return k.SyncSecret(ctx, here(tokenKey), kube.Ref{Namespace: "openshift-config", Name: "initial-service-account-private-key"})
}

// next is the key that is to be used, drawn if there is none.
func (k *TokenKey) next(ctx context.Context) (*corev1.Secret, error) {
	found, err := k.Kube.CoreV1().Secrets(OperatorNamespace).Get(ctx, nextTokenKey, metav1.GetOptions{})
	if err == nil && len(found.Data["service-account.key"]) > 0 && len(found.Data["service-account.pub"]) > 0 {
		return found, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	data, err := certs.NewTokenKeys()
	if err != nil {
		return nil, err
	}
	drawn := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: OperatorNamespace, Name: nextTokenKey, Annotations: map[string]string{
			readyAnnotation: time.Now().Add(trustFor).Format(time.RFC3339),
		}},
		Data: data,
	}
	_, err = k.ApplySecret(ctx, drawn)
	return drawn, err
}

// publish adds the public half to those that API servers accept.
func (k *TokenKey) publish(ctx context.Context, public string) error {
	found, err := k.Kube.CoreV1().ConfigMaps(managed).Get(ctx, publicKeys, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	keys := map[string]string{}
	if err == nil {
		maps.Copy(keys, found.Data)
	}
	if slices.Contains(slices.Collect(maps.Values(keys)), public) {
		return nil
	}
	keys[fmt.Sprintf("service-account-%03d.pub", len(keys)+1)] = public
	_, err = k.ApplyConfigMap(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managed, Name: publicKeys}, Data: keys})
	return err
}
