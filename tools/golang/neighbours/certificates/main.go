// Certificates tells which Certificates cert-manager makes of Ingresses and Gateways.
//
// The rules are those of its ingress-shim and its gateway-shim, with the options that they have by default, and a cluster
// in memory. Standard input is a stream of YAML. Each of its documents is what becomes of an Ingress or of a Gateway, in
// that order. At the end, the Certificates that stand and the Events are printed as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/go-logr/logr"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	gateway "sigs.k8s.io/gateway-api/apis/v1"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/fake"
	listers "github.com/cert-manager/cert-manager/pkg/client/listers/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	shim "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim"
)

func main() {
	ctx := context.Background()
	client := fake.NewClientset()
	options := controller.IngressShimOptions{
		DefaultIssuerKind:                 "Issuer",
		DefaultIssuerGroup:                "cert-manager.io",
		DefaultAutoCertificateAnnotations: []string{"kubernetes.io/tls-acme"},
	}
	events := record.NewFakeRecorder(1000)
	standing := func() []certmanager.Certificate {
		found, err := client.CertmanagerV1().Certificates("").List(ctx, metav1.ListOptions{})
		must(err)
		return append([]certmanager.Certificate{}, found.Items...)
	}
	for documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin)); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
		known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		for _, each := range standing() {
			must(known.Add(&each))
		}
		sync := shim.SyncFnFor(events, logr.Discard(), client, listers.NewCertificateLister(known), options, "shim")
		must(sync(ctx, read(document)))
	}
	close(events.Events)
	told := []string{}
	for event := range events.Events {
		told = append(told, event)
	}
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"certificates": standing(), "events": told}))
}

func read(document []byte) metav1.Object {
	var kind metav1.TypeMeta
	must(yaml.Unmarshal(document, &kind))
	var object metav1.Object = &networking.Ingress{}
	if kind.Kind == "Gateway" {
		object = &gateway.Gateway{}
	}
	must(yaml.Unmarshal(document, object))
	return object
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
