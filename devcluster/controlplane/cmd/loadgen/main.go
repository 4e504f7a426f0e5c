// Loadgen creates objects as fast as an API server takes them: the plain creates that the benchmark compares with.
//
// Each line of its standard input is the path to POST to, a space, and the object as JSON. Everything is read before
// the first request, no answer is decoded and nothing limits the rate on this side: it must not be the bottleneck.
// The connection is client-go's, as Metacontroller's is: TLS, and all requests share one HTTP/2 connection.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type creation struct {
	path string
	body []byte
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("loadgen: ")
	kubeconfig := flag.String("kubeconfig", "", "how to log in")
	workers := flag.Int("workers", 20, "how many requests are under way at once; Metacontroller is run with as many")
	flag.Parse()

	creations, err := read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		log.Fatal(err)
	}
	started := time.Now()
	if err := createAll(client, config.Host, creations, *workers); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("created %d objects in %.3f s\n", len(creations), time.Since(started).Seconds())
}

// read returns what the lines ask for.
func read(input io.Reader) ([]creation, error) {
	var creations []creation
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 4<<20) // The API server takes objects of up to 3 MiB.
	for lines.Scan() {
		path, body, found := bytes.Cut(lines.Bytes(), []byte(" "))
		if !found {
			return nil, fmt.Errorf("line %d is not a path, a space and an object", len(creations)+1)
		}
		creations = append(creations, creation{string(path), bytes.Clone(body)})
	}
	return creations, lines.Err()
}

// createAll returns when everything has been created, or else the first error.
func createAll(client *http.Client, host string, creations []creation, workers int) error {
	queue := make(chan creation, len(creations))
	for _, creation := range creations {
		queue <- creation
	}
	close(queue)
	failed := make(chan error, workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for creation := range queue {
				if err := create(client, host, creation); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	running.Wait()
	close(failed)
	return <-failed // nil when nothing is in it
}

// create returns an error unless the API server answers 201 Created.
func create(client *http.Client, host string, creation creation) error {
	response, err := client.Post(host+creation.path, "application/json", bytes.NewReader(creation.body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		reason, _ := io.ReadAll(response.Body)
		return fmt.Errorf("POST %s: %s: %s", creation.path, response.Status, reason)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
