package gitobject

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// The numbers that a pack gives to kinds.
var packTypes = map[Kind]byte{Commit: 1, Tree: 2, Blob: 3, Tag: 4}

// refDelta is a delta against an object named by its id.
const refDelta = 7

// WritePack writes a pack of the objects. One with a Base is written as a delta against it where that is shorter.
func WritePack(w io.Writer, objects []Object) error {
	sum := sha1.New()
	out := io.MultiWriter(w, sum)
	head := append([]byte("PACK\x00\x00\x00\x02"), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(head[8:], uint32(len(objects)))
	if _, err := out.Write(head); err != nil {
		return err
	}
	z := zlib.NewWriter(io.Discard) // making one takes longer than most objects
	for _, o := range objects {
		if err := writeOne(out, z, o); err != nil {
			return err
		}
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

func writeOne(w io.Writer, z *zlib.Writer, o Object) error {
	data, head := o.Data, entryHead(packTypes[o.Kind], len(o.Data))
	if o.Base != nil {
		if delta := deltaBetween(o.Base.Data, o.Data); len(delta) < len(data) {
			base, err := hex.DecodeString(o.Base.ID)
			if err != nil {
				return err
			}
			data, head = delta, append(entryHead(refDelta, len(delta)), base...)
		}
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	z.Reset(w)
	if _, err := z.Write(data); err != nil {
		return err
	}
	return z.Close()
}

// entryHead is a type and a size: four bits of it in the first byte, seven in each that follows.
func entryHead(kind byte, size int) []byte {
	b := []byte{kind<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return b
}

// Limits bound what ReadPack takes in.
type Limits struct {
	Objects int   // in the pack
	Size    int64 // of one object
	Total   int64 // of all objects
}

// ReadPack reads a pack of whole objects and of deltas against objects of the same pack that stand before them, or that
// known gives. Nothing is inflated beyond the size that its header says and the limits allow. On an error there are no
// objects.
func ReadPack(r io.Reader, lim Limits, known func(id string) (Object, bool)) ([]Object, error) {
	p := &unpacker{in: newCounted(r), lim: lim, known: known, have: map[string]Object{}}
	head := make([]byte, 12)
	if _, err := io.ReadFull(p.in, head); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	n := int(binary.BigEndian.Uint32(head[8:]))
	if string(head[:8]) != "PACK\x00\x00\x00\x02" || n > lim.Objects {
		return nil, fmt.Errorf("pack: not a version 2 pack with at most %d objects", lim.Objects)
	}
	for range n {
		if err := p.unpackObject(); err != nil {
			return nil, fmt.Errorf("pack: %w", err)
		}
	}
	want := p.in.sum.Sum(nil)
	got := make([]byte, sha1.Size)
	if _, err := io.ReadFull(p.in.r, got); err != nil || !bytes.Equal(got, want) {
		return nil, fmt.Errorf("pack: its checksum is wrong (%v)", err)
	}
	return p.out, nil
}

type unpacker struct {
	in    *counted
	lim   Limits
	known func(id string) (Object, bool)
	have  map[string]Object
	out   []Object
	total int64
}

func (p *unpacker) unpackObject() error {
	kind, size, err := p.readHead()
	if err != nil {
		return err
	}
	if p.total += size; size > p.lim.Size || p.total > p.lim.Total {
		return fmt.Errorf("an object of %d bytes; at most %d are allowed, %d in all", size, p.lim.Size, p.lim.Total)
	}
	var base Object
	if kind == refDelta {
		if base, err = p.readBase(); err != nil {
			return err
		}
	}
	data, err := p.inflateObject(size)
	if err != nil {
		return err
	}
	k := base.Kind
	if kind == refDelta {
		if data, err = applyDelta(base.Data, data, p.lim.Size); err != nil {
			return err
		}
		p.total += int64(len(data))
	}
	for name, t := range packTypes {
		if t == kind {
			k = name
		}
	}
	if k == "" {
		return fmt.Errorf("an entry of the type %d", kind)
	}
	o := New(k, data)
	p.have[o.ID] = o
	p.out = append(p.out, o)
	return nil
}

func (p *unpacker) readHead() (kind byte, size int64, err error) {
	c, err := p.in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size = c>>4&7, int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = p.in.ReadByte(); err != nil {
			return 0, 0, err
		}
		if shift > 50 {
			return 0, 0, fmt.Errorf("a size of too many digits")
		}
		size |= int64(c&0x7f) << shift
	}
	return kind, size, nil
}

func (p *unpacker) readBase() (Object, error) {
	var raw [sha1.Size]byte
	if _, err := io.ReadFull(p.in, raw[:]); err != nil {
		return Object{}, err
	}
	id := hex.EncodeToString(raw[:])
	if o, ok := p.have[id]; ok {
		return o, nil
	}
	if o, ok := p.known(id); ok {
		return o, nil
	}
	return Object{}, fmt.Errorf("a delta against the object %s, which is missing", id)
}

func (p *unpacker) inflateObject(size int64) ([]byte, error) {
	z, err := zlib.NewReader(p.in)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, size+1))
	if err == nil && int64(len(data)) != size {
		err = fmt.Errorf("the object's size differs from its header")
	}
	return data, err
}

// counted hashes what is read from it. As an io.ByteReader it makes a decompressor take no byte that is not its own.
type counted struct {
	r   *bufio.Reader
	sum hash.Hash
}

func newCounted(r io.Reader) *counted { return &counted{bufio.NewReader(r), sha1.New()} }

// Read is io.Reader's.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	return n, err
}

// ReadByte is io.ByteReader's.
func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		c.sum.Write([]byte{b})
	}
	return b, err
}
