// Exponential, sigmoid and softplus of one float32: the logistic loss and its gradient.

/** Added to a number below 2^22, it leaves the nearest whole one in the low bits. */
const SHIFT: f32 = 12582912;

/**
 * e^x to about 1e-7 relative; Cephes' polynomial by halves (Estrin), since its latency is what a sample waits for. The
 * standard library's tables would need a data segment.
 */
export function exp(x: f32): f32 {
  const clamped: f32 = x > 87 ? 87 : x < -87 ? -87 : x;
  const shifted: f32 = clamped * <f32>1.4426950408889634 + SHIFT;
  const n: f32 = shifted - SHIFT;
  const r: f32 = clamped - n * <f32>0.693359375 + n * <f32>2.12194440e-4;
  const square = r * r;
  const high = (<f32>1.9875691500e-4 * r + <f32>1.3981999507e-3) * square;
  const middle = <f32>8.3334519073e-3 * r + <f32>4.1665795894e-2;
  const low = <f32>1.6666665459e-1 * r + <f32>5.0000001201e-1;
  const value = ((high + middle) * square + low) * square + (r + 1);
  return value * reinterpret<f32>((reinterpret<u32>(shifted) << 23) + (127 << 23));
}

// @ts-ignore: decorator
@inline
export function sigmoid(x: f32): f32 {
  return 1 / (1 + exp(-x));
}

/** log(1 + e^x) without overflow: log(1 + t) = 2 artanh(t / (2 + t)) for t in (0, 1], by its series. */
export function softplus(x: f32): f64 {
  const t = <f64>exp(-abs<f32>(x));
  const s = t / (2 + t);
  const q = s * s;
  const series = 1 + q * (1 / 3.0 + q * (1 / 5.0 + q * (1 / 7.0 + q * (1 / 9.0 + q * (1 / 11.0 + q / 13.0)))));
  return max<f64>(<f64>x, 0) + 2 * s * series;
}
