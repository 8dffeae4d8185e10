// 64 goroutines that ask one server again and again over kept connections, until it takes no new ones.
// Writes "asked" once all have an answer, and at the end a line of JSON: requests that got an answer, and those that got none.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
)

const clients = 64

func main() {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	var answered atomic.Int64
	var lock sync.Mutex
	lost := []string{}
	ask := func() (bool, error) {
		answer, err := client.Get(os.Args[1])
		if err != nil {
			var failed *net.OpError
			return errors.As(err, &failed) && failed.Op == "dial", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err == nil && (answer.StatusCode != 200 || string(body) != `"ok"`) {
			err = fmt.Errorf("%d %s", answer.StatusCode, body)
		}
		return false, err
	}
	var started, ended sync.WaitGroup
	started.Add(clients)
	ended.Add(clients)
	for range clients {
		go func() {
			defer ended.Done()
			for first := true; ; first = false {
				refused, err := ask()
				if first {
					started.Done()
				}
				if refused {
					return
				}
				if err != nil {
					lock.Lock()
					lost = append(lost, err.Error())
					lock.Unlock()
					return
				}
				answered.Add(1)
			}
		}()
	}
	started.Wait()
	fmt.Println("asked")
	ended.Wait()
	json.NewEncoder(os.Stdout).Encode(map[string]any{"answered": answered.Load(), "lost": lost})
}
