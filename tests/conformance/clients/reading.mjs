// Reads every public attribute of a library's objects, however deep they lie (`reading.py` is the same for Python).

const DEPTH = 6;

export class Reading {
  constructor(excused = []) {
    this.excused = new Set(excused);
    this.faults = {};
    this.kinds = new Set();
  }

  /** What is thrown meanwhile is a fault of what the server has said. */
  async noting(what, act, where = "") {
    try {
      return await act();
    } catch (error) {
      this.fault(what, `${where}${error?.stack ?? error}`);
    }
  }

  fault(what, said) {
    this.faults[what] ??= said.slice(0, 500);
  }

  /** Read a value, and what it is made of, each object once. */
  read(where, value, seen = new Set(), depth = DEPTH) {
    if (value === null || typeof value !== "object" || seen.has(value) || depth === 0) return;
    seen.add(value);
    if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
      for (const each of value.values()) this.read(where, each, seen, depth);
      return;
    }
    const kind = value.constructor?.name ?? "Object";
    if (this.excused.has(kind)) return;
    this.kinds.add(kind);
    for (const name of this.names(value)) {
      if (name.startsWith("_") || this.excused.has(name) || this.excused.has(`${kind}.${name}`)) continue;
      try {
        const member = value[name];
        if (typeof member !== "function") this.read(where, member, seen, depth - 1);
      } catch (error) {
        this.fault(`${kind}.${name}`, `${where}: ${error}`);
      }
    }
  }

  /** Own members, and those that the classes of the value work out. */
  names(value) {
    const found = new Set(Object.keys(value));
    for (let kind = Object.getPrototypeOf(value); kind && kind !== Object.prototype; kind = Object.getPrototypeOf(kind)) {
      for (const [name, declared] of Object.entries(Object.getOwnPropertyDescriptors(kind))) if (declared.get) found.add(name);
    }
    return found;
  }

  report() {
    process.stdout.write(`${JSON.stringify({ faults: this.faults, kinds: [...this.kinds].sort() })}\n`);
  }
}
