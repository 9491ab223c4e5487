//go:build !linux

package storetest

// TempInMemory does nothing here.
func TempInMemory() {}
