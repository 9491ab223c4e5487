package githubtest

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
)

// packTypes are the numbers of the kinds in a pack.
var packTypes = map[gitobject.Kind]byte{gitobject.Commit: 1, gitobject.Tree: 2, gitobject.Blob: 3, gitobject.Tag: 4}

// packed is where an object lies in a pack.
type packed struct {
	id      string
	at, crc uint32
}

// packObjects writes held objects whole into a pack, and the index of it (git's Documentation/gitformat-pack.txt). The
// lock is held.
func (o *objects) packObjects(ids []string) (pack, index []byte) {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(ids))))
	places := make([]packed, 0, len(ids))
	for _, id := range ids {
		at := b.Len()
		o.packOne(&b, o.held[id])
		places = append(places, packed{id, uint32(at), crc32.ChecksumIEEE(b.Bytes()[at:])})
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes(), packIndex(places, sum[:])
}

// packOne writes a kind, a size and the compressed bytes, which are kept: a commit is fetched many times.
func (o *objects) packOne(to *bytes.Buffer, object gitobject.Object) {
	size := len(object.Data)
	first := packTypes[object.Kind]<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		to.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	to.WriteByte(first)
	if o.deflated[object.ID] == nil {
		o.deflated[object.ID] = deflate(object.Data)
	}
	to.Write(o.deflated[object.ID])
}

// packIndex is version 2 of an index: how many ids begin with at most each byte, the ids, their checksums and places.
func packIndex(places []packed, pack []byte) []byte {
	slices.SortFunc(places, func(a, b packed) int { return strings.Compare(a.id, b.id) })
	var fan [256]uint32
	var ids, sums, offsets []byte
	for _, p := range places {
		raw, _ := hex.DecodeString(p.id) // an id
		for i := int(raw[0]); i < len(fan); i++ {
			fan[i]++
		}
		ids = append(ids, raw...)
		sums = binary.BigEndian.AppendUint32(sums, p.crc)
		offsets = binary.BigEndian.AppendUint32(offsets, p.at)
	}
	out := []byte("\xfftOc\x00\x00\x00\x02")
	for _, n := range fan {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	out = slices.Concat(out, ids, sums, offsets, pack)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
