package githubtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/ledger/storetest"
)

// refCommand is one line of a push: what a reference was, and what it is to be; "" where it is not there.
type refCommand struct{ old, next, ref string }

// receivePush takes a push in, or hands it to git's backend, unless a ruleset forbids it. What is no fast-forward git
// refuses by itself where it is told to.
func (s *Server) receivePush(w http.ResponseWriter, r *http.Request, t Token) {
	commands, capabilities, err := pushCommands(r)
	if err != nil {
		http.Error(w, "the push cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	var refused bytes.Buffer
	forwardOnly := false
	s.mu.Lock()
	for _, c := range commands {
		if why := s.ruleViolation(t, c.ref, c.old, c.next); why != "" {
			writePacketLine(&refused, "ng "+c.ref+" push declined due to repository rule violations: "+why+"\n")
		}
		forwardOnly = forwardOnly || s.forwardOnly(t, c.ref)
	}
	s.mu.Unlock()
	if refused.Len() > 0 {
		_, _ = io.Copy(io.Discard, r.Body)
		reportDeclined(w, refused.String(), strings.Contains(capabilities, "side-band-64k"))
		return
	}
	if !forwardOnly && !s.processes && takenIn(w, r, s.git.dir) {
		return
	}
	backend := *s.backend
	if forwardOnly {
		backend.Env = append(slices.Clone(backend.Env), "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=receive.denyNonFastForwards", "GIT_CONFIG_VALUE_0=true")
	}
	s.toBackend(w, r, &backend)
}

// overGit says that git's own backend is to answer pushes: .ci/run sets REFEREE_CI=1.
func overGit() bool { return os.Getenv("REFEREE_CI") == "1" }

// takenIn takes a push in, in this process; false, with the request as it was, where git must.
func takenIn(w http.ResponseWriter, r *http.Request, dir string) bool {
	if overGit() || r.Header.Get("Content-Encoding") != "" {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return false
	}
	report := storetest.Receive(dir, body)
	if report != nil {
		w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		_, _ = w.Write(report) // a client that has gone needs no answer
	}
	return report != nil
}

// pushGreeting tells who wants to push what there is, in this process; false where git must.
func pushGreeting(w http.ResponseWriter, r *http.Request, dir string) bool {
	if overGit() || r.Method != "GET" || r.URL.RawQuery != "service=git-receive-pack" {
		return false
	}
	answer := storetest.Advertise(dir, "refs/test")
	if answer != nil {
		w.Header().Set("Content-Type", "application/x-git-receive-pack-advertisement")
		w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
		_, _ = w.Write(answer) // a client that has gone needs no answer
	}
	return answer != nil
}

// reportDeclined reports to a pushing client, which may want the report in a band of its own, which references were
// refused.
func reportDeclined(w http.ResponseWriter, lines string, band bool) {
	var report bytes.Buffer
	writePacketLine(&report, "unpack ok\n")
	report.WriteString(lines + "0000")
	if band {
		whole := "\x01" + report.String()
		report.Reset()
		writePacketLine(&report, whole)
		report.WriteString("0000")
	}
	w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
	_, _ = w.Write(report.Bytes())
}

// writePacketLine writes a line of git's protocol: four hexadecimal digits of its length, and the line.
func writePacketLine(to *bytes.Buffer, line string) { fmt.Fprintf(to, "%04x%s", len(line)+4, line) }

// pushCommands reads the lines at the beginning of a push, and puts them back.
func pushCommands(r *http.Request) (commands []refCommand, capabilities string, err error) {
	var read bytes.Buffer
	in := bufio.NewReader(r.Body)
	from := io.TeeReader(in, &read)
	defer func() { r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(read.Bytes()), in)) }()
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(from, head); err == io.EOF {
			return commands, capabilities, nil
		} else if err != nil {
			return nil, "", err
		}
		n, err := strconv.ParseUint(string(head), 16, 16)
		if err != nil || n == 0 {
			return commands, capabilities, err
		}
		line := make([]byte, max(int(n), 4)-4)
		if _, err := io.ReadFull(from, line); err != nil {
			return nil, "", err
		}
		text, more, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\x00")
		capabilities += more
		words := strings.SplitN(text, " ", 3)
		if len(words) < 3 {
			return nil, "", fmt.Errorf("the line %q", text)
		}
		commands = append(commands, refCommand{orAbsent(words[0]), orAbsent(words[1]), words[2]})
	}
}

// orAbsent is a commit's id, "" for the one of zeros only.
func orAbsent(id string) string {
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}
