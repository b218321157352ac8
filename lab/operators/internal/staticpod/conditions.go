package staticpod

import (
	"fmt"
	"slices"
	"strings"

	"hardway.dev/lab/operators/internal/kube"
)

// SetConditions reports how far the nodes are, in the words that people and tools know (library-go
// pkg/operator/staticpod/controller/installer/installer_controller.go).
func SetConditions(status *kube.Status) {
	counts := map[int32]int{}
	var active, behind int
	var failing []string
	for _, node := range status.NodeStatuses {
		counts[node.CurrentRevision]++
		if node.CurrentRevision != 0 {
			active++
		}
		if node.CurrentRevision != status.LatestAvailableRevision {
			behind++
		}
		if node.LastFailedRevision != 0 && node.LastFailedRevision == node.TargetRevision {
			failing = append(failing, fmt.Sprintf("node %s is failing on revision %d: %s",
				node.NodeName, node.LastFailedRevision, strings.Join(node.LastFailedRevisionErrors, "\n")))
		}
	}
	description := describe(counts, behind, status.LatestAvailableRevision)
	if active > 0 {
		status.Set("StaticPodsAvailable", kube.True, "", fmt.Sprintf("%d nodes are active; %s", active, description))
	} else {
		status.Set("StaticPodsAvailable", kube.False, "ZeroNodesActive", fmt.Sprintf("0 nodes are active; %s", description))
	}
	if behind > 0 || len(status.NodeStatuses) == 0 {
		status.Set("NodeInstallerProgressing", kube.True, "", description)
	} else {
		status.Set("NodeInstallerProgressing", kube.False, "AllNodesAtLatestRevision", description)
	}
	if len(failing) > 0 {
		status.Set("NodeInstallerDegraded", kube.True, "InstallerPodFailed", strings.Join(failing, "; "))
	} else {
		status.Set("NodeInstallerDegraded", kube.False, "AsExpected", "")
	}
}

func describe(counts map[int32]int, behind int, latest int32) string {
	var revisions []int32
	for revision := range counts {
		revisions = append(revisions, revision)
	}
	slices.Sort(revisions)
	var parts []string
	for _, revision := range revisions {
		nodes := "node is"
		if counts[revision] > 1 {
			nodes = "nodes are"
		}
		parts = append(parts, fmt.Sprintf("%d %s at revision %d", counts[revision], nodes, revision))
	}
	if behind > 0 && counts[latest] == 0 {
		parts = append(parts, fmt.Sprintf("0 nodes have achieved new revision %d", latest))
	}
	return strings.Join(parts, "; ")
}
