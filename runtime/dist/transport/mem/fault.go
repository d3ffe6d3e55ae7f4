package mem

import "time"

// Faults are what goes wrong in a group. They depend on Seed, on the stream
// (source, destination, channel, tag) and on the message's number in it, never on
// the clock or on how goroutines interleave, so a failing run can be replayed.
type Faults struct {
	Seed uint64
	// MaxDelay delays each message by up to that much. Messages of one stream
	// stay in order; others overtake each other, which is the reordering.
	MaxDelay time.Duration
	// Loss is the probability that a message is lost. Its sender completes; its
	// receive fails with transport.ErrLost.
	Loss float64
	// Deaths kill ranks. Group.Kill does so at a moment of the caller's choice.
	Deaths []Death
	// Notice is how long after a death the other ranks learn of it. Until then
	// their transfers with the dead rank just do not finish.
	Notice time.Duration
}

// Death kills Rank in place of its send number AfterSends, counted from 0.
type Death struct {
	Rank       int
	AfterSends int
}

// fate draws the delay and the loss of message number seq of a stream.
func (f *Faults) fate(k streamKey, dst int, seq uint64) (delay time.Duration, lost bool) {
	if f.MaxDelay <= 0 && f.Loss <= 0 {
		return 0, false
	}
	h := f.Seed
	for _, v := range [...]uint64{uint64(k.src), uint64(dst), uint64(k.ch), uint64(k.tag), seq} {
		h = mix(h ^ v)
	}
	if f.MaxDelay > 0 {
		delay = time.Duration(h % (uint64(f.MaxDelay) + 1))
	}
	// A second draw, so that loss does not go along with the delay.
	return delay, float64(mix(h)>>11)/(1<<53) < f.Loss
}

// mix is one step of splitmix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
