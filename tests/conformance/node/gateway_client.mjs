// A gateway client made of what Node has built in: WebSocket, fetch and zlib. It shares no line with the server.

import zlib from "node:zlib";

const WAIT_MS = 20_000;

/** One direction of a zstd stream: what goes in comes out changed, one call at a time. */
class Stream {
  constructor(transform, flush) {
    this.transform = transform;
    this.flush = flush;
  }

  async pass(data) {
    await new Promise((resolve, reject) => {
      this.transform.once("error", reject);
      this.transform.write(data, () => (this.flush ? this.transform.flush(this.flush, resolve) : resolve()));
    });
    const chunks = [];
    for (let chunk = this.transform.read(); chunk !== null; chunk = this.transform.read()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

export class GatewayClient {
  /** Connect, and resolve with the client once Hello is there. */
  static async connect(gatewayUrl, compressed) {
    const query = compressed ? "?v=1&encoding=json&compress=zstd-stream&stream=1" : "?v=1&encoding=json";
    const client = new GatewayClient(new WebSocket(gatewayUrl + query), compressed);
    client.hello = await client.next((payload) => payload.op === 10);
    return client;
  }

  constructor(socket, compressed) {
    this.socket = socket;
    this.socket.binaryType = "arraybuffer";
    this.payloads = [];
    this.frames = new Set();
    this.sequence = null;
    this.waiting = [];
    this.closed = new Promise((resolve) => {
      socket.onclose = ({ code, reason }) => {
        resolve({ code, reason });
        for (const waiter of this.waiting) waiter.reject(new Error(`closed with ${code} ${reason}`));
      };
    });
    if (compressed) {
      this.compressor = new Stream(zlib.createZstdCompress(), zlib.constants.ZSTD_e_flush);
      this.decompressor = new Stream(zlib.createZstdDecompress());
    }
    let turn = Promise.resolve();
    socket.onmessage = ({ data }) => {
      turn = turn.then(() => this.take(data));
    };
    this.speaking = Promise.resolve();
  }

  async take(data) {
    this.frames.add(typeof data === "string" ? "text" : "binary");
    const text = this.decompressor ? (await this.decompressor.pass(Buffer.from(data))).toString() : data;
    const payload = JSON.parse(text);
    if (payload.op === 0) this.sequence = payload.s;
    this.payloads.push(payload);
    for (const waiter of [...this.waiting]) this.look(waiter);
  }

  look(waiter) {
    const found = this.payloads.findIndex((payload, at) => at >= waiter.from && waiter.isIt(payload));
    if (found < 0) return;
    this.waiting.splice(this.waiting.indexOf(waiter), 1);
    waiter.resolve(this.payloads[found]);
  }

  /** The first payload that `isIt` accepts, of those that have come or come in time. */
  next(isIt, from = 0) {
    return new Promise((resolve, reject) => {
      const waiter = { isIt, from, resolve, reject };
      this.waiting.push(waiter);
      setTimeout(() => reject(new Error(`no ${isIt} among ${JSON.stringify(this.payloads.map(describe))}`)), WAIT_MS).unref();
      this.look(waiter);
    });
  }

  dispatch(name, isIt = () => true) {
    return this.next((payload) => payload.t === name && isIt(payload.d));
  }

  say(op, d) {
    const text = JSON.stringify({ op, d });
    this.speaking = this.speaking.then(async () => {
      this.socket.send(this.compressor ? await this.compressor.pass(text) : text);
    });
    return this.speaking;
  }

  identify(token, members = {}) {
    return this.say(2, { token, properties: { os: "linux", browser: "node", device: "node" }, ...members });
  }

  resume(token, sessionId, seq) {
    return this.say(6, { token, session_id: sessionId, seq });
  }

  async heartbeat() {
    const before = this.payloads.length;
    await this.say(1, this.sequence);
    return this.next((payload) => payload.op === 11, before);
  }
}

function describe({ op, t }) {
  return t ?? op;
}

/** The HTTP side: JSON in, JSON out; anything but 2xx is an error. */
export class Rest {
  constructor(baseUrl, authorization) {
    this.baseUrl = baseUrl;
    this.authorization = authorization;
  }

  async request(method, path, body) {
    const headers = { "Content-Type": "application/json" };
    if (this.authorization) headers.Authorization = this.authorization;
    const answer = await fetch(this.baseUrl + path, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  }

  send(channelId, content) {
    return this.request("POST", `/channels/${channelId}/messages`, { content });
  }
}

/** The address that the instance publishes. */
export async function gatewayUrl(world) {
  const discovery = await (await fetch(new URL("/.well-known/chat", world.base_url))).json();
  return discovery.endpoints.gateway;
}

/** One line for the test that reads along. */
export function report(step, members = {}) {
  console.log(JSON.stringify({ step, ...members }));
}

export function world() {
  return JSON.parse(process.argv[2]);
}
