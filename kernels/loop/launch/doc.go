// Package launch runs loops.
//
// A Loop is a nest that is compiled when it is first run with operands of a layout: to machine code
// where the processor and the system allow it, else for the interpreter. Begin binds operands and
// results, Window evaluates a part of the index space on one worker. Workers may run windows at the
// same time; which window they take is their caller's business (self-scheduling).
//
// Machine code checks no subscript, so Begin proves from the ranges of the indices that every
// affine access stays inside its matrix, and refuses with ErrOutside what it cannot prove. Accesses
// at places that the body computes must stand behind checks of the body. A call into machine code
// ends after some microseconds, whatever the loop does, and is made again; in between the worker
// asks whether the run was stopped.
package launch
