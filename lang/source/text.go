package source

import (
	"errors"
	"io"
	"os"
)

// MostText is the number of bytes of the longest program text. Positions are 32 bits wide, and a
// device has no end.
const MostText = 16 << 20

// ErrTooLong says that a text is longer than MostText.
var ErrTooLong = errors.New("it is longer than 16 MiB, the most that is read")

// ReadText reads a program, or a text about one, to the end, but no further than MostText: then the
// error is ErrTooLong.
func ReadText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MostText+1))
	if err == nil && len(text) > MostText {
		return nil, ErrTooLong
	}
	return text, err
}

// ReadFile is ReadText of a file.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadText(f)
}
