# docker build -t thinkback .
# docker run --rm -v thinkback:/data thinkback token new laptop --scope read --scope write --space '*'
# docker run -p 127.0.0.1:7077:7077 -v thinkback:/data thinkback
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/thinkback && /opt/thinkback/bin/pip install --no-cache-dir ".[serve,postgres]"
# The weights are part of the image, verified by their checksums: a container needs no network.
RUN THINKBACK_MODELS= XDG_CACHE_HOME=/opt/cache /opt/thinkback/bin/thinkback models pull

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home --home-dir /data thinkback
COPY --from=build /opt/thinkback /opt/thinkback
COPY --from=build --chown=thinkback /opt/cache /opt/cache
ENV PATH=/opt/thinkback/bin:$PATH \
    XDG_CACHE_HOME=/opt/cache \
    THINKBACK_STORE=/data/memory.db \
    THINKBACK_OFFLINE=true \
    THINKBACK_LOG_LEVEL=info \
    PYTHONUNBUFFERED=1
USER thinkback
WORKDIR /data
VOLUME /data
EXPOSE 7077
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7077/health/live', timeout=4)"]
# Without a token in /data the server refuses to listen beyond this machine. Put a TLS proxy in front of it.
ENTRYPOINT ["thinkback"]
CMD ["serve", "--host", "0.0.0.0", "--port", "7077"]
