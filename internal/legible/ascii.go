package legible

import "encoding/binary"

// ASCII reports whether no byte is DEL or above: plain ASCII, control characters included. Eight bytes at a time, for
// whole submissions and reports are asked.
func ASCII(b []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		// a byte of 0x7F gets its top bit by the sum; one above has it, and only 0xFF carries into the next
		if w := binary.LittleEndian.Uint64(b); (w|(w+ones))&tops != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= 0x7F {
			return false
		}
	}
	return true
}
