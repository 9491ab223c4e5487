package gitobject

import (
	"fmt"
)

// deltaBetween gives a delta that makes data from base: the beginning and the end that the two share are copied, what
// lies between is written. That is all that a tree with one more name needs.
func deltaBetween(base, data []byte) []byte {
	n := min(len(base), len(data))
	front := 0
	for front < n && base[front] == data[front] {
		front++
	}
	back := 0
	for back < n-front && base[len(base)-1-back] == data[len(data)-1-back] {
		back++
	}
	b := appendSize(appendSize(nil, len(base)), len(data))
	b = appendCopy(b, 0, front)
	for middle := data[front : len(data)-back]; len(middle) > 0; {
		k := min(len(middle), 127)
		b = append(append(b, byte(k)), middle[:k]...)
		middle = middle[k:]
	}
	return appendCopy(b, len(base)-back, back)
}

func appendSize(b []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// appendCopy writes instructions that copy n bytes at offset of the base, at most 65,535 each.
func appendCopy(b []byte, offset, n int) []byte {
	for n > 0 {
		k := min(n, 0xffff)
		at := len(b)
		b = append(b, 0x80)
		for i, v := range []int{offset, offset >> 8, offset >> 16, offset >> 24, k, k >> 8} {
			if c := byte(v); c != 0 {
				b[at] |= 1 << i
				b = append(b, c)
			}
		}
		offset, n = offset+k, n-k
	}
	return b
}

// applyDelta makes an object of at most limit bytes from base and a delta.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, delta, ok := cutSize(delta)
	to, delta, ok2 := cutSize(delta)
	if !ok || !ok2 || from != int64(len(base)) || to > limit {
		return nil, fmt.Errorf("a delta for another base, or of more than %d bytes", limit)
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		c := delta[0]
		delta = delta[1:]
		var piece []byte
		if c&0x80 != 0 {
			piece, delta, ok = copiedPiece(base, c, delta)
		} else if ok = c > 0 && int(c) <= len(delta); ok {
			piece, delta = delta[:c], delta[c:]
		}
		if !ok || int64(len(out)+len(piece)) > to {
			return nil, fmt.Errorf("a delta that does not fit its base")
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != to {
		return nil, fmt.Errorf("a delta that makes %d bytes, not %d", len(out), to)
	}
	return out, nil
}

// copiedPiece reads the operands of a copy: four bytes of offset and three of size, those that are set in c.
func copiedPiece(base []byte, c byte, delta []byte) (piece, rest []byte, ok bool) {
	var v [7]int
	for i := range v {
		if c&(1<<i) != 0 {
			if len(delta) == 0 {
				return nil, nil, false
			}
			v[i], delta = int(delta[0]), delta[1:]
		}
	}
	offset, size := v[0]|v[1]<<8|v[2]<<16|v[3]<<24, v[4]|v[5]<<8|v[6]<<16
	if size == 0 {
		size = 0x10000
	}
	if offset+size > len(base) {
		return nil, nil, false
	}
	return base[offset : offset+size], delta, true
}

func cutSize(b []byte) (n int64, rest []byte, ok bool) {
	for shift := 0; shift < 50 && len(b) > 0; shift += 7 {
		c := b[0]
		b = b[1:]
		n |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			return n, b, true
		}
	}
	return 0, nil, false
}
