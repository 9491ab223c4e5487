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

// wire speaks version 2 of git's protocol over HTTP (gitprotocol-v2), as far as it takes to fetch a few objects by
// their ids: go-git speaks versions 0 and 1 only, in which a server sends whole branches, and a ledger's grows without
// end. It is a source, and asks for no more than is needed. It has no cache of its own: keep takes what
// came.
type wire struct {
	http *http.Client
	url  string // of the repository, without a slash at the end
	auth func(*http.Request)
	keep func(gitobject.Object)
}

// errOldServer says that the server lacks what wire needs: version 2, or filters. It is no failure: the remote then
// falls back to fetching the newest commit whole (mirror).
var errOldServer = errors.New("the server does not speak version 2 of git's protocol with filters")

// greetServer asks what the server can do. Where it redirects, the final URL is used from then on, as git does: a POST
// that is redirected would lose its body or its method. Without filters, a request for one tree would bring all below
// it, so such a server counts as an old one. Ids of SHA-256 repositories are refused by name (package gitobject knows
// SHA-1).
func (w *wire) greetServer(ctx context.Context) error {
	const service = "/info/refs?service=git-upload-pack"
	resp, err := w.doRequest(ctx, http.MethodGet, w.url+service, nil)
	if err != nil {
		return err
	}
	defer drainAndClose(resp.Body)
	// The request of the answer is the last one after redirects.
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
		// Its ids would be 64 digits, and none of them an id for gitobject.IsID.
		case name == "object-format" && value != "sha1":
			return fmt.Errorf("the server names objects by %s, this version knows sha1", value)
		case kind == packetFlush && version && filter:
			return nil
		case kind == packetFlush || !version:
			return errOldServer
		}
	}
}

// drainAndClose reads what is left, so that the connection can be used again, but no more than 1 MiB: a server that
// sends without end must not hold us.
func drainAndClose(body io.ReadCloser) {
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 1<<20))
	_ = body.Close()
}

// refused is an answer that no second try will change; patience has tried again already where one might.
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

// doRequest sends one request. The header Git-Protocol is how a client asks for version 2 over HTTP; a server that does
// not know it answers in version 0, which greetServer recognises. Of an error page, 300 bytes are kept: enough for a
// message, and no more than fits into one.
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

// postCommand posts one command with its arguments. The packet 0001 ends the capabilities, 0000 the request. The object
// format is stated, so that a server with another one refuses and does not answer in it.
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

// tip returns what a reference holds, "" if it does not exist. A prefix matches longer names as well (ledger and
// ledger2), so the name is compared. What follows a second space are attributes.
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

// atMost bounds the objects of one answer: its bytes are bounded too (maxHeld), but a pack can hold millions of empty
// objects.
const atMost = 100_000

// fetchPack asks for a pack, and returns its bytes and a function that ends the answer. "done" says that nothing is
// negotiated: we name no object that we have, so the server must send complete objects.
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

// read implements source, by one request for all ids. "tree:0" leaves out everything that is not named, "deepen 1" the
// history. No base is known for a delta, because none was named; a pack that needs one is refused. ReadPack hashes
// every object, so a server cannot send another one under an id.
func (w *wire) read(ctx context.Context, limit int64, ids []string) ([]gitobject.Object, error) {
	pack, end, err := w.fetchPack(ctx, ids, "filter tree:0", "deepen 1")
	if err != nil {
		return nil, err
	}
	defer end()
	lim := gitobject.Limits{Objects: atMost, Size: limit, Total: maxHeld}
	// No object was named as a base, so a delta against one outside the pack is a mistake or a trick.
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
	// A server may send more than it was asked for; only what was asked for is returned, and all of it must have come.
	for i, id := range ids {
		o, ok := byID[id]
		if !ok {
			return nil, fmt.Errorf("%s: %w: the server did not send it", id, ErrMissing)
		}
		out[i] = o
	}
	return out, nil
}

// skipToPackfile skips to the section "packfile" of an answer, and returns a reader of its first band. Sections before
// it (acknowledgements, shallow-info) are not needed: what came is judged by its ids.
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

// band is the first band of a section: the pack. The second carries progress for people and is dropped; the third is an
// error that ends everything, and is never taken for the end of the pack.
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
		// A flush ends the section. Whether the pack is complete is not said by it: ReadPack holds the pack to its own
		// count and checksum.
		case kind != packetData || len(line) == 0:
			return 0, io.EOF
		// Band 2 falls through all cases and is passed over.
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

// readPacket reads one packet: four hexadecimal digits of length, which count themselves, and the data. Lengths 1 to 3
// are separators. An error may come in place of any packet; pack data cannot be mistaken for one, since it begins with
// the number of its band.
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

// writePacket writes one packet; ours are short, so the limit of 65,520 bytes is never near.
func writePacket(b *bytes.Buffer, line string) {
	fmt.Fprintf(b, "%04x%s", len(line)+4, line)
}

// basicHeader is the header of a user and a token. Package http has the encoding, but only on a request.
func basicHeader(user, password string) string {
	req := &http.Request{Header: http.Header{}}
	req.SetBasicAuth(user, password)
	return "Authorization: " + req.Header.Get("Authorization")
}
