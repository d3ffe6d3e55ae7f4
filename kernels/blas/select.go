package blas

// This file chooses a kernel set by name.

import (
	"fmt"
	"strings"
)

// sets lists what this machine and this build offer, best first. The optional set stands last, so
// that building with it changes no bit of a program that does not ask for it by name.
func sets() []*Set {
	list := machineSets()
	if hardwareFMA() {
		list = append(list, portable(), gonumSet())
	} else {
		// Emulated FMA is slower by a factor of 50: the chain gives way to a program that finishes.
		list = append(list, gonumSet(), portable())
	}
	return append(list, optional()...)
}

// Names lists the sets available on this machine and in this build, best first.
func Names() []string {
	var names []string
	for _, s := range sets() {
		names = append(names, s.Name)
	}
	return names
}

// Select returns the set of that name; "" and "auto" mean the best one for this CPU. The error for
// a name that is not available lists those that are.
func Select(name string) (*Set, error) {
	list := sets()
	if name == "" || name == "auto" {
		return list[0], nil
	}
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no kernel set %q here; available: %s", name, strings.Join(Names(), ", "))
}
