//go:build !linux

package main

// speakAs does nothing on systems where the Go runtime's messages are not replaced.
func speakAs(string) {}
