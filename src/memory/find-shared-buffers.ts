/** The memories that plain data refers to, each once. */
export function memoriesOf(value: unknown): WebAssembly.Memory[] {
  return [...found(value).memories];
}

/** The shared buffers that plain data refers to, those of its memories among them, each once. */
export function buffersOf(value: unknown): ReadonlySet<SharedArrayBuffer> {
  return found(value).buffers;
}

/** Bytes of the shared memory that plain data refers to, each buffer counted once. */
export function sharedBytesOf(value: unknown): number {
  let sum = 0;
  for (const { byteLength } of buffersOf(value)) sum += byteLength;
  return sum;
}

interface Found {
  readonly buffers: Set<SharedArrayBuffer>;
  readonly memories: Set<WebAssembly.Memory>;
  readonly seen: Set<object>;
}

function found(value: unknown): Found {
  const all: Found = { buffers: new Set(), memories: new Set(), seen: new Set() };
  visit(value, all);
  return all;
}

function visit(value: unknown, all: Found): void {
  if (typeof value !== 'object' || value === null || all.seen.has(value)) return;
  all.seen.add(value);
  if (value instanceof SharedArrayBuffer) all.buffers.add(value);
  else if (ArrayBuffer.isView(value)) visit(value.buffer, all);
  else if (value instanceof WebAssembly.Memory) {
    all.memories.add(value);
    all.buffers.add(value.buffer);
  } else if (!(value instanceof ArrayBuffer)) for (const part of Object.values(value)) visit(part, all);
}
