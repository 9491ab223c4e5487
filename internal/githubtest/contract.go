package githubtest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// contract is GitHub's own description of its API and of its events.
type contract struct {
	api    *openapi3.T
	events *jsonschema.Compiler
	mu     sync.Mutex
	cache  map[string]*jsonschema.Schema
}

// contractFolder is where the descriptions lie.
func contractFolder() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "testdata", "contract")
}

var loadContract = sync.OnceValues(func() (*contract, error) {
	api, err := openapi3.NewLoader().LoadFromFile(filepath.Join(contractFolder(), "openapi.json"))
	if err != nil {
		return nil, fmt.Errorf("GitHub's OpenAPI description: %w", err)
	}
	events, err := os.ReadFile(filepath.Join(contractFolder(), "webhooks.json"))
	if err != nil {
		return nil, fmt.Errorf("the schemas of GitHub's events: %w", err)
	}
	// the validator takes a slash in an expression ("{/number}", RFC 6570) for the end of a path's element
	events = bytes.ReplaceAll(events, []byte(`"uri-template"`), []byte(`"x-uri-template"`))
	c := &contract{api: api, events: jsonschema.NewCompiler(), cache: map[string]*jsonschema.Schema{}}
	c.events.Draft = jsonschema.Draft7
	return c, c.events.AddResource("webhooks.json", bytes.NewReader(events))
})

// Contract reads the descriptions; from then on every request, answer and event is held against them.
func (s *Server) Contract() error {
	c, err := loadContract()
	if err == nil {
		s.contract = c
	}
	return err
}

// failMissingContract ends a test without the descriptions where REFEREE_CI says that they must be there, and says
// otherwise what is not looked at.
func failMissingContract(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("REFEREE_CI") == "1" || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("requests cannot be held against GitHub's description (.ci/github-contract --write fetches it): %v",
			err)
	}
	t.Logf("requests are NOT held against GitHub's description (.ci/github-contract --write fetches it): %v", err)
}

// checkExchange holds a request and its answer against the description.
func (c *contract) checkExchange(report func(string, ...any), r *http.Request, body []byte, rep reply) {
	method, path, _ := strings.Cut(strings.ReplaceAll(r.Pattern, "...}", "}"), " ")
	item := c.api.Paths.Value(path)
	if item == nil || item.GetOperation(method) == nil {
		report("githubtest: GitHub describes no operation %s %s", method, path)
		return
	}
	operation := item.GetOperation(method)
	in := &openapi3filter.RequestValidationInput{
		Request: r.Clone(context.Background()), PathParams: map[string]string{}, QueryParams: r.URL.Query(),
		Route: &routers.Route{Spec: c.api, Path: path, PathItem: item, Method: method, Operation: operation},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true, SkipSettingDefaults: true},
	}
	in.Request.Body = io.NopCloser(bytes.NewReader(body))
	for segment := range strings.SplitSeq(path, "/") {
		if name, found := strings.CutPrefix(segment, "{"); found {
			name = strings.TrimSuffix(name, "}")
			in.PathParams[name] = r.PathValue(name)
		}
	}
	err := openapi3filter.ValidateRequest(context.Background(), in)
	if err == nil {
		err = unknownMembers(operation, body)
	}
	if refused := rep.status >= 400; refused && err != nil {
		return // the server has refused what the description does not allow
	}
	if err != nil {
		report("githubtest: the request %s %s is not as GitHub describes it: %s\n%s", r.Method, r.URL.Path, briefError(err),
			body)
	}
	if err := c.checkAnswer(in, rep); err != nil {
		report("githubtest: the answer to %s %s is not as GitHub describes it: %s", r.Method, r.URL.Path, briefError(err))
	}
}

// checkAnswer holds the answer against the description, as far as there is one: not bytes as they are, nor errors that
// are not listed.
func (c *contract) checkAnswer(in *openapi3filter.RequestValidationInput, rep reply) error {
	if _, raw := rep.body.([]byte); raw || rep.status >= 400 && in.Route.Operation.Responses.Status(rep.status) == nil {
		return nil
	}
	data, err := json.Marshal(rep.body)
	if err != nil {
		return err
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: rep.status,
		Header:  http.Header{"Content-Type": {"application/json"}},
		Options: in.Options}
	if rep.body != nil {
		out.SetBodyBytes(data)
	}
	return openapi3filter.ValidateResponse(context.Background(), out)
}

// unknownMembers finds members of a request that the description does not name: GitHub ignores them, so that a misspelt
// one does nothing.
func unknownMembers(operation *openapi3.Operation, body []byte) error {
	if operation.RequestBody == nil || len(body) == 0 {
		return nil
	}
	media := operation.RequestBody.Value.Content.Get("application/json")
	var have map[string]any
	if media == nil || json.Unmarshal(body, &have) != nil {
		return nil
	}
	schema := media.Schema.Value
	known := map[string]bool{}
	for _, part := range slices.Concat(openapi3.SchemaRefs{media.Schema}, schema.OneOf, schema.AnyOf, schema.AllOf) {
		for name := range part.Value.Properties {
			known[name] = true
		}
	}
	for name := range have {
		if !known[name] {
			return fmt.Errorf("no member %q is described", name)
		}
	}
	return nil
}

// checkEvent holds a payload against the schema of its event ("pull_request$opened").
func (c *contract) checkEvent(name string, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	schema := c.cache[name]
	if schema == nil {
		var err error
		if schema, err = c.events.Compile("webhooks.json#/definitions/" + name); err != nil {
			return err
		}
		c.cache[name] = schema
	}
	var v any
	if err := json.Unmarshal(payload, &v); err != nil {
		return err
	}
	return schema.Validate(v)
}

// briefError is the beginning of a long error.
func briefError(err error) string {
	s := err.Error()
	if e := new(jsonschema.ValidationError); errors.As(err, &e) {
		s = fmt.Sprintf("%#v", e)
	}
	if len(s) > 1500 {
		s = s[:1500] + "…"
	}
	return s
}
