package gitstore

import "fmt"

func openRemote(location string, _ Options) (*Store, error) {
	return nil, fmt.Errorf("%s is no repository on this machine", location)
}
