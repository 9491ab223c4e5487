package githubtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"
)

// Step is one step of a scenario, for whoever drives the server from outside (program serve). Do says what; the other
// members are what it takes, and unknown ones are refused.
type Step struct {
	Do       string            `json:"do"`
	Branch   string            `json:"branch"`
	Files    map[string]string `json:"files"`
	From     string            `json:"from"` // a directory on this machine whose files are added,
	At       string            `json:"at"`   // below this path
	Delete   []string          `json:"delete"`
	Author   string            `json:"author"`
	Message  string            `json:"message"`
	Fork     string            `json:"fork"`
	Base     string            `json:"base"`
	Draft    bool              `json:"draft"`
	Pull     int64             `json:"pull"`
	Review   int64             `json:"review"`
	Run      int64             `json:"run"`
	User     string            `json:"user"`
	State    string            `json:"state"`
	Body     string            `json:"body"`
	Method   string            `json:"method"`
	Event    string            `json:"event"`
	Action   string            `json:"action"`
	SHA      string            `json:"sha"`
	Before   string            `json:"before"`
	Inputs   map[string]any    `json:"inputs"`
	Path     string            `json:"path"`
	Status   int               `json:"status"`
	Seconds  int               `json:"seconds"`
	Times    int               `json:"times"`
	Role     string            `json:"role"`
	Type     string            `json:"type"`
	Token    string            `json:"token"`
	App      string            `json:"app"`
	ReadOnly bool              `json:"read_only"`
	Admin    bool              `json:"admin"`
	Members  bool              `json:"members"`
}

// steps are what Step.Do may be, and what they give.
var steps = map[string]func(*Server, Step) (any, error){
	"commit": func(s *Server, p Step) (any, error) {
		c, err := p.changeOf()
		if err != nil || p.Fork == "" {
			return s.orNothing(err, func() string { return s.Commit(p.Branch, c) })
		}
		return s.CommitFork(p.Fork, p.Branch, c), nil
	},
	"open": func(s *Server, p Step) (any, error) {
		return s.Open(Pull{Head: p.Branch, Base: p.Base, Author: p.Author, Draft: p.Draft, Fork: p.Fork}), nil
	},
	"push": func(s *Server, p Step) (any, error) {
		c, err := p.changeOf()
		return s.orNothing(err, func() string { return s.Push(p.Pull, c) })
	},
	"force-push": func(s *Server, p Step) (any, error) {
		c, err := p.changeOf()
		return s.orNothing(err, func() string { return s.ForcePush(p.Pull, c, true) })
	},
	"close":       func(s *Server, p Step) (any, error) { s.Close(p.Pull, p.User); return nil, nil },
	"merge":       func(s *Server, p Step) (any, error) { return s.Merge(p.Pull, p.User, p.Method), nil },
	"retarget":    func(s *Server, p Step) (any, error) { s.Retarget(p.Pull, p.Base); return nil, nil },
	"review":      func(s *Server, p Step) (any, error) { return s.Review(p.Pull, p.User, p.State, p.Body), nil },
	"edit-review": func(s *Server, p Step) (any, error) { s.EditReview(p.Pull, p.Review, p.Body); return nil, nil },
	"dismiss":     func(s *Server, p Step) (any, error) { s.DismissReview(p.Pull, p.Review, p.User); return nil, nil },
	"run": func(s *Server, p Step) (any, error) {
		return s.AddRun(Run{Pull: p.Pull, Event: p.Event, Conclusion: p.State}), nil
	},
	"job":     func(s *Server, p Step) (any, error) { return s.RunJob(p.SHA, p.Message, p.State), nil },
	"protect": func(s *Server, p Step) (any, error) { return nil, s.Protect(p.Body) },
	"lacks": func(s *Server, p Step) (any, error) {
		_, missing := s.Mergeable(p.Pull)
		return append([]string{}, missing...), nil
	},
	"user": func(s *Server, p Step) (any, error) {
		s.AddUser(User{Login: p.User, Role: p.Role, Type: p.Type})
		return nil, nil
	},
	"token": addToken,
	"fault": addFault,
	"event": eventOf,
	"sleep": func(s *Server, p Step) (any, error) {
		s.Sleep(time.Duration(p.Seconds) * time.Second)
		return nil,
			nil
	},
	"head":         func(s *Server, p Step) (any, error) { return s.Head(p.Pull), nil },
	"ref":          func(s *Server, p Step) (any, error) { return s.Ref("refs/heads/" + p.Branch), nil },
	"checks":       func(s *Server, p Step) (any, error) { return s.Checks(p.SHA), nil },
	"issues":       func(s *Server, _ Step) (any, error) { return s.Issues(), nil },
	"requests":     func(s *Server, _ Step) (any, error) { return s.Requests(), nil },
	"review-texts": reviewTexts,
}

// orNothing runs f where there is no error.
func (s *Server) orNothing(err error, f func() string) (any, error) {
	if err != nil {
		return nil, err
	}
	return f(), nil
}

// Step runs one step, given as JSON, and gives its result. What the server itself cannot do is an error, not the end of
// the program.
func (s *Server) Step(data []byte) (result any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var p Step
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("a step: %w", err)
	}
	run, known := steps[p.Do]
	if !known {
		return nil, fmt.Errorf("no step is named %q", p.Do)
	}
	defer func() {
		if x := recover(); x != nil {
			result, err = nil, fmt.Errorf("step %q: %v", p.Do, x)
		}
	}()
	return run(s, p)
}

// changeOf is the commit that a step describes.
func (p Step) changeOf() (Change, error) {
	c := Change{Files: map[string]string{}, Delete: p.Delete, Author: p.Author, Message: p.Message}
	for name, content := range p.Files {
		c.Files[name] = content
	}
	if p.From == "" {
		return c, nil
	}
	from := os.DirFS(p.From)
	err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		c.Files[path.Join(p.At, name)] = string(data)
		return err
	})
	return c, err
}

func addToken(s *Server, p Step) (any, error) {
	s.AddToken(p.Token, Token{Login: p.User, App: p.App, ReadOnly: p.ReadOnly, Members: p.Members, Admin: p.Admin})
	return nil, nil
}

// faults are the faults by name.
var faults = map[string]Fault{"bad-token": BadToken, "no-access": NoAccess, "missing": Missing, "conflict": Conflicted,
	"abuse": Abused, "unicorn": Unicorn,
	"drop-before": DropBefore, "drop-after": DropAfter}

// addFault injects the fault that State names, or a rate limit where Seconds say when to come back.
func addFault(s *Server, p Step) (any, error) {
	f, known := faults[p.State]
	if p.Seconds > 0 {
		f, known = RetryAfter(p.Status, p.Seconds), true
	}
	if !known {
		return nil, fmt.Errorf("no fault is named %q", p.State)
	}
	f = f.On(p.Method, p.Path)
	f.Times = p.Times
	s.Inject(f)
	return nil, nil
}

// madeEvent is an event as a step gives it.
type madeEvent struct {
	Name    string          `json:"name"`
	SHA     string          `json:"sha"`
	Ref     string          `json:"ref"`
	Payload json.RawMessage `json:"payload"`
}

func eventOf(s *Server, p Step) (any, error) {
	var e Event
	switch p.Event {
	case "pull_request", "pull_request_target":
		e = s.PullEvent(p.Pull, p.Action, p.Event == "pull_request_target")
	case "pull_request_review":
		e = s.ReviewEvent(p.Pull, p.Review, p.Action)
	case "workflow_run":
		e = s.RunEvent(p.Run)
	case "merge_group":
		e = s.MergeGroupEvent(p.SHA, p.Base)
	case "push":
		e = s.PushEvent(p.Branch, p.Before, p.User)
	case "schedule":
		e = s.ScheduleEvent("0 6 * * *")
	case "workflow_dispatch":
		e = s.DispatchEvent(p.User, p.Inputs)
	default:
		return nil, fmt.Errorf("no event is named %q", p.Event)
	}
	return madeEvent{e.Name, e.SHA, e.Ref, e.Payload}, nil
}

// reviewTexts are the bodies of somebody's reviews, the oldest first.
func reviewTexts(s *Server, p Step) (any, error) {
	texts := []string{}
	for _, id := range s.ReviewsBy(p.Pull, p.User) {
		body, _ := s.ReviewBody(p.Pull, id)
		texts = append(texts, body)
	}
	return texts, nil
}
