// Ingressvalidator says whether the API server would create an Ingress. It runs the API server's own code.
//
// Each line of its standard input is an object as JSON. It answers each with one line: a JSON list of complaints, which
// is empty for an Ingress that is valid. It decodes, defaults, converts and validates the object as a create does, with
// the Kubernetes that go.mod pins and the feature gates as that version has them by default.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install" // makes the types and their defaults known to legacyscheme
	"k8s.io/kubernetes/pkg/apis/networking/validation"
)

// ingressKind is the kind that the hook makes. The scheme knows others, and an older version of this one.
var ingressKind = networkingv1.SchemeGroupVersion.WithKind("Ingress")

func main() {
	log.SetFlags(0)
	log.SetPrefix("ingressvalidator: ")
	showVersion := flag.Bool("version", false, "only print which version of Kubernetes this is")
	flag.Parse()

	if *showVersion {
		fmt.Printf("Kubernetes %s\n", version.Get().GitVersion)
		return
	}
	if err := answerAll(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// answerAll writes a line of complaints for each line of the input.
func answerAll(input io.Reader, output io.Writer) error {
	decoder, err := newDecoder()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 4<<20) // The API server takes objects of up to 3 MiB.
	answers := json.NewEncoder(output)
	for lines.Scan() {
		if err := answers.Encode(complaints(decoder, lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

// newDecoder returns the decoder for a request that asks for strict field validation. The decoder fails at a field that
// is unknown or stated twice; without it, the API server would drop the field and only warn.
func newDecoder() (runtime.Decoder, error) {
	codecs := legacyscheme.Codecs
	serializer, found := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !found {
		return nil, fmt.Errorf("the scheme has no serializer for %s", runtime.ContentTypeJSON)
	}
	return codecs.DecoderToVersion(serializer.StrictSerializer, networking.SchemeGroupVersion), nil
}

// complaints returns what is wrong with an object. The list is never nil, because JSON would have null for that.
func complaints(decoder runtime.Decoder, object []byte) []string {
	decoded, kind, err := decoder.Decode(object, nil, nil)
	if err != nil {
		return []string{err.Error()}
	}
	ingress, ok := decoded.(*networking.Ingress)
	if !ok || *kind != ingressKind {
		return []string{fmt.Sprintf("%s is not %s", kind, ingressKind)}
	}
	found := []string{}
	for _, err := range validation.ValidateIngressCreate(ingress) {
		found = append(found, err.Error())
	}
	return found
}
