# syntax=docker/dockerfile:1

FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
COPY sdk/typescript/package.json sdk/typescript/
RUN npm ci --ignore-scripts

FROM modules AS build
COPY . .
RUN npm run build

FROM node:24-slim AS production
WORKDIR /app
COPY package.json package-lock.json ./
COPY sdk/typescript/package.json sdk/typescript/
RUN npm ci --ignore-scripts --omit=dev && npm cache clean --force

FROM node:24-slim
ENV NODE_ENV=production
# In a container the service has to listen on the container's own address. It speaks plain HTTP there: publish the
# port to a proxy that ends TLS, or to loopback. With a proxy set AEGIS_TRUST_PROXY to its networks instead.
ENV HOST=0.0.0.0 PORT=8080 AEGIS_ALLOW_PLAIN_HTTP=1
# The first keys, and the embedded database where DATABASE_URL is not set.
ENV AEGIS_DATA_DIR=/data
WORKDIR /app
COPY --from=production /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY drizzle drizzle
COPY policies policies
COPY src/console/assets src/console/assets
RUN rm -rf node_modules/@aegis && install -d -o node -g node -m 700 /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "--v8-pool-size=1", "--max-old-space-size=1024", "dist/aegis.js", "serve"]
