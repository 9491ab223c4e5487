package verify

import "testing"

func TestSiteOf(t *testing.T) {
	for api, want := range map[string]string{
		"https://api.github.com": "https://github.com", "https://api.github.com/": "https://github.com",
		"https://git.example.org/api/v3":  "https://git.example.org",
		"https://git.example.org/api/v3/": "https://git.example.org",
		"https://api.acme.ghe.com":        "https://acme.ghe.com", "http://127.0.0.1:80/api/v3": "http://127.0.0.1:80",
		"https://git.example.org": "", "https://api.github.com/x": "", "%": "",
	} {
		if got, err := siteOf(api); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", api, got, err)
		}
	}
}
