//go:build !linux

package gittest

// TempInMemory does nothing here.
func TempInMemory() {}
