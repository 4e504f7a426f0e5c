// Health tells how healthy Argo CD and Flux call objects.
//
// Standard input is a stream of YAML. Of each document, a line of JSON is printed: Argo CD's health with the rules
// that it has built in, and the status that kstatus, by which Flux waits, computes of it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	answer := json.NewEncoder(os.Stdout)
	for documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin)); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		must(err)
		var object unstructured.Unstructured
		must(yaml.Unmarshal(document, &object.Object))
		argocd, err := health.GetResourceHealth(&object, lua.ResourceHealthOverrides{})
		must(err)
		flux, err := status.Compute(&object)
		must(err)
		must(answer.Encode(map[string]any{"argocd": argocd, "flux": flux.Status}))
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
