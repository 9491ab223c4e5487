// Package gatetest holds what the tests of the gate's rooms share: sample runs as trees, and sign-offs of them.
package gatetest
