# syntax=docker/dockerfile:1
# The image has the executable, the C library and an empty data directory, and no shell.
# docs/operations.md says how to run it; test/process/release/image.test.ts holds this file to that.
FROM node:22-bookworm-slim AS build
WORKDIR /source
COPY package.json package-lock.json ./
COPY test/support/client-generator/package.json test/support/client-generator/
RUN npm ci --omit=dev --no-audit --no-fund
COPY . .
RUN npm run build && mkdir -m 700 /empty

FROM gcr.io/distroless/base-debian12:nonroot
COPY --from=build /source/dist/catalog-server /usr/local/bin/catalog-server
COPY --from=build /source/LICENSE /usr/share/doc/catalog-server/LICENSE
COPY --from=build --chown=65532:65532 /empty /data
ENV CATALOG_DATA=/data
ENV CATALOG_HOST=0.0.0.0
ENV CATALOG_PORT=8000
USER 65532:65532
VOLUME /data
EXPOSE 8000
# Pages in the queue are written for 5 seconds, and requests under way get 10: docker stop -t 30.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["catalog-server", "health"]
ENTRYPOINT ["catalog-server"]
CMD ["serve"]
