// The step that most loops are made of. The relaxed build has it as one instruction that rounds once; the others
// multiply, round, add and round.

// @ts-ignore: decorator
@inline
export function multiplyAdd(sum: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, sum) : f32x4.add(sum, f32x4.mul(a, b));
}

// @ts-ignore: decorator
@inline
export function multiplySubtract(from: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_nmadd(a, b, from) : f32x4.sub(from, f32x4.mul(a, b));
}
