package main

import (
	"bufio"
	"bytes"
	"io"
)

// lines reads a stream line by line. The stream may be of any length; of a line, no more than maxSubmission bytes are
// kept, one more than a submission may have, so that the reader refuses a longer one by name and the next line is still
// found.
type lines struct {
	r      *bufio.Reader
	number int    // of the line that next returned, from 1
	held   []byte // a line that look has read and next has still to return
	holds  bool
	weight int64
}

const lineBuffer = 64 << 10

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, lineBuffer)} }

// nextLine returns the next line without its line feed, and how many bytes of the stream it took. At the end the error
// is io.EOF.
func (l *lines) nextLine() (line []byte, read int64, err error) {
	if l.holds {
		l.holds = false
		return l.held, l.weight, nil
	}
	for {
		chunk, err := l.r.ReadSlice('\n')
		read += int64(len(chunk))
		end := err == nil
		if end {
			chunk = chunk[:len(chunk)-1]
		}
		if room := maxSubmission - len(line); room > 0 {
			line = append(line, chunk[:min(room, len(chunk))]...)
		}
		switch {
		case end, err == io.EOF && read > 0:
			l.number++
			return line, read, nil
		case err != bufio.ErrBufferFull:
			return nil, read, err
		}
	}
}

// lookAhead reads up to the first line that is not blank, and says whether the stream is a submission a line. If so,
// next returns that line again; if not, head is everything that was read so far.
func (l *lines) lookAhead() (head []byte, many bool, err error) {
	for {
		line, read, err := l.nextLine()
		if err == io.EOF {
			return head, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			head = append(append(head, line...), '\n')
			continue
		}
		if isObject(line) && l.hasMore() {
			l.held, l.weight, l.holds = line, read, true
			return nil, true, nil
		}
		head = append(head, line...)
		if int64(len(line)) < read {
			head = append(head, '\n')
		}
		return head, false, nil
	}
}

// hasMore reports whether anything but white space follows. What it looks at stays in the buffer; white space longer
// than the buffer is taken for the end of nothing, and the line after it for a line.
func (l *lines) hasMore() bool {
	for n := 512; ; n *= 2 {
		ahead, err := l.r.Peek(min(n, lineBuffer))
		if len(bytes.TrimSpace(ahead)) > 0 {
			return true
		}
		if err != nil {
			return false
		}
		if n >= lineBuffer {
			return true
		}
	}
}
