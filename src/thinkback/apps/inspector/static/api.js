// The server's public API; the browser sends the session cookie.

const SLOW_DOWN_TRIES = 3;

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }

  get offline() {
    return this.status === 0;
  }
}

let space = null;

export function useSpace(name) {
  space = name;
}

export function get(path, parameters = {}, signal) {
  return request("GET", path, parameters, undefined, signal);
}

export function post(path, body = {}, signal) {
  return request("POST", path, {}, body, signal);
}

export function patch(path, body) {
  return request("PATCH", path, {}, body);
}

export function del(path, parameters = {}) {
  return request("DELETE", path, parameters);
}

// A file of JSON Lines as it is.
export function upload(path, text) {
  return request("POST", path, {}, text, undefined, "application/x-ndjson");
}

export function memoryPath(id, more = "") {
  return `/v1/memories/${encodeURIComponent(id)}${more}`;
}

async function request(method, path, parameters, body, signal, type = "application/json") {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...parameters, space })) {
    for (const one of [value].flat()) if (one != null && one !== "") query.append(name, String(one));
  }
  const address = query.size ? `${path}?${query}` : path;
  const headers = body === undefined ? {} : { "Content-Type": type };
  const sent = body === undefined || type !== "application/json" ? body : JSON.stringify(body);
  const options = { method, headers, signal, body: sent };
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetched(address, options);
    if (response.status === 429 && attempt < SLOW_DOWN_TRIES) {
      await waited(Number(response.headers.get("retry-after") ?? 1), signal);
      continue;
    }
    return answered(response);
  }
}

async function fetched(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "offline", "The server does not answer.");
  }
}

async function answered(response) {
  const type = response.headers.get("content-type") ?? "";
  const shape = type.startsWith("application/json") ? await response.json() : null;
  if (response.ok) return shape;
  const error = shape?.error ?? { code: "unknown", message: `the server answered ${response.status}` };
  throw new ApiError(response.status, error.code, error.message);
}

function waited(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

// Only the newest of several requests counts: a new one cancels the previous one.
export class Latest {
  #controller = null;

  async run(work) {
    this.cancel();
    const controller = (this.#controller = new AbortController());
    try {
      const value = await work(controller.signal);
      return controller.signal.aborted ? undefined : value;
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      throw error;
    }
  }

  cancel() {
    this.#controller?.abort();
  }
}
