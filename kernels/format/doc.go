// Package format reads and writes matrices as files: Matrix Market, NumPy's .npy and CSV, each also
// compressed (.gz).
//
//	StatOrRead(path)  -> element type and shape, from as little of the file as that takes
//	Read(path)        -> the matrix
//	Parse(r)          -> the matrix in a stream
//	Write(w)          -> the file
//
// formats.go is the list of formats; a new one is a row there and its file. Whatever is wrong with
// a file is an *Error that says where, what was found, what was wanted and what to do. Files are
// read as they are written: no number is rounded twice, -0, nan and inf survive, entries that occur
// twice are added in the order of the file.
//
// The package knows matrices and files; operators, programs and the codes of diagnostics are other
// people's.
package format
