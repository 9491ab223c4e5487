package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/canonical"
	"github.com/defendableos/referee/internal/gitobject"
	"github.com/defendableos/referee/ledger"
	"github.com/defendableos/referee/ledger/storetest"
)

// attacks gives every fixture. The codes are stated from the specification of each attack and of each code, not from
// what a verification said.
func attacks() []*branch {
	var all []*branch
	for _, group := range [][]*branch{sound(), entries(), files(), objects(), history(), pinned(), recorded()} {
		all = append(all, group...)
	}
	return all
}

// with is the good ledger after a change to its newest commit.
func with(change func(*branch)) *branch {
	b := good()
	change(b)
	return b
}

// sound is ledgers that look odd and are good.
func sound() []*branch {
	late := good()
	early := storetest.Sample(70)
	early.Approval.Review.SubmittedAt = "2026-10-01T08:00:00Z"
	early.Checklist[0].At = "2026-10-01T08:00:00Z"
	late.append(storetest.Key(early))
	script := ledgerOf(func(n int64) ledger.Receipt {
		r := storetest.Sample(n)
		const evil = `</script><script>document.title="owned"</script><img src=x onerror=alert(1)>`
		r.Findings[0].Message, r.Run.Project, r.Approval.Approver.Login = evil, evil, evil
		r.Agent.Name, r.Submission.Path, r.FlightSheet.Slug = evil, evil, evil
		return storetest.Key(r)
	})
	return []*branch{
		good().seen("good", "six entries, each in a commit", ledger.L1),
		late.seen("good-late-minting", "an entry signed before the ones it follows, and minted late", ledger.L1),
		script.seen("good-script", "script in the strings of every receipt; the ledger is good, a page must show it "+
			"as text", ledger.L1),
	}
}

// entries is attacks on what an entry says and where it stands.
func entries() []*branch { return slices.Concat(editedEntries(), lyingEntries(), misplacedEntries()) }

// editedEntries are entries whose bytes were changed in place.
func editedEntries() []*branch {
	return []*branch{
		with(func(b *branch) { b.edit(2, `"model":"example-70b"`, `"model":"example-99b"`, false) }).
			seen("tampered-edit", "an entry edited under its old name", ledger.L1, ledger.CodeName,
				ledger.CodeHeadLies).full(ledger.CodeRewritten),
		with(func(b *branch) { b.edit(2, `"model":"example-70b"`, `"model":"example-99b"`, true) }).
			seen("tampered-edit-renamed", "an entry edited and named anew", ledger.L1, ledger.CodeParent,
				ledger.CodeHeadLies, ledger.CodeCommitChain).full(ledger.CodeRewritten),
		with(func(b *branch) { b.edit(2, `"path":"evidence/t12.csv"`, `"path":"evidence/t13.csv"`, false) }).
			seen("tampered-evidence", "the evidence of an entry swapped", ledger.L1, ledger.CodeName,
				ledger.CodeHeadLies).full(ledger.CodeRewritten),
	}
}

// lyingEntries hash and chain as they should, and say what does not follow from themselves.
func lyingEntries() []*branch {
	return []*branch{
		with(func(b *branch) {
			r := storetest.Sample(7)
			b.forge(r, `"subject_digest":"`+r.Approval.SubjectDigest,
				`"subject_digest":"`+storetest.Sample(8).Approval.SubjectDigest)
		}).
			seen("tampered-subject", "an entry whose approval covers another sheet, submission and evidence; all "+
				"around it is right", ledger.L1, ledger.CodeInvalid),
		with(func(b *branch) {
			r := storetest.Sample(7)
			b.forge(r, r.Evidence[0].SHA256, storetest.Sample(8).Evidence[0].SHA256)
		}).
			seen("tampered-subject-evidence", "an entry with other evidence than was approved; all around it is right",
				ledger.L1, ledger.CodeInvalid),
		with(lie(`"score":"96.4"`, `"score":"-5"`)).seen("tampered-score", "a score that the counts do not make",
			ledger.L1, ledger.CodeInvalid),
		with(lie(`"severity":"noncritical"`, `"severity":"critical"`)).
			seen("tampered-severity", "a critical finding in a jelly receipt", ledger.L1, ledger.CodeInvalid),
		with(lie(`"recommended_action":"resubmit"`, `"recommended_action":"approve"`)).
			seen("tampered-action", "an action that the findings do not recommend", ledger.L1, ledger.CodeInvalid),
		with(lie(`"client_ready":false`, `"client_ready":true`)).
			seen("tampered-ready", "work with a defect, said to be ready", ledger.L1, ledger.CodeInvalid),
		with(lie(`"rule_ids":["dscr"]`, `"rule_ids":["dscr","ltv"]`)).
			seen("tampered-flagged", "a finding of two rules where one is counted", ledger.L1, ledger.CodeInvalid),
		with(func(b *branch) {
			r := storetest.Sample(7)
			shown := string(must(canonical.Marshal(struct {
				Findings []ledger.Finding `json:"findings"`
			}{r.Findings})))
			b.forge(r, strings.TrimPrefix(strings.TrimSuffix(shown, "}"), "{")+",", "")
		}).
			seen("tampered-cut", "findings taken out, their number kept", ledger.L1, ledger.CodeInvalid),
		with(func(b *branch) {
			r := storetest.Sample(7)
			low := r.Findings[0]
			low.Tier = "low"
			r.Findings = append(r.Findings, low)
			b.forge(storetest.Judged(r, 27, 0), `"high":0,"low":1,"mid":1`, `"high":0,"low":0,"mid":2`)
		}).
			seen("tampered-tiers", "a low finding counted as a mid one", ledger.L1, ledger.CodeInvalid),
		with(func(b *branch) {
			r := storetest.Sample(7)
			r.Accepted = []ledger.Waiver{{RuleID: "dscr", Reason: "the lender knows", By: "rosa",
				At: r.Approval.Review.SubmittedAt}}
			b.forge(r, `"rule_id":"dscr"`, `"rule_id":"ltv"`)
		}).
			seen("tampered-accepted", "a finding accepted that is not there", ledger.L1, ledger.CodeInvalid),
		with(func(b *branch) {
			r := storetest.Clean(storetest.Sample(7))
			at := r.Checklist[0].At
			b.forge(r, `"checklist":[{"answer":"satisfied","at":"`+at+`","by":"rosa","id":"site_visited"}]`,
				`"checklist":[{"answer":"flag","at":"`+at+`","by":"rosa","id":"site_visited","note":"nobody was `+
					`there"}]`)
		}).
			seen("tampered-honey", "honey where a person said no", ledger.L1, ledger.CodeInvalid),
		with(func(b *branch) {
			_, first := b.entry(0)
			r := storetest.Carried(storetest.Sample(0), canonical.SHA256Hex(first))
			r.Evidence = storetest.Sample(8).Evidence
			b.append(storetest.Key(r))
		}).
			seen("tampered-carried-evidence", "a sign-off carried over to other evidence", ledger.L1,
				ledger.CodeReference),
	}
}

// misplacedEntries stand where they do not belong, or are of a form that no writer has.
func misplacedEntries() []*branch {
	foreign, again, replayed := storetest.Sample(7), storetest.Sample(3), storetest.Sample(2)
	foreign.Repository.ID = 9
	again.Approval.Approver.Permission = "admin"
	replayed.PullRequest.Number = 900
	restored := good()
	whole := restored.commits
	restored.commits = whole[:4]
	restored.edit(1, `"model":"example-70b"`, `"model":"example-99b"`, false)
	restored.commits = whole
	return []*branch{
		with(swapped).
			seen("tampered-reorder", "two entries in each other's place", ledger.L1, ledger.CodeMisplaced,
				ledger.CodeParent, ledger.CodeHeadLies, ledger.CodeCommitChain).full(ledger.CodeRewritten),
		with(func(b *branch) { b.remove(2) }).
			seen("tampered-drop-middle", "an entry dropped", ledger.L1, ledger.CodeGap, ledger.CodeHeadLies,
				ledger.CodeCommitChain).full(ledger.CodeRewritten),
		with(func(b *branch) { b.remove(0) }).
			seen("tampered-drop-first", "the first entry dropped", ledger.L1, ledger.CodeGap, ledger.CodeReference,
				ledger.CodeHeadLies, ledger.CodeInfoLies, ledger.CodeCommitChain).full(ledger.CodeRewritten),
		with(inserted).seen("tampered-insert", "another entry in between, with the same seq", ledger.L1,
			ledger.CodeTwin, ledger.CodeParent, ledger.CodeHeadLies, ledger.CodeCommitChain),
		with(forged).seen("tampered-forged", "a well-formed entry by somebody who does not know the tree", ledger.L1,
			ledger.CodeLog, ledger.CodeHeadLies),
		with(func(b *branch) { b.append(storetest.Key(foreign)) }).
			seen("tampered-replay-repository", "an entry that was signed off in another repository", ledger.L1,
				ledger.CodeRepository),
		with(func(b *branch) { b.append(again) }).seen("tampered-twice", "one sign-off twice", ledger.L1,
			ledger.CodeDuplicate),
		with(func(b *branch) {
			b.append(storetest.Observed(storetest.Sample(1), ledger.Merged, canonical.SHA256Hex(nil)))
		}).
			seen("tampered-reference", "an entry that refers to none of this ledger", ledger.L1, ledger.CodeReference),
		with(func(b *branch) { b.edit(5, `"seq":5`, `"seq": 5`, true) }).
			seen("tampered-non-canonical", "one space more, under the right hash", ledger.L1, ledger.CodeNotCanonical,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		with(func(b *branch) { b.edit(5, `"actor":"rosa"`, "\"actor\":\"\u202easor\"", true) }).
			seen("tampered-bidi-text", "a name that is displayed backwards", ledger.L1, ledger.CodeNotCanonical,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		with(func(b *branch) { b.edit(5, "eval-receipt/v1", "eval-receipt/v9", true) }).
			seen("tampered-unknown-schema", "a schema that this version does not know", ledger.L1,
				ledger.CodeUnknownSchema, ledger.CodeHeadLies, ledger.CodeCommitChain),
		with(func(b *branch) { b.edit(5, "eval-receipt/v1", "eval-receipt/v0", true) }).
			seen("tampered-downgrade", "a schema of before the first version", ledger.L1, ledger.CodeUnknownSchema,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		with(func(b *branch) { b.edit(5, `"kind":"merged"`, `"kind":"approved"`, true) }).
			seen("tampered-no-approval", "a receipt that nobody signed", ledger.L1, ledger.CodeInvalid,
				ledger.CodeHeadLies, ledger.CodeCommitChain),
		restored.seen("tampered-edited-and-restored", "an entry edited in one commit and restored in the next",
			ledger.L1).full(ledger.CodeRewritten),
	}
}

// lie is one edit of an entry that is otherwise right, hash and chain included.
func lie(old, with string) func(b *branch) {
	return func(b *branch) { b.forge(storetest.Sample(7), old, with) }
}

func swapped(b *branch) {
	x, y := b.remove(2), b.remove(3)
	b.put(2, y)
	b.put(3, x)
}

func inserted(b *branch) {
	head := ledger.NewHead()
	for seq := range int64(3) {
		_, data := b.entry(seq)
		head = must(head.Append(data))
	}
	b.put(3, must(ledger.Mint(head, storetest.Sample(77))))
}

// forged adds an entry, and a commit that names it, but neither the right tree nor HEAD.json.
func forged(b *branch) {
	zeros := strings.Repeat("0", 63) + "1"
	head := ledger.Head{Count: 6, Tip: b.head().Tip, Root: zeros, Edge: []string{zeros, zeros}}
	data := must(ledger.Mint(head, storetest.Sample(77)))
	e := ledger.Entry{Hash: canonical.SHA256Hex(data), Bytes: data, Receipt: must(ledger.Parse(data))}
	b.commit(ledger.Batch{Message: ledger.Message([]ledger.Entry{e}, head.Tip)})
	b.put(6, data)
}

// sheetPath is where a sheet is kept.
func sheetPath(hash string) string { return ledger.Place{Class: ledger.SheetFile, Hash: hash}.String() }

// firstLayout turns a ledger into one of before the first release: receipts/000/012/, pr/000/00123/ and
// sheets/<hash>.json.
func firstLayout(b *branch) {
	for i, c := range b.commits {
		files := map[string]file{}
		for path, f := range c.files {
			p := must(ledger.ParsePath(path))
			switch p.Class {
			case ledger.PullAlias:
				path = fmt.Sprintf("pr/%03d/%05d/%09d-%s.json", p.Pull/100_000, p.Pull%100_000, p.Seq, p.Hash)
			case ledger.EntryFile:
				path = fmt.Sprintf("receipts/%03d/%03d/%09d-%s.json", p.Seq/1_000_000, p.Seq/1_000%1_000, p.Seq, p.Hash)
			case ledger.SheetFile:
				path = "sheets/" + p.Hash + ".json"
			case ledger.InfoFile:
				f.data = bytes.Replace(f.data, []byte(ledger.InfoFormat), []byte(ledger.FirstInfoFormat), 1)
			}
			files[path] = f
		}
		b.commits[i].files = files
	}
}

// files is attacks on the closed world of names.
func files() []*branch {
	extra := func(name, about, path string) *branch {
		return with(func(b *branch) { b.set(path, "x") }).seen(name, about, ledger.L1, ledger.CodeUnknownFile)
	}
	mode := func(name, about, mode, id string) *branch {
		return with(func(b *branch) {
			b.tip().files[ledger.PagePath] = file{mode: mode, data: []byte("HEAD.json"),
				id: id}
		}).
			seen(name, about, ledger.L1, ledger.CodeMode)
	}
	alias := func(b *branch, class ledger.Class) string {
		path, _ := b.entry(3)
		p := must(ledger.ParsePath(path))
		p.Class = class
		if class == ledger.PullAlias {
			p.Pull = 4
		}
		if class == ledger.HashAlias {
			p.Seq = 0
		}
		return p.String()
	}
	other := canonical.SHA256Hex([]byte("other"))
	return []*branch{
		extra("tampered-extra-file", "a file that no ledger has", "notes.txt"),
		extra("tampered-case-fold", "a twin for file systems that fold case", "head.json"),
		extra("tampered-case-fold-directory", "a directory that a file system may take for another",
			"Receipts/000/00/00/x"),
		extra("tampered-dot-git", "a .git for whoever checks the branch out", ".git/config"),
		extra("tampered-dot-dot", "a way out of the directory", "../x"),
		extra("tampered-homoglyph", "a Cyrillic letter in HEAD.json", "\u041dEAD.json"),
		extra("tampered-bidi-name", "a name that is displayed backwards", "receipts/000/00/00/\u202enosj.x"),
		extra("tampered-depth", "three hundred directories, one in the other", strings.Repeat("d/", 300)+"x"),
		with(func(b *branch) {
			for i := range 5000 {
				b.set(fmt.Sprintf("x%04d", i), "x")
			}
		}).seen("tampered-count", "thousands of names", ledger.L1, ledger.CodeUnknownFile, ledger.CodeTooMany),
		mode("tampered-symlink", "a link in place of a file", gitobject.ModeSymlink, ""),
		mode("tampered-executable", "an executable", gitobject.ModeExec, ""),
		mode("tampered-submodule", "a submodule", gitobject.ModeModule, strings.Repeat("ab", 20)),
		mode("tampered-directory", "a directory in place of a file", gitobject.ModeTree,
			gitobject.ID(gitobject.Tree, nil)),
		with(func(b *branch) { delete(b.tip().files, alias(b, ledger.HashAlias)) }).
			seen("tampered-alias-missing", "an entry that cannot be found by its hash", ledger.L1,
				ledger.CodeAliasMissing).full(ledger.CodeRewritten),
		with(func(b *branch) { _, data := b.entry(1); b.set(alias(b, ledger.PullAlias), string(data)) }).
			seen("tampered-alias-differs", "another entry where a pull request's is looked up", ledger.L1,
				ledger.CodeAliasDiffers).full(ledger.CodeRewritten),
		with(func(b *branch) { b.set(ledger.Place{Class: ledger.HashAlias, Hash: other}.String(), "other") }).
			seen("tampered-alias-orphan", "a receipt beside the chain", ledger.L1, ledger.CodeAliasOrphan),
		with(func(b *branch) { b.set(ledger.AttributesPath, "* text eol=crlf\n") }).
			seen("tampered-attributes", "line ends that change on a check-out", ledger.L1,
				ledger.CodeAttributes).full(ledger.CodeRewritten),
		with(func(b *branch) { b.set(sheetPath(ledger.SheetHash(sheet)), "shoot") }).
			seen("tampered-sheet", "a rulebook edited", ledger.L1, ledger.CodeSheet).full(ledger.CodeRewritten),
		with(func(b *branch) { b.set(sheetPath(other), "other") }).
			seen("tampered-sheet-orphan", "a rulebook that no receipt names", ledger.L1, ledger.CodeSheetOrphan),
		with(func(b *branch) { b.set(ledger.HeadPath, string(b.commits[2].files[ledger.HeadPath].data)) }).
			seen("tampered-head-lies", "HEAD.json of an earlier state", ledger.L1, ledger.CodeHeadLies),
		with(func(b *branch) { b.set(ledger.HeadPath, "{}") }).
			seen("tampered-head-unreadable", "HEAD.json that says nothing", ledger.L1, ledger.CodeHeadUnreadable),
		with(func(b *branch) {
			b.set(ledger.InfoPath, strings.Replace(string(b.tip().files[ledger.InfoPath].data), "ledger/v2",
				"ledger/v3", 1))
		}).seen("tampered-info-version", "LEDGER.json of a version that this one does not know", ledger.L1,
			ledger.CodeInfoUnreadable).full(ledger.CodeRewritten),
		with(firstLayout).seen("tampered-first-layout", "a ledger of the layout before the first release", ledger.L1,
			ledger.CodeUnknownFile, ledger.CodeAliasOrphan, ledger.CodeHeadLies, ledger.CodeInfoUnreadable,
			ledger.CodeCommitChain),
		with(func(b *branch) {
			info := ledger.Info{Format: ledger.InfoFormat, Genesis: other, Repository: ledger.Repository{ID: 4242,
				Name: "example/work"}}
			b.set(ledger.InfoPath, string(must(info.Marshal())))
		}).seen("tampered-info-lies", "LEDGER.json names another genesis", ledger.L1,
			ledger.CodeInfoLies).full(ledger.CodeRewritten),
	}
}

// objects is attacks on the repository that holds the ledger.
func objects() []*branch {
	huge := with(func(b *branch) {
		b.tip().files[ledger.PagePath] = file{mode: gitobject.ModeFile, id: strings.Repeat("cd", 20)}
	}).seen("tampered-huge-blob", "a file whose header says 1 GiB", ledger.L1, ledger.CodeSize)
	huge.fx.Loose = map[string][]byte{strings.Repeat("cd", 20): deflated("blob 1073741824\x00" + strings.Repeat("\x00",
		64))}

	lost := good()
	_, data := lost.entry(5)
	lost.omit[gitobject.ID(gitobject.Blob, data)] = true
	lost.seen("tampered-lost-blob", "an entry whose object is not there", ledger.L1, ledger.CodeUnreadable,
		ledger.CodeHeadLies, ledger.CodeCommitChain)

	twice := good()
	twice.tip().rawTree = func(entries []gitobject.Entry) []byte {
		sorted := must(gitobject.ParseTree(gitobject.EncodeTree(entries)))
		return gitobject.EncodeRawTree(append(sorted[:2:2], sorted[1:]...))
	}
	twice.seen("tampered-name-twice", "a directory with one name twice, of which git shows one", ledger.L1,
		ledger.CodeUnknownFile, ledger.CodeCommitChain)

	_, tip := good().objects()
	replaced := good().seen("tampered-replace", "refs/replace shows another commit", ledger.L1, ledger.CodeReplaced)
	replaced.fx.Files = map[string]string{"refs/replace/" + tip: tip + "\n"}
	graft := good().seen("tampered-graft", "info/grafts cuts the history", ledger.L1, ledger.CodeReplaced)
	graft.fx.Files = map[string]string{"info/grafts": tip + "\n"}
	shallow := good().seen("tampered-shallow", "a clone of the newest commit alone", ledger.L1, ledger.CodeShallow)
	shallow.from, shallow.fx.Files = 5, map[string]string{"shallow": tip + "\n"}
	cut := good().seen("tampered-history-lost", "older commits are not there, and nothing says why", ledger.L1,
		ledger.CodeUnreadable)
	cut.from = 5
	return []*branch{huge, lost, twice, replaced, graft, shallow, cut}
}

func deflated(text string) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return out.Bytes()
}
