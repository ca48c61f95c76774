# The image of a release: the program, certificates of authorities, and no shell. goreleaser lays the program of each platform beside
# this file. Programs in YAML and plugins run in it; for programs in other languages, copy sluice into an image with their runtime:
#
#   COPY --from=sluiceiac/sluice /usr/bin/sluice /usr/bin/
FROM --platform=$BUILDPLATFORM debian:stable-slim AS certificates
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && mkdir /files && mkdir -m 1777 /files/tmp

FROM scratch
ARG TARGETPLATFORM
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# What is in a folder keeps its mode when the folder is copied; not every builder gives one to the folder itself.
COPY --from=certificates /files /
COPY $TARGETPLATFORM/sluice /usr/bin/sluice
COPY LICENSE /usr/share/doc/sluice/copyright
# Whoever is named by --user has a home directory.
ENV HOME=/tmp
WORKDIR /work
ENTRYPOINT ["/usr/bin/sluice"]
