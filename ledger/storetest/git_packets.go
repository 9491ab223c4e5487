package storetest

import (
	"bytes"
	"fmt"
	"strconv"
)

// writeLine writes a packet (gitprotocol-common, "pkt-line Format"): four hexadecimal digits of its length, which count
// themselves, and the line. Length and line are written as they are; nothing here is near 65,520 bytes.
func writeLine(b *bytes.Buffer, line string) { fmt.Fprintf(b, "%04x%s", len(line)+4, line) }

// largestBand is how much of an answer one packet of a band holds: 65,520 bytes are the longest packet, less four for
// its length and one for the band.
const largestBand = 65515

// writeBand writes bytes on the first band of an answer. Everything is one band: progress is not sent, as our client
// asks for none.
func writeBand(b *bytes.Buffer, data []byte) {
	for len(data) > 0 {
		n := min(len(data), largestBand)
		fmt.Fprintf(b, "%04x\x01", n+5)
		b.Write(data[:n])
		data = data[n:]
	}
}

// The packets that hold no line: 0000 ends a message, 0001 separates its parts (gitprotocol-v2).
const (
	flush     = "flush"
	delimiter = "delimiter"
)

// cutPacket takes the first packet: a line, or the word for one without a line. It is false where no whole packet is
// left; then git is asked, which knows what to say of a broken request.
func cutPacket(b []byte) (line, special string, rest []byte, ok bool) {
	if len(b) < 4 {
		return "", "", nil, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	switch {
	case err != nil || int(n) > len(b):
		return "", "", nil, false
	case n == 0:
		return "", flush, b[4:], true
	case n == 1:
		return "", delimiter, b[4:], true
	case n < 4:
		return "", "", nil, false
	}
	return string(b[4:n]), "", b[n:], true
}
