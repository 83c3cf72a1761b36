# The image of a gateway, from this repository alone. For amd64 and arm64:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --tag reveille .
#
# docs/running.md says how it is run. test/image.soak.ts runs these steps without Docker; it reads them from this file.
ARG NODE=24.21.0
ARG DEBIAN=bookworm

# The build runs on the machine's own platform, and installs what the target needs: no step is emulated.
FROM --platform=$BUILDPLATFORM node:${NODE}-${DEBIAN}-slim AS build
ARG TARGETARCH
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run pack
# npm installs what package-lock.json says, and links the workspaces. Each link gives way to the package that was packed, together with the
# packages that npm installed in that workspace. 
RUN set -e; \
  case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu="$TARGETARCH" ;; esac; \
  npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --cpu="$cpu"; \
  for link in node_modules/reveille node_modules/@reveille/*; do \
    sources="$(readlink -f "$link")"; packed="build/packages/$(basename "$link")"; \
    rm "$link"; \
    if [ ! -d "$packed" ]; then continue; fi; \
    mv "$packed" "$link"; \
    if [ -d "$sources/node_modules" ]; then mv "$sources/node_modules" "$link/"; fi; \
  done; \
  mkdir -p /app /var/lib/reveille; \
  mv node_modules /app/

FROM node:${NODE}-${DEBIAN}-slim AS node

# This stage only copies, so it needs no emulation, and no layer holds npm. It is the Debian that the image of Node.js is made from.
# Root certificates are part of Node.js.
FROM debian:${DEBIAN}-slim
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app /app
COPY --from=build --chown=1000:1000 /var/lib/reveille /var/lib/reveille
ENV NODE_ENV=production \
  PATH=/app/node_modules/.bin:$PATH \
  REVEILLE_CONFIG=/var/lib/reveille \
  REVEILLE_HOST=0.0.0.0 \
  REVEILLE_PORT=8787
WORKDIR /var/lib/reveille
VOLUME /var/lib/reveille
# A number, from which Kubernetes can tell that the user is not root. The user has no name and no home folder.
USER 1000:1000
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --start-interval=1s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.REVEILLE_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/node_modules/reveille/bin/reveille.js"]
# A folder without a configuration gets a first one, with tokens of its own.
CMD ["start", "--init"]
