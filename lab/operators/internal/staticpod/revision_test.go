package staticpod

import (
	"slices"
	"strings"
	"testing"
)

var operand = Operand{
	Namespace:  "n",
	PodPrefix:  "x",
	ConfigMaps: []Resource{{Name: "x-pod"}, {Name: "extra", Optional: true}},
	Secrets:    []Resource{{Name: "key"}},
	CertDir:    "x-certs", CertSecrets: []Resource{{Name: "tls"}},
}

func contents(maps map[string]string, secrets ...string) Contents {
	all := Contents{ConfigMaps: map[string]map[string]string{}, Secrets: map[string]map[string][]byte{}}
	for name, value := range maps {
		all.ConfigMaps[name] = map[string]string{"f": value}
	}
	for _, name := range secrets {
		all.Secrets[name] = map[string][]byte{"f": []byte("s")}
	}
	return all
}

func TestDifference(t *testing.T) {
	for name, c := range map[string]struct {
		contents   Contents
		revision   int32
		difference string
		err        string
	}{
		"first":                  {contents(map[string]string{"x-pod": "1"}, "key"), 0, "secret/key", ""},
		"a required one missing": {contents(map[string]string{"x-pod": "1"}), 0, "", `secrets "key" not found`},
		"a map missing":          {contents(nil, "key"), 0, "", `configmaps "x-pod" not found`},
		"same":                   {contents(map[string]string{"x-pod": "1", "x-pod-1": "1"}, "key", "key-1"), 1, "", ""},
		"changed":                {contents(map[string]string{"x-pod": "2", "x-pod-1": "1"}, "key", "key-1"), 1, "configmap/x-pod", ""},
		"an optional one came":   {contents(map[string]string{"x-pod": "1", "x-pod-1": "1", "extra": "e"}, "key", "key-1"), 1, "configmap/extra", ""},
		"an optional one went":   {contents(map[string]string{"x-pod": "1", "x-pod-1": "1", "extra-1": "e"}, "key", "key-1"), 1, "configmap/extra", ""},
	} {
		difference, err := operand.Difference(c.contents, c.revision)
		if difference != c.difference || (err == nil) != (c.err == "") || (err != nil && err.Error() != c.err) {
			t.Errorf("%s: %q, %v", name, difference, err)
		}
	}
}

func TestMissing(t *testing.T) {
	maps, secrets := operand.Missing(contents(map[string]string{"x-pod-2": "1"}), 2)
	if len(maps) != 0 || !slices.Equal(secrets, []string{"tls", "key-2"}) {
		t.Errorf("%v %v", maps, secrets)
	}
	if text := missing([]string{"b", "a"}, []string{"s"}); text != "configmaps: a,b, secrets: s" {
		t.Error(text)
	}
}

func TestInstallerArguments(t *testing.T) {
	text := strings.Join(operand.InstallerArguments(7), " ")
	want := "--revision=7 --namespace=n --pod=x-pod --resource-dir=/etc/kubernetes/static-pod-resources --pod-manifest-dir=/etc/kubernetes/manifests " +
		"--configmaps=x-pod --optional-configmaps=extra --secrets=key --cert-dir=/etc/kubernetes/static-pod-resources/x-certs --cert-secrets=tls"
	if text != want {
		t.Error(text)
	}
}
