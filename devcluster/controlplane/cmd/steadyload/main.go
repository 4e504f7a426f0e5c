// Steadyload visits hosts at a steady rate, and tells of every request that failed.
//
// A request is sent when it is due, whether the ones before it have been answered or not: what is slow or fails delays
// no other. Its time counts from when it was due.
//
// There are three kinds of visitors, and requests take turns between them: those that keep an HTTP/1.1 connection
// (kept), those that make one for each request (new), and those that keep an HTTP/2 connection over TLS (http2). Each
// visitor has connections of its own, and one host.
//
// A request succeeds when it is answered with 200 and a body that holds the text of its host. A server may close a kept
// connection while a request is on its way to it. The client then sends a GET again on another connection, as RFC 9112
// (9.3.1) and RFC 9113 (8.7) allow and browsers do. That is no failure, but it is told, too: it would be one for a
// POST.
//
// Each line of standard input names the addresses that connections are made to from then on, one after the other, as
// kube-proxy does for the ready endpoints of a Service: connections that are open stay. The first line starts the load.
// The end of the input ends it; then a report is printed as JSON when the last request has been answered.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// endpoints are the addresses that connections are made to.
type endpoints struct {
	mutex     sync.Mutex
	addresses []string
	next      int
}

func (e *endpoints) set(addresses []string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.addresses = addresses
}

// choose returns each of the addresses in turn.
func (e *endpoints) choose() string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.next++
	return e.addresses[e.next%len(e.addresses)]
}

// A visitor sends requests to one host.
type visitor struct {
	kind   string
	url    string
	text   string // what the body of each answer holds
	client *http.Client
}

// An outcome is what became of a request.
type outcome struct {
	At     float64 `json:"at"` // seconds from the start of the load until the request was due
	Kind   string  `json:"kind"`
	URL    string  `json:"url"`
	Reason string  `json:"reason"` // why it failed, or why it was sent again
	took   time.Duration
	failed bool
	again  bool
}

// A report is what is printed at the end. Times are in milliseconds.
type report struct {
	Sent      map[string]int `json:"sent"` // by the kind of visitor
	Succeeded int            `json:"succeeded"`
	Failed    []outcome      `json:"failed"`
	SentAgain []outcome      `json:"sent_again"`
	Median    float64        `json:"median"`
	P99       float64        `json:"p99"`
	Slowest   float64        `json:"slowest"`
	Latest    float64        `json:"latest"` // by how much a request was sent too late: the load was not steady
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("steadyload: ")
	rate := flag.Float64("rate", 500, "requests a second")
	kinds := flag.String("kinds", "kept,new,http2", "the kinds of visitors")
	each := flag.Int("visitors", 20, "how many visitors there are of each kind")
	httpPort := flag.String("http-port", "80", "where HTTP is spoken")
	httpsPort := flag.String("https-port", "443", "where HTTPS is spoken; its certificate isn't checked")
	timeout := flag.Duration("timeout", 10*time.Second, "after which a request has failed")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: steadyload [flags] HOST=TEXT...\n")
		flag.PrintDefaults()
	}
	flag.Parse()

	to := new(endpoints)
	visitors, err := newVisitors(strings.Split(*kinds, ","), *each, flag.Args(), to, *httpPort, *httpsPort, *timeout)
	if err != nil {
		log.Fatal(err)
	}
	input := bufio.NewScanner(os.Stdin)
	if !follow(input, to) {
		log.Fatal("no addresses on standard input")
	}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		for follow(input, to) {
		}
		end()
	}()
	if err := json.NewEncoder(os.Stdout).Encode(visit(ctx, visitors, *rate)); err != nil {
		log.Fatal(err)
	}
}

// follow takes the addresses of the next line, and returns whether there is one.
func follow(input *bufio.Scanner, to *endpoints) bool {
	if !input.Scan() {
		return false
	}
	addresses := strings.Fields(input.Text())
	if len(addresses) == 0 {
		log.Fatal("a line without an address on standard input")
	}
	to.set(addresses)
	return true
}

// newVisitors returns the visitors in the order in which they send requests.
func newVisitors(
	kinds []string, each int, hosts []string, to *endpoints, httpPort, httpsPort string, timeout time.Duration,
) ([]*visitor, error) {
	if len(hosts) == 0 {
		return nil, fmt.Errorf("no HOST=TEXT is given")
	}
	var visitors []*visitor
	for number := range each {
		host, text, found := strings.Cut(hosts[number%len(hosts)], "=")
		if !found {
			return nil, fmt.Errorf("%q is not HOST=TEXT", hosts[number%len(hosts)])
		}
		for _, kind := range kinds {
			scheme, port := "http", httpPort
			transport := &http.Transport{MaxConnsPerHost: 1}
			switch kind {
			case "kept":
			case "new":
				transport.DisableKeepAlives = true
			case "http2":
				scheme, port = "https", httpsPort
				transport.ForceAttemptHTTP2 = true
				transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			default:
				return nil, fmt.Errorf("the kinds of visitors are kept, new and http2, not %q", kind)
			}
			transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(to.choose(), port))
			}
			client := &http.Client{Transport: transport, Timeout: timeout}
			visitors = append(visitors, &visitor{kind, scheme + "://" + host + "/", text, client})
		}
	}
	return visitors, nil
}

// visit lets the visitors send requests in turn until the context is done, and returns when all are answered.
func visit(ctx context.Context, visitors []*visitor, rate float64) report {
	var running sync.WaitGroup
	var mutex sync.Mutex
	var outcomes []outcome
	var latest time.Duration
	start := time.Now()
	for number := 0; ; number++ {
		at := time.Duration(float64(number) / rate * float64(time.Second))
		select {
		case <-time.After(time.Until(start.Add(at))):
		case <-ctx.Done():
			running.Wait()
			return summary(outcomes, latest)
		}
		latest = max(latest, time.Since(start.Add(at)))
		running.Go(func() {
			got := visitors[number%len(visitors)].visit(start.Add(at))
			got.At = at.Seconds()
			mutex.Lock()
			defer mutex.Unlock()
			outcomes = append(outcomes, got)
		})
	}
}

// visit sends a request that was due at a time.
func (v *visitor) visit(due time.Time) outcome {
	var attempts atomic.Int32
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { attempts.Add(1) }}
	err := v.get(httptrace.WithClientTrace(context.Background(), trace))
	got := outcome{Kind: v.kind, URL: v.url, took: time.Since(due)}
	if err != nil {
		got.failed, got.Reason = true, err.Error()
	} else if attempts.Load() > 1 {
		got.again, got.Reason = true, fmt.Sprintf("sent %d times", attempts.Load())
	}
	return got
}

// get returns an error unless the answer is 200 and holds the text.
func (v *visitor) get(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url, nil)
	if err != nil {
		return err
	}
	response, err := v.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if v.kind == "http2" && response.ProtoMajor != 2 {
		return fmt.Errorf("answered in %s", response.Proto)
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), v.text) {
		return fmt.Errorf("%s: %.200s", response.Status, body)
	}
	return nil
}

// summary returns the report of what became of the requests.
func summary(outcomes []outcome, latest time.Duration) report {
	slices.SortFunc(outcomes, func(a, b outcome) int { return int(a.took - b.took) })
	got := report{Sent: map[string]int{}, Failed: []outcome{}, SentAgain: []outcome{}, Latest: milliseconds(latest)}
	for _, each := range outcomes {
		got.Sent[each.Kind]++
		switch {
		case each.failed:
			got.Failed = append(got.Failed, each)
		case each.again:
			got.SentAgain = append(got.SentAgain, each)
			got.Succeeded++
		default:
			got.Succeeded++
		}
	}
	if count := len(outcomes); count > 0 {
		got.Median = milliseconds(outcomes[count/2].took)
		got.P99 = milliseconds(outcomes[count*99/100].took)
		got.Slowest = milliseconds(outcomes[count-1].took)
	}
	return got
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1000
}
