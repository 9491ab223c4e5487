package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/gitobject"
)

// wire speaks version 2 of git's protocol over HTTP, as far as a few objects named by their ids want it: go-git speaks
// versions 0 and 1 only, in which a server gives whole branches. It is a source, and no more than what is asked for is
// ever sent.
type wire struct {
	http *http.Client
	url  string // of the repository, without a slash at the end
	auth func(*http.Request)
	keep func(gitobject.Object)
}

// errOldServer says that the server has not what wire needs: version 2, or filters.
var errOldServer = errors.New("the server does not speak version 2 of git's protocol with filters")

// greetServer asks what the server can do, and follows it to where it sends us.
func (w *wire) greetServer(ctx context.Context) error {
	const service = "/info/refs?service=git-upload-pack"
	resp, err := w.doRequest(ctx, http.MethodGet, w.url+service, nil)
	if err != nil {
		return err
	}
	defer drainAndClose(resp.Body)
	if at, ok := strings.CutSuffix(resp.Request.URL.String(), service); ok {
		w.url = at
	}
	r := bufio.NewReader(resp.Body)
	version, filter := false, false
	for {
		kind, line, err := readPacket(r)
		if err != nil {
			return fmt.Errorf("%w (%v)", errOldServer, err)
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "=")
		switch {
		case name == "# service": // some servers say so first, as in version 0
			if kind, _, err = readPacket(r); err != nil || kind != packetFlush {
				return errOldServer
			}
		case name == "version 2":
			version = true
		case name == "fetch":
			filter = strings.Contains(" "+value+" ", " filter ")
		case name == "object-format" && value != "sha1":
			return fmt.Errorf("the server names objects by %s, this version knows sha1", value)
		case kind == packetFlush && version && filter:
			return nil
		case kind == packetFlush || !version:
			return errOldServer
		}
	}
}

func drainAndClose(body io.ReadCloser) {
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 1<<20))
	_ = body.Close()
}

// refused is an answer that no second try will change.
type refused struct {
	status int
	text   string
}

// Error implements error.
func (r *refused) Error() string {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("the server wants another token or user (%d): %s", r.status, r.text)
	case http.StatusNotFound:
		return "the server knows no such repository, or does not show it to this token (404)"
	}
	return fmt.Sprintf("the server answers %d: %s", r.status, r.text)
}

func (w *wire) doRequest(ctx context.Context, method, url string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Git-Protocol", "version=2")
	req.Header.Set("User-Agent", "git/referee")
	if body != nil {
		req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
		req.Header.Set("Accept", "application/x-git-upload-pack-result")
	}
	w.auth(req)
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	drainAndClose(resp.Body)
	return nil, &refused{resp.StatusCode, strings.TrimSpace(string(text))}
}

// postCommand posts one command with its arguments.
func (w *wire) postCommand(ctx context.Context, name string, args []string) (*http.Response, error) {
	var b bytes.Buffer
	writePacket(&b, "command="+name+"\n")
	writePacket(&b, "object-format=sha1")
	b.WriteString("0001")
	for _, a := range args {
		writePacket(&b, a+"\n")
	}
	b.WriteString("0000")
	return w.doRequest(ctx, http.MethodPost, w.url+"/git-upload-pack", b.Bytes())
}

// tip returns what a reference holds, "" if it does not exist.
func (w *wire) tip(ctx context.Context, ref string) (string, error) {
	resp, err := w.postCommand(ctx, "ls-refs", []string{"ref-prefix " + ref})
	if err != nil {
		return "", err
	}
	defer drainAndClose(resp.Body)
	r := bufio.NewReader(resp.Body)
	for {
		kind, line, err := readPacket(r)
		if err != nil {
			return "", err
		}
		if kind == packetFlush {
			return "", nil
		}
		id, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if name, _, _ = strings.Cut(name, " "); name == ref && gitobject.IsID(id) {
			return id, nil
		}
	}
}

// atMost bounds one answer.
const atMost = 100_000

// fetchPack asks for a pack, and returns its bytes and what ends the answer.
func (w *wire) fetchPack(ctx context.Context, wants []string, args ...string) (io.Reader, func(), error) {
	for _, id := range wants {
		args = append(args, "want "+id)
	}
	resp, err := w.postCommand(ctx, "fetch", append(append([]string{"no-progress"}, args...), "done"))
	if err != nil {
		return nil, nil, err
	}
	pack, err := skipToPackfile(bufio.NewReader(resp.Body))
	if err != nil {
		drainAndClose(resp.Body)
		return nil, nil, err
	}
	return pack, func() { drainAndClose(resp.Body) }, nil
}

// read is source's: one request for all ids.
func (w *wire) read(ctx context.Context, limit int64, ids []string) ([]gitobject.Object, error) {
	pack, end, err := w.fetchPack(ctx, ids, "filter tree:0", "deepen 1")
	if err != nil {
		return nil, err
	}
	defer end()
	lim := gitobject.Limits{Objects: atMost, Size: limit, Total: maxHeld}
	none := func(string) (gitobject.Object, bool) { return gitobject.Object{}, false }
	got, err := gitobject.ReadPack(pack, lim, none)
	if err != nil {
		return nil, err
	}
	byID := map[string]gitobject.Object{}
	for _, o := range got {
		byID[o.ID] = o
		w.keep(o)
	}
	out := make([]gitobject.Object, len(ids))
	for i, id := range ids {
		o, ok := byID[id]
		if !ok {
			return nil, fmt.Errorf("%s: %w: the server did not send it", id, ErrMissing)
		}
		out[i] = o
	}
	return out, nil
}

// skipToPackfile skips to the section "packfile" of an answer, and returns what it carries on the first band.
func skipToPackfile(r *bufio.Reader) (io.Reader, error) {
	for {
		kind, line, err := readPacket(r)
		if err != nil {
			return nil, err
		}
		if kind == packetFlush {
			return nil, errors.New("the server did not send a pack")
		}
		if kind == packetData && strings.TrimSuffix(string(line), "\n") == "packfile" {
			return &band{r: r}, nil
		}
	}
}

// band is the first band of a section.
type band struct {
	r    *bufio.Reader
	rest []byte
}

// Read implements io.Reader.
func (b *band) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		kind, line, err := readPacket(b.r)
		switch {
		case err != nil:
			return 0, err
		case kind != packetData || len(line) == 0:
			return 0, io.EOF
		case line[0] == 3:
			return 0, fmt.Errorf("the server reports: %.300s", line[1:])
		case line[0] == 1:
			b.rest = line[1:]
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// The kinds of packets: a line of data, the end of an answer, the end of a section.
const (
	packetData = iota
	packetFlush
	packetDelim
)

// readPacket reads one packet: four hexadecimal digits of length, which count themselves, and the data.
func readPacket(r io.Reader) (kind int, data []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("the answer ends early: %w", err)
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("the answer is not from git: %q", head)
	case n == 0:
		return packetFlush, nil, nil
	case n < 4:
		return packetDelim, nil, nil
	}
	data = make([]byte, n-4)
	if _, err := io.ReadFull(r, data); err != nil {
		return 0, nil, fmt.Errorf("the answer ends early: %w", err)
	}
	if text, ok := bytes.CutPrefix(data, []byte("ERR ")); ok {
		return 0, nil, fmt.Errorf("the server reports: %.300s", bytes.TrimSpace(text))
	}
	return packetData, data, nil
}

func writePacket(b *bytes.Buffer, line string) {
	fmt.Fprintf(b, "%04x%s", len(line)+4, line)
}

// basicHeader is the header of a user and a token.
func basicHeader(user, password string) string {
	req := &http.Request{Header: http.Header{}}
	req.SetBasicAuth(user, password)
	return "Authorization: " + req.Header.Get("Authorization")
}
