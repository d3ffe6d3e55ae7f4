package source

import (
	"errors"
	"io"
	"os"
)

// MostText is the size of the longest program text in bytes. Positions have 32 bits, and a device
// may never end.
const MostText = 16 << 20

// ErrTooLong reports a text longer than MostText.
var ErrTooLong = errors.New("it is longer than 16 MiB, the most that is read")

// ReadText reads a program to the end, or fails with ErrTooLong after MostText bytes.
func ReadText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MostText+1))
	if err == nil && len(text) > MostText {
		return nil, ErrTooLong
	}
	return text, err
}

// ReadFile is ReadText for a file.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadText(f)
}
