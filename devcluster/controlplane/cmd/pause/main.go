// Pause holds the namespaces of a Pod on a node for tests. It waits until it is asked to end.
//
// Where the containers of a Pod share their processes, it is the first of them, and the parent of those that lost
// theirs: it asks for the status of each that ends, so that none is kept as a zombie.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)
	// One more signal than is being worked on is enough: all children that have ended are asked for each time.
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
		select {
		case <-end:
			return
		case <-children:
		}
	}
}
