# syntax=docker/dockerfile:1
# One binary and what it needs to call others over TLS: docker build --build-arg RELEASE=1.2.3 --tag tradegrid:1.2.3 .
# For several architectures: docker buildx build --platform linux/amd64,linux/arm64 …
ARG GO_VERSION=1.26

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION}-bookworm AS build
ENV GOMODCACHE=/cache/modules GOCACHE=/cache/build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache go mod download
COPY changelog.go CHANGELOG.md ./
COPY cmd cmd
COPY docs docs
COPY pkg pkg
COPY schemas schemas
COPY services services
COPY topics topics
ARG TARGETOS TARGETARCH
ARG RELEASE=dev
# The same sources and the same Go give the same bytes, wherever they are built.
RUN --mount=type=cache,target=/cache \
    CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X github.com/tradegrid/tradegrid/services/roles.Release=${RELEASE}" -o /out/tradegrid ./cmd/tradegrid

FROM scratch
ARG RELEASE=dev
LABEL org.opencontainers.image.title="Tradegrid" \
      org.opencontainers.image.description="A sharded, multi-tenant business-management platform: REST API in, signed webhooks out" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${RELEASE}"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/tradegrid /tradegrid
ENV TRADEGRID_LOG_FORMAT=json
# Nobody in particular; a number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 8080 8081 9090
ENTRYPOINT ["/tradegrid"]
