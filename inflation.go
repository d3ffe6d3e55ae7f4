package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// This file remembers how long programs were busy on one worker, the base of work inflation: the
// same tasks take longer on many workers that share caches and memory, which no schedule shows.

// serialRun is the last observed run of a program on one worker.
type serialRun struct {
	Busy float64 `json:"busy_seconds"`
	When int64   `json:"unix"`
}

const (
	serialVersion = 1
	mostSerial    = 256 // programs remembered; the oldest go first
)

func serialPath() (string, error) {
	dir, err := cacheDir()
	return filepath.Join(dir, fmt.Sprintf("serial-v%d.json", serialVersion)), err
}

// serialKey identifies the program with its params, and the kernels.
func (p *Program) serialKey() string {
	h := sha256.New()
	for _, i := range p.fingerprint() {
		fmt.Fprintf(h, "%s\x00%x\x00", i.Name, i.Hash)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func loadSerial() map[string]serialRun {
	all := map[string]serialRun{}
	if path, err := serialPath(); err == nil {
		if text, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(text, &all) // damage is as good as nothing
		}
	}
	if all == nil { // the file says null
		all = map[string]serialRun{}
	}
	return all
}

// inflation returns the busy time of a run on several workers over that of the program's last run
// on one, 0 without one. It remembers a run on one worker. A file that cannot be written fails no
// report.
func (p *Program) inflation(workers int, busy float64) float64 {
	all, key := loadSerial(), p.serialKey()
	if workers > 1 {
		if one := all[key].Busy; one > 0 {
			return busy / one
		}
		return 0
	}
	all[key] = serialRun{busy, time.Now().Unix()}
	for len(all) > mostSerial {
		oldest := ""
		for k, r := range all {
			if oldest == "" || r.When < all[oldest].When {
				oldest = k
			}
		}
		delete(all, oldest)
	}
	path, err := serialPath()
	if err != nil {
		return 1
	}
	if text, err := json.Marshal(all); err == nil {
		_ = saveCache(path, text)
	}
	return 1
}
