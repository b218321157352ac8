package staticpod

import (
	"context"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hardway.dev/lab/operators/internal/kube"
)

// InstallerPod runs `installer` on one node, with the node's /etc/kubernetes.
func (c *Controller) InstallerPod(node kube.NodeStatus) *corev1.Pod {
	privileged, root := true, int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Operand.Namespace, Name: InstallerName(node), Labels: map[string]string{"app": "installer"},
		},
		Spec: corev1.PodSpec{
			NodeName:           node.NodeName,
			ServiceAccountName: installerAccount,
			RestartPolicy:      corev1.RestartPolicyNever,
			PriorityClassName:  "system-node-critical",
			Tolerations:        []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			SecurityContext:    &corev1.PodSecurityContext{RunAsUser: &root},
			Containers: []corev1.Container{{
				Name:                     "installer",
				Image:                    c.Image,
				ImagePullPolicy:          corev1.PullIfNotPresent,
				Command:                  []string{c.Operand.Command, "installer"},
				Args:                     c.Operand.InstallerArguments(node.TargetRevision),
				Env:                      []corev1.EnvVar{field("POD_NAME", "metadata.name"), field("NODE_NAME", "spec.nodeName")},
				SecurityContext:          &corev1.SecurityContext{Privileged: &privileged, RunAsUser: &root},
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				VolumeMounts:             []corev1.VolumeMount{{Name: "kubelet-dir", MountPath: "/etc/kubernetes/"}},
			}},
			Volumes: []corev1.Volume{{
				Name:         "kubelet-dir",
				VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc/kubernetes/"}},
			}},
		},
	}
}

// InstallerArguments are the flags of library-go's installer (pkg/operator/staticpod/installerpod/cmd.go).
func (o Operand) InstallerArguments(revision int32) []string {
	arguments := []string{
		"--revision=" + strconv.Itoa(int(revision)),
		"--namespace=" + o.Namespace,
		"--pod=" + o.PodPrefix + "-pod",
		"--resource-dir=/etc/kubernetes/static-pod-resources",
		"--pod-manifest-dir=/etc/kubernetes/manifests",
	}
	add := func(flag string, names []string) {
		if len(names) > 0 {
			arguments = append(arguments, "--"+flag+"="+strings.Join(names, ","))
		}
	}
	add("configmaps", Required(o.ConfigMaps))
	add("optional-configmaps", Optional(o.ConfigMaps))
	add("secrets", Required(o.Secrets))
	add("optional-secrets", Optional(o.Secrets))
	if o.CertDir != "" {
		arguments = append(arguments, "--cert-dir=/etc/kubernetes/static-pod-resources/"+o.CertDir)
		add("cert-configmaps", Required(o.CertConfigMaps))
		add("optional-cert-configmaps", Optional(o.CertConfigMaps))
		add("cert-secrets", Required(o.CertSecrets))
		add("optional-cert-secrets", Optional(o.CertSecrets))
	}
	return arguments
}

const installerAccount = "installer-sa"

// EnsureInstallerAccount creates what installer pods act as (library-go
// pkg/operator/staticpod/controller/backingresource).
func (c *Controller) EnsureInstallerAccount(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.Operand.Namespace, Name: installerAccount}}
	_, err := c.Kube.CoreV1().ServiceAccounts(c.Operand.Namespace).Create(ctx, account, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "system:openshift:operator:" + c.Operand.Namespace + "-installer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: c.Operand.Namespace, Name: installerAccount}},
	}
	_, err = c.Kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}
