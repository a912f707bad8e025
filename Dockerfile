# The harness with small models inside, so that a first score needs no network:
#     docker build -t embedding-bias .
#     docker run --rm embedding-bias eval --model glove-6b-50d --mitigator none --tasks weat-6
FROM python:3.11-slim
COPY . /source
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
        -c /source/constraints.txt "/source[models]" \
    && rm -rf /source/build \
    && useradd --create-home --uid 1000 harness
USER 1000
WORKDIR /home/harness
ENTRYPOINT ["embedding-bias"]
CMD ["--help"]
