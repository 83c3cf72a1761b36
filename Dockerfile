# The image of a gateway, from this repository alone. For amd64 and arm64:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --tag reveille .
#
# docs/running.md says how it is run. test/image.soak.ts runs these steps without Docker; it reads them from this file.
ARG NODE=24.21.0

# The build runs on the machine's own platform, and installs what the target needs: no step is emulated.
FROM --platform=$BUILDPLATFORM node:${NODE}-slim AS build
ARG TARGETARCH
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run pack
WORKDIR /app
# The Node.js that some packages bring for machines without one stays behind.
RUN case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu="$TARGETARCH" ;; esac \
  && npm install --omit=dev --ignore-scripts --no-audit --no-fund --no-package-lock --os=linux --cpu="$cpu" /src/build/packages/*.tgz \
  && rm -rf node_modules/node-linux-*

FROM node:${NODE}-slim
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/* \
  && mkdir -p /var/lib/reveille && chown 1000:1000 /var/lib/reveille
COPY --from=build /app /app
ENV NODE_ENV=production \
  PATH=/app/node_modules/.bin:$PATH \
  REVEILLE_CONFIG=/var/lib/reveille \
  REVEILLE_HOST=0.0.0.0 \
  REVEILLE_PORT=8787
WORKDIR /var/lib/reveille
VOLUME /var/lib/reveille
# The user `node`, as a number, from which Kubernetes can tell that it is not root.
USER 1000:1000
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --start-interval=1s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.REVEILLE_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/node_modules/reveille/bin/reveille.js"]
# A folder without a configuration gets a first one, with tokens of its own.
CMD ["start", "--init"]
