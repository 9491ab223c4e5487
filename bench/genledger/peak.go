package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// peakMemory is the largest resident memory of this process so far, in MiB, as Linux counts it; 0 elsewhere.
func peakMemory() int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return kib / 1024
}

// medianOf is the median.
func medianOf(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
