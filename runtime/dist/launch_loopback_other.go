//go:build !linux

package dist

import "errors"

// confinement is Linux's alone.
type confinement struct{}

func confine() (*confinement, error) { return nil, errors.ErrUnsupported }

func (*confinement) serve() {}

func (*confinement) end() {}
