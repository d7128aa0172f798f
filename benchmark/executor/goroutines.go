// The same with goroutines, where there is Go: spawn and join, a pair, a channel, a tree.
//
//	goroutines ROW        prints lines of METRIC<tab>VALUE
package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

func processorTime() float64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano() + used.Stime.Nano())
}

func most() float64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Maxrss) / 1024
}

func measure(count int, body func()) {
	start, used := time.Now(), processorTime()
	body()
	wall := float64(time.Since(start).Nanoseconds())
	fmt.Printf("wall\t%.2f\ncpu\t%.2f\n", wall/float64(count), (processorTime()-used)/float64(count))
}

func spawn(count int) {
	for i := 0; i < count; i++ {
		done := make(chan struct{}, 1)
		go func() { done <- struct{}{} }()
		<-done
	}
}

func pair(count int) {
	for i := 0; i < count; i++ {
		var group sync.WaitGroup
		group.Add(2)
		go group.Done()
		go group.Done()
		group.Wait()
	}
}

// Two goroutines; an operation is one way.
func channel(count int) {
	there, back := make(chan int), make(chan int)
	go func() {
		for value := range there {
			back <- value
		}
	}()
	for i := 0; i < count/2; i++ {
		there <- i
		<-back
	}
	close(there)
}

func tree(result chan int, number, size int) {
	if size == 1 {
		result <- number
		return
	}
	sums := make(chan int)
	for i := 0; i < 10; i++ {
		go tree(sums, number+i*(size/10), size/10)
	}
	sum := 0
	for i := 0; i < 10; i++ {
		sum += <-sums
	}
	result <- sum
}

func main() {
	rows := map[string]struct {
		count int
		body  func(int)
	}{"spawn": {200000, spawn}, "pair": {100000, pair}, "channel": {200000, channel}}
	if len(os.Args) != 2 {
		os.Exit(2)
	}
	if os.Args[1] == "skynet" {
		measure(1111111, func() {
			result := make(chan int)
			go tree(result, 0, 1000000)
			if <-result != 499999500000 {
				panic("a wrong sum")
			}
		})
		fmt.Printf("rss\t%.1f\n", most())
		return
	}
	row, known := rows[os.Args[1]]
	if !known {
		os.Exit(2)
	}
	row.body(row.count / 10)
	measure(row.count, func() { row.body(row.count) })
}
