/**
 * How tests and proofs run Node.js: a function is optimized after ten times as much running as else. They end before what was
 * compiled has paid for itself, above all in threads, of which each compiles for itself.
 */
export const V8_FLAGS: readonly string[] = [
  process.versions.node.startsWith('20.')
    ? '--interrupt-budget=600000'
    : '--invocation-count-for-turbofan=30000',
];
