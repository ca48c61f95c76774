# The image of a release: the program, certificates of authorities, and no shell. goreleaser lays the program of each platform beside
# this file. Programs in YAML and plugins run in it; for programs in other languages, copy sluice into an image with their runtime:
#
#   COPY --from=ghcr.io/sluice-iac/sluice /usr/bin/sluice /usr/bin/
FROM gcr.io/distroless/static-debian12
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/sluice /usr/bin/sluice
COPY LICENSE /usr/share/doc/sluice/copyright
# Whoever is named by --user has a home directory.
ENV HOME=/tmp
WORKDIR /work
ENTRYPOINT ["/usr/bin/sluice"]
