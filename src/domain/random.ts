/** A seeded generator of numbers; same seed, same sequence, on every machine. */
export interface Random {
  /** A uint32, uniform. */
  uint32(): number;
  /** A float in [0, 1). */
  float(): number;
  /** An integer in [0, bound), bound at least 1. */
  below(bound: number): number;
  /** A normal deviate, mean 0 and standard deviation 1 (Box and Muller 1958). */
  normal(): number;
}

/** sfc32 (Doty-Humphrey, PractRand), seeded by splitmix32 of `seed` (any 32-bit integer). */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const splitmix = () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return z ^ (z >>> 15);
  };
  let a = splitmix();
  let b = splitmix();
  let c = splitmix();
  let d = 1;
  const uint32 = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) uint32();
  const float = () => uint32() / 4294967296;
  return {
    uint32,
    float,
    below: (bound) => Math.floor(float() * bound),
    normal: () => Math.sqrt(-2 * Math.log(1 - float())) * Math.cos(2 * Math.PI * float()),
  };
}
