// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// manifests reads every document below kubernetes/ as its own kind: no unknown field, no
// wrong type.
func manifests(t *testing.T) (pods map[string]corev1.PodSpec, settings map[string]corev1.ConfigMap) {
	t.Helper()
	pods, settings = make(map[string]corev1.PodSpec), make(map[string]corev1.ConfigMap)
	files, err := filepath.Glob(filepath.Join("..", "kubernetes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range bytes.Split(data, []byte("\n---\n")) {
			var kind struct{ Kind, APIVersion string }
			if err := yaml.Unmarshal(doc, &kind); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			strict := func(into any) {
				if err := yaml.UnmarshalStrict(doc, into); err != nil {
					t.Errorf("%s, %s: %v", path, kind.Kind, err)
				}
			}
			switch kind.APIVersion + " " + kind.Kind {
			case "batch/v1 CronJob":
				var job batchv1.CronJob
				strict(&job)
				pods[path] = job.Spec.JobTemplate.Spec.Template.Spec
			case "apps/v1 Deployment":
				var deployment appsv1.Deployment
				strict(&deployment)
				pods[path] = deployment.Spec.Template.Spec
				for key, want := range deployment.Spec.Selector.MatchLabels {
					if deployment.Spec.Template.Labels[key] != want {
						t.Errorf("%s selects other pods than its own by %s", path, key)
					}
				}
			case "v1 Service":
				strict(new(corev1.Service))
			case "v1 PersistentVolumeClaim":
				strict(new(corev1.PersistentVolumeClaim))
			case "v1 ConfigMap":
				var c corev1.ConfigMap
				strict(&c)
				settings[c.Name] = c
			default:
				t.Errorf("%s: %+v is not read", path, kind)
			}
		}
	}
	return pods, settings
}

// TestManifests: every pod is confined as the restricted standard of pod security asks,
// mounts what its volumes are, and gives settings that the program has.
func TestManifests(t *testing.T) {
	pods, settings := manifests(t)
	if len(pods) != 2 || len(settings) != 2 {
		t.Fatalf("%d pods, %d settings", len(pods), len(settings))
	}
	reference, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	for path, pod := range pods {
		c := pod.Containers[0]
		s := c.SecurityContext
		if !*pod.SecurityContext.RunAsNonRoot || *pod.AutomountServiceAccountToken || *s.AllowPrivilegeEscalation ||
			!*s.ReadOnlyRootFilesystem ||
			len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" ||
			pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s is not confined", path)
		}
		volumes := make(map[string]bool)
		for _, v := range pod.Volumes {
			volumes[v.Name] = true
			if m := v.ConfigMap; m != nil && settings[m.Name].Data == nil {
				t.Errorf("%s mounts settings %s that are not there", path, m.Name)
			}
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s mounts %s, which is no volume", path, m.Name)
			}
			delete(volumes, m.Name)
		}
		if len(volumes) > 0 {
			t.Errorf("%s has volumes that nothing mounts: %v", path, volumes)
		}
		for _, e := range c.Env {
			if slices.Contains(c.Args, "$("+e.Name+")") {
				continue
			}
			key := "`" + e.Name + "`"
			if name, ok := strings.CutPrefix(e.Name, "GRAPHCLOAK_"); ok {
				key = regexp.MustCompile("_[a-z]").ReplaceAllStringFunc(strings.ToLower(name),
					func(s string) string { return strings.ToUpper(s[1:]) })
				key = "- `" + key + "`"
			}
			if !strings.Contains(string(reference), key) {
				t.Errorf("%s sets %s, which the program does not have", path, e.Name)
			}
		}
	}
}

// TestSettings: what the manifests mount is what the program accepts.
func TestSettings(t *testing.T) {
	_, settings := manifests(t)
	for name, c := range settings {
		for file, text := range c.Data {
			path := filepath.Join(t.TempDir(), file)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "run", "./cmd/graphcloak", "config", "validate", path)
			cmd.Dir = filepath.Join("..", "..")
			cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -trimpath", "GOWORK=off")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s of %s: %v\n%s", file, name, err, out)
			}
		}
	}
}
