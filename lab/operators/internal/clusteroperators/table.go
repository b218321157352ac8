// Package clusteroperators stands in for every operator that the lab does not take further than its ClusterOperator:
// each becomes available when what the real one needs is there.
package clusteroperators

// Row is one operator.
type Row struct {
	Name string
	// Needs are all that must hold.
	Needs []Need
	// Versions are the operands it reports, beside `operator`.
	Versions []string
	// Source is where the needs come from.
	Source string
}

// Table lists the ClusterOperators of 4.18 with all capabilities, without the five that have a stand-in of their own
// (etcd, kube-apiserver, kube-controller-manager, kube-scheduler, network). On platform none many have nothing to do
// but to run.
var Table = []Row{
	{Name: "authentication", Needs: []Need{available("kube-apiserver"), available("openshift-apiserver"), available("ingress"), kubeadmin},
		Versions: []string{"oauth-apiserver", "oauth-openshift"},
		Source:   "cluster-authentication-operator: OAuthServerRouteEndpointAccessibleController asks through the router"},
	{Name: "baremetal", Needs: pods, Source: "cluster-baremetal-operator: idle unless the platform is baremetal"},
	{Name: "cloud-controller-manager", Needs: pods, Source: "cluster-cloud-controller-manager-operator: nothing to run on platform none"},
	{Name: "cloud-credential", Needs: pods, Source: "cloud-credential-operator: no credentials on platform none"},
	{Name: "cluster-autoscaler", Needs: pods, Source: "cluster-autoscaler-operator"},
	{Name: "config-operator", Needs: append(pods, topology), Versions: []string{"feature-gates"},
		Source: "cluster-config-operator: FeatureGate and Infrastructure status must be filled"},
	{Name: "console", Needs: []Need{available("authentication"), available("ingress")}, Source: "console-operator: RouteHealth and OAuth client"},
	{Name: "control-plane-machine-set", Needs: pods, Source: "cluster-control-plane-machine-set-operator: no machine set on platform none"},
	{Name: "csi-snapshot-controller", Needs: pods, Source: "cluster-csi-snapshot-controller-operator"},
	{Name: "dns", Needs: append(pods, baseDomain), Versions: []string{"coredns", "openshift-cli", "kube-rbac-proxy"},
		Source: "cluster-dns-operator: the DaemonSet dns-default has a pod"},
	{Name: "image-registry", Needs: pods, Source: "cluster-image-registry-operator: starts as Removed on platform none"},
	{Name: "ingress", Needs: []Need{available("network"), available("dns"), routerNode, ingressDomain}, Versions: []string{"ingress-controller", "canary-server"},
		Source: "cluster-ingress-operator: routers run on workers, or on masters that take pods"},
	{Name: "insights", Needs: pods, Source: "insights-operator: does not block"},
	{Name: "kube-storage-version-migrator", Needs: pods, Source: "cluster-kube-storage-version-migrator-operator"},
	{Name: "machine-api", Needs: pods, Source: "machine-api-operator: no provider on platform none"},
	{Name: "machine-approver", Needs: pods, Source: "cluster-machine-approver: approves nothing without Machines"},
	{Name: "machine-config", Needs: append(pods, annotatedMasters), Source: "machine-config-operator: required pool master; the daemon reads node-annotations.json"},
	{Name: "marketplace", Needs: []Need{available("operator-lifecycle-manager")}, Source: "operator-marketplace"},
	{Name: "monitoring", Needs: []Need{available("network"), schedulableNodes}, Source: "cluster-monitoring-operator: Prometheus runs on workers, two when highly available"},
	{Name: "node-tuning", Needs: pods, Versions: []string{"openshift-tuned"}, Source: "cluster-node-tuning-operator"},
	{Name: "olm", Needs: pods, Source: "cluster-olm-operator"},
	{Name: "openshift-apiserver", Needs: []Need{available("etcd"), available("kube-apiserver"), available("service-ca")},
		Source: "cluster-openshift-apiserver-operator: etcd endpoints, aggregation, serving certificate"},
	{Name: "openshift-controller-manager", Needs: []Need{available("openshift-apiserver")}, Source: "cluster-openshift-controller-manager-operator"},
	{Name: "openshift-samples", Needs: []Need{available("openshift-apiserver"), available("image-registry")}, Source: "cluster-samples-operator: image streams"},
	{Name: "operator-lifecycle-manager", Needs: pods, Source: "operator-lifecycle-manager"},
	{Name: "operator-lifecycle-manager-catalog", Needs: pods, Source: "operator-lifecycle-manager"},
	{Name: "operator-lifecycle-manager-packageserver", Needs: []Need{available("operator-lifecycle-manager"), available("kube-apiserver")},
		Source: "operator-lifecycle-manager: an aggregated API"},
	{Name: "service-ca", Needs: pods, Source: "service-ca-operator"},
	{Name: "storage", Needs: pods, Source: "cluster-storage-operator: no driver on platform none"},
}
