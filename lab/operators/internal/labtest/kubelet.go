package labtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"hardway.dev/lab/operators/internal/etcd"
)

// Kubelet stands in for a master's kubelet: it runs installer pods as processes with a folder as /etc/kubernetes, and
// reports the static pods it finds there. etcd it runs for real; the others it only calls ready.
type Kubelet struct {
	*World
	Name, Address, Root string
	index               int
	running             map[string]string
	etcd                *Process
}

// Kubelets makes one for each master.
func (w *World) Kubelets() []*Kubelet {
	var kubelets []*Kubelet
	for i, address := range Masters {
		kubelets = append(kubelets, &Kubelet{
			World: w, index: i, Name: NodeName("master", i), Address: address,
			Root: filepath.Join(w.Dir, fmt.Sprint("root-", i)), running: map[string]string{},
		})
	}
	return kubelets
}

// RunKubelets lets them work until the returned function is called, or the test ends.
func (w *World) RunKubelets(kubelets []*Kubelet) (stop func()) {
	w.Helper()
	program := BuildProgram(w)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for _, kubelet := range kubelets {
		done.Add(1)
		go func() {
			defer done.Done()
			for ctx.Err() == nil {
				kubelet.pass(ctx, program)
				time.Sleep(300 * time.Millisecond)
			}
		}()
	}
	stop = func() { cancel(); done.Wait() }
	w.Cleanup(stop)
	return stop
}

var programOnce sync.Once
var programPath string

// BuildProgram builds lab-operator once for all tests of a package.
func BuildProgram(t testing.TB) string {
	t.Helper()
	programOnce.Do(func() {
		path := filepath.Join(os.Getenv(scratch), "lab-operator")
		command := exec.Command("go", "build", "-mod=readonly", "-o", path, "./cmd/lab-operator")
		command.Dir = filepath.Join(Repository(), "lab", "operators")
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, output)
		}
		programPath = path
	})
	return programPath
}

func (k *Kubelet) pass(ctx context.Context, program string) {
	pods, err := k.Kube.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + k.Name})
	if err != nil {
		return
	}
	for _, pod := range pods.Items {
		if pod.Labels["app"] == "installer" && pod.Status.Phase == corev1.PodPending {
			k.runInstaller(ctx, program, &pod)
		}
	}
	manifests, _ := filepath.Glob(filepath.Join(k.Root, "manifests", "*.yaml"))
	for _, path := range manifests {
		if text, err := os.ReadFile(path); err == nil {
			k.report(ctx, program, text)
		}
	}
}

// runInstaller runs what the pod's container would, as the pod's account.
func (k *Kubelet) runInstaller(ctx context.Context, program string, pod *corev1.Pod) {
	arguments := []string{pod.Spec.Containers[0].Command[0], "installer", "--kubeconfig=" + k.Kubeconfig}
	for _, argument := range pod.Spec.Containers[0].Args {
		arguments = append(arguments, strings.ReplaceAll(argument, "/etc/kubernetes", k.Root))
	}
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = append(os.Environ(), "NODE_NAME="+k.Name)
	output, err := command.CombinedOutput()
	pod.Status.Phase = corev1.PodSucceeded
	if err != nil {
		pod.Status.Phase = corev1.PodFailed
		state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: string(output)}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "installer", State: state}}
	}
	_, _ = k.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
}

// report keeps the mirror pod of a static pod, and runs etcd.
func (k *Kubelet) report(ctx context.Context, program string, text []byte) {
	var pod corev1.Pod
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return
	}
	if k.running[pod.Name] != pod.Labels["revision"] {
		k.running[pod.Name] = pod.Labels["revision"]
		if pod.Name == "etcd" {
			k.startEtcd(program, text)
		}
	}
	isReady := pod.Name != "etcd" || k.isEtcdReady(ctx)
	client := k.Kube.CoreV1().Pods(pod.Namespace)
	mirror, err := client.Get(ctx, pod.Name+"-"+k.Name, metav1.GetOptions{})
	if err == nil && mirror.Labels["revision"] != pod.Labels["revision"] {
		grace := int64(0)
		_ = client.Delete(ctx, mirror.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
		return
	}
	if apierrors.IsNotFound(err) {
		mirror, err = client.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: pod.Namespace, Name: pod.Name + "-" + k.Name, Labels: pod.Labels,
				Annotations: map[string]string{"kubernetes.io/config.mirror": "lab", "kubernetes.io/config.source": "file"},
			},
			Spec: corev1.PodSpec{NodeName: k.Name, HostNetwork: true, Containers: []corev1.Container{{Name: pod.Name, Image: "lab.invalid/any"}}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		return
	}
	ready := corev1.ConditionFalse
	if isReady {
		ready = corev1.ConditionTrue
	}
	mirror.Status.Phase, mirror.Status.HostIP = corev1.PodRunning, k.Address
	mirror.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	mirror.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: pod.Name, State: running, Ready: isReady}}
	_, _ = client.UpdateStatus(ctx, mirror, metav1.UpdateOptions{})
}

func (k *Kubelet) startEtcd(program string, text []byte) {
	if k.etcd != nil {
		k.etcd.Stop()
	}
	container := ReadContainer(k.World, text, "etcd",
		"/etc/kubernetes/static-pod-certs", filepath.Join(k.Root, "static-pod-resources/etcd-certs"),
		"/var/lib/etcd", filepath.Join(k.Root, "etcd"))
	if err := os.MkdirAll(filepath.Join(k.Root, "etcd"), 0o700); err != nil {
		k.Error(err)
	}
	environment := append(container.Environment(), "PATH="+os.Getenv("HARDWAY_TOOLS_BIN")+":"+os.Getenv("PATH"))
	k.etcd = Start(k.World, k.Dir, "etcd-"+k.Name, environment, onMaster(k.index, append([]string{program, "run-etcd"}, container.Args...)...)...)
}

// Start runs a program in the master's network.
func (k *Kubelet) Start(name string, commandLine ...string) *Process {
	return Start(k.World, k.Dir, name, nil, onMaster(k.index, commandLine...)...)
}

func (k *Kubelet) isEtcdReady(ctx context.Context) bool {
	certs := filepath.Join(k.Root, "static-pod-resources/etcd-certs")
	pair := filepath.Join(certs, "secrets/etcd-all-certs/etcd-peer-"+k.Name)
	return etcd.CheckReady(ctx, etcd.ReadyzOptions{
		Target: "https://" + k.Address + ":2379", Cert: pair + ".crt", Key: pair + ".key",
		CACert: filepath.Join(certs, "configmaps/etcd-all-bundles/server-ca-bundle.crt"),
	}) == nil
}
