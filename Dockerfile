# The action's image: one static binary over nothing. The same file builds it from source for `uses: ./`, for enterprise servers and for the
# release, with BuildKit and with the classic builder, so it uses no syntax of one of them.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/defendableos/referee/referee.EngineVersion=${VERSION}" -o /out/referee ./cmd/referee

FROM scratch
# GitHub's API is reached over TLS; nothing else of an operating system is needed. GitHub requires root for /github/workspace.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/referee /referee
ENTRYPOINT ["/referee"]
