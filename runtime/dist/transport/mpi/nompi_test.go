//go:build !mpi

package mpi

import (
	"errors"
	"testing"
)

// TestUnavailable checks that a build without the tag says so.
func TestUnavailable(t *testing.T) {
	if Available() || Version() != "" {
		t.Errorf("Available is %v, Version %q", Available(), Version())
	}
	if c, err := Init(); c != nil || !errors.Is(err, ErrUnavailable) {
		t.Errorf("Init returns %v, %v", c, err)
	}
}
