/**
 * The kernels: the loops in which furze spends its time. Every argument is a number; a *pointer* is a byte offset
 * into the instance's shared memory, a multiple of 4 (16 is faster), and 0 where an array is optional and absent.
 *
 * Layouts used throughout
 * - *factors*: float32, row-major, `f` numbers a row without gaps. `f` is a multiple of 4: round up with
 *   `paddedFactors` and keep the columns added at zero; every kernel then leaves them zero.
 * - *panels*: the same factors packed for scoring, see `packPanels`.
 * - *compressed rows* (CSR): `starts` has rows + 1 uint32, `columns` and the optional `weights` one value an entry;
 *   the columns of a row ascend.
 * - *bits*: one bit an item, item i in bit i & 31 of uint32 number i >> 5; 1 means allowed.
 *
 * No kernel allocates; scratch is the caller's, sized by the functions of `scratch-sizes.ts`, one for each thread.
 * Nothing is checked here: a wrong pointer damages the memory, as `memcpy` would.
 */
export interface Kernels {
  readonly name: 'wasm' | 'wasm-relaxed' | 'wasm-debug' | 'plain';

  /** Inner product of two float32 vectors of any length `n`. Cost: 2n flops. */
  dot(a: number, b: number, n: number): number;

  /** target[i] += factor * source[i] for any `n`; sums partial Gramians in the caller's order. */
  addScaled(target: number, source: number, factor: number, n: number): void;

  /** Number of values of a float32 vector that are NaN or infinite; 0 for a sound model. */
  countNonFinite(values: number, n: number): number;

  /**
   * Xᵀ X of `rows` rows of factors, written over `out` (f x f float32, both triangles). Cost: rows * f * f flops.
   * For a result that does not depend on the number of threads, take partial ones over fixed chunks of rows and add
   * them in order.
   */
  gramian(factors: number, rows: number, f: number, out: number): void;

  /** Packs factors into panels of 8 items: `panelBytes(rows, f)` bytes at `out`; the last panel is filled with zeros. */
  packPanels(factors: number, rows: number, f: number, out: number): void;

  /**
   * Packs factors into bytes with a scale for each item, `coarseBytes(rows, f)` at `out` (a multiple of 4): what
   * `queryTopK` rules items out by.
   */
  packCoarse(factors: number, rows: number, f: number, out: number): void;

  /** Inner products of one query with the listed rows of factors, as float32 at `scores`. */
  scoreItems(query: number, factors: number, f: number, items: number, count: number, scores: number): void;

  /** The best items for each of many queries. */
  batchTopK(job: BatchTopK): void;

  /** The best items for one query, scanning panels at memory speed. @returns how many were found, at most k. */
  queryTopK(job: QueryTopK): number;

  /**
   * Implicit ALS rows by preconditioned conjugate gradient (Takács, Pilászy, Tikk 2011), warm-started from the rows'
   * present values, when the factors of both sides stand in a basis in which the Gramian of `source` is diagonal
   * (`symmetricEigen`, `rotateRows`). Two steps do what three do without a preconditioner.
   */
  alsSpectralRows(job: AlsSpectralRows): void;

  /** The same rows solved exactly by Cholesky. @returns how many rows were not positive definite and left as they were. */
  alsCholeskyRows(job: AlsRows): number;

  /**
   * out = scale * base + diagonal * I + Σ weight x xᵀ over the listed rows of factors, f x f float32 (both triangles).
   * `weights` may be 0 (all 1). Cost: count * f * f flops. Scratch: `normalMatrixScratchBytes(f)`.
   */
  normalMatrix(job: NormalMatrix): void;

  /**
   * Solves A x = b for a symmetric positive definite f x f matrix, f a multiple of 4, whose upper triangle is read:
   * that is replaced by U (A = UᵀU), the rest is undefined, b becomes x. @returns 1, or 0 when A is not positive definite (b is then left as it was). Cost: f³/3 flops.
   */
  choleskySolve(a: number, b: number, f: number): number;

  /**
   * Eigenvalues and eigenvectors of a symmetric positive semidefinite f x f matrix, f a multiple of 4, such as a Gramian:
   * `values` gets f float32 in no particular order, `vectors` f x f float32 whose column j belongs to value j. Where the
   * last columns of the matrix are zero (padding) the vectors are those of the identity, so padded factors stay padded.
   * Scratch: `eigenScratchBytes(f)`, on a multiple of 8. @returns 1, or 0 when the matrix is not finite. Cost: about 9f³ flops.
   */
  symmetricEigen(matrix: number, f: number, values: number, vectors: number, scratch: number): number;

  /** X = X B in place, for `rows` rows of factors and an f x f matrix `basis`. Scratch: `rotateScratchBytes(f)`. Cost: 2 rows f² flops. */
  rotateRows(factors: number, rows: number, f: number, basis: number, scratch: number): void;

  /** Scores rows with a second-order factorization machine (Rendle 2010), before the logistic function. */
  fmScoreRows(job: FmRows): void;

  /** One pass of AdaGrad over rows for logistic loss. @returns the sum of the rows' losses before their updates. */
  fmAdaGradRows(job: FmTraining): number;

  /** Neighbors by weighted co-occurrence, top-k for each of a range of rows. */
  neighborTopK(job: NeighborTopK): void;

  /**
   * The same lists, where few columns are common and most are rare, by bounds instead of by all additions: MaxScore (Turtle
   * and Flood 1995) over lists of rare columns and bitmaps of common ones. A row that it would take as long for is compared
   * in full. @returns what it took, in about as many additions of `neighborTopK`
   */
  prunedNeighborTopK(job: PrunedNeighborTopK): number;

  /**
   * Sums listed rows of a sparse table, each times its weight, in their order and in float64: a sum for each row, 0
   * where nothing was added, or a hash table of those that something was added to. What an earlier call summed there is cleared first, at the cost of what it added. The same
   * bits in all builds. @returns the highest sum, 0 where none is above
   */
  sumRows(job: SumRows): number;

  /** The rows with the highest sums above 0, of equal ones the lower rows, in no order. @returns how many were found, at most k */
  topSums(job: TopSums): number;

  /**
   * Scores records of int8 against a query of int16: float32(Σ number * query number) * (scale * queryScale) + offset, each
   * step rounded to float32, the sum in whole numbers. The same bits in all builds.
   * @returns how many scores are above the threshold; NaN never is
   */
  scanBytes(job: ScanBytes): number;

  /**
   * The center nearest each record, by the scores of `scanBytes` with its numbers as the query: of those in the groups whose own
   * centers are nearest. Of equal ones that of the nearer group is taken, then the lower. The same bits in all builds.
   */
  nearestBytes(job: NearestBytes): void;
}

/** Base of every top-k. Order: score descending, ties to the lower item. NaN and infinite scores are left out. */
interface TopKOutput {
  /** Number of items. */
  readonly items: number;
  /** Items wanted for each query, 1 or more. */
  readonly k: number;
  /** uint32, k for each query. Places that stay empty are not written. */
  readonly outItems: number;
  /** float32, k for each query. */
  readonly outScores: number;
  /** `topKScratchBytes(f)` bytes. */
  readonly scratch: number;
}

/** Base of both searches among factors. */
interface FactorsTopK extends TopKOutput {
  readonly panels: number;
  readonly f: number;
  /** Bits of the items allowed (listable, in the category), the same for all queries. 0 or absent: all. */
  readonly allowedBits?: number;
  /** Rows of the same factors, and `headBytes(items, f)` of heads as `placeHeads` writes them: the same lists, bit for bit, by bounds. 0 or absent: not there. */
  readonly factors?: number;
  readonly heads?: number;
}

export interface BatchTopK extends FactorsTopK {
  /** Factors of the queries, `rows` of them. */
  readonly queries: number;
  readonly rows: number;
  /** CSR of the items that each query has read, ascending, or 0 and 0; `readStarts` points at the first query's start. */
  readonly readStarts: number;
  readonly readItems: number;
  /** uint32 for each query: how many items were found. */
  readonly outCounts: number;
}

export interface QueryTopK extends FactorsTopK {
  readonly query: number;
  /** The same factors from `packCoarse`: a third of the time for the same lists, bit for bit. 0 or absent: not there. */
  readonly coarse?: number;
  /** Ascending uint32 of items to leave out, or 0. */
  readonly readItems: number;
  readonly readCount: number;
}

/**
 * Rows of one side of implicit matrix factorization, in the parametrization of Rendle et al. 2021 ("Revisiting the
 * performance of iALS"): the row minimizes
 * Σ over its entries weight (x·source - 1)² + unobservedWeight Σ over all sources (x·source)² + regularization |x|².
 */
export interface AlsRows {
  /** CSR of the matrix: uint32 starts of all rows, then the columns (rows of `source`). */
  readonly starts: number;
  readonly columns: number;
  /** float32 for each entry, or 0 for weight 1. */
  readonly weights: number;
  /** Rows [firstRow, endRow) of the matrix and of `target` are solved. */
  readonly firstRow: number;
  readonly endRow: number;
  /** Factors that are solved, one row for each row of the matrix. */
  readonly target: number;
  /** Factors of the other side. */
  readonly source: number;
  /** Unweighted Gramian of `source`. */
  readonly gramian: number;
  readonly f: number;
  readonly unobservedWeight: number;
  /** float32 for each row of the matrix; see `rowRegularization`. */
  readonly regularizations: number;
  /** Conjugate-gradient steps; 3 is usual when warm-started. Not used by Cholesky. */
  readonly steps: number;
  /** `alsScratchBytes(f, gatherRows)` bytes. */
  readonly scratch: number;
  /** Number of source rows that fit in the scratch; those past them are gathered anew in every step. 2,048 keeps 64 factors in the L2 cache. */
  readonly gatherRows: number;
}

/** `steps` are usually 2. Regularizations must be above 0. */
export interface AlsSpectralRows extends Omit<AlsRows, 'gramian'> {
  /** float32, f: the diagonal of the Gramian of `source`, all else of which is zero. */
  readonly spectrum: number;
}

export interface NormalMatrix {
  readonly source: number;
  readonly f: number;
  /** uint32 rows of `source`, `count` of them. */
  readonly columns: number;
  readonly weights: number;
  readonly count: number;
  /** f x f float32, scaled by `scale` into the result. */
  readonly base: number;
  readonly scale: number;
  readonly diagonal: number;
  readonly out: number;
  readonly scratch: number;
}

export interface FmRows {
  /** CSR rows x features with a value for each entry (0 for all 1). */
  readonly starts: number;
  readonly features: number;
  readonly values: number;
  readonly firstRow: number;
  readonly endRow: number;
  /** One float32. */
  readonly bias: number;
  /** float32 for each feature. */
  readonly linear: number;
  /** float32, f for each feature. */
  readonly factors: number;
  readonly f: number;
  /** float32 for each row (indexed from row 0). */
  readonly outScores: number;
  /** `fmScratchBytes(f)` bytes. */
  readonly scratch: number;
}

export interface FmTraining extends FmRows {
  /** float32 for each row: 1 or 0. */
  readonly targets: number;
  /** uint32 order in which rows are visited, indexed like rows, or 0. */
  readonly order: number;
  /** Sums of squared gradients, shaped as the parameters: start them at a small positive number. */
  readonly biasSquares: number;
  readonly linearSquares: number;
  readonly factorSquares: number;
  readonly learningRate: number;
  readonly linearRegularization: number;
  readonly factorRegularization: number;
}

/**
 * For each row r in [firstRow, endRow) and every other row s that shares columns with it, where W is the sum of the
 * weights of the shared columns and c their number:
 * similarity(r, s) = W * c / (c + overlapShrink) / (norm(r) norm(s) + shrink).
 * With norm = sqrt(count), weight 1 and no shrink this is cosine.
 */
export interface NeighborTopK {
  /** CSR rows x columns. */
  readonly starts: number;
  readonly columns: number;
  /** The transposed CSR, columns x rows. */
  readonly otherStarts: number;
  readonly otherColumns: number;
  /** float32 for each column, or 0 for weight 1. */
  readonly columnWeights: number;
  /** float32 for each row, or 0 for norm 1. */
  readonly norms: number;
  /** Added to the product of norms, from 0: similarities of rows with small norms are the less. */
  readonly shrink: number;
  /** Similarities by few shared columns are the less, from 0; off when 0 or absent. Shared columns below 2^24. */
  readonly overlapShrink?: number;
  readonly rows: number;
  readonly firstRow: number;
  readonly endRow: number;
  readonly k: number;
  /** k uint32 / k float32 / one uint32 for each row of the range, the first row first. */
  readonly outRows: number;
  readonly outScores: number;
  readonly outCounts: number;
  /** `neighborScratchBytes(rows)` bytes, zero before the first call and left so that the next call may follow. */
  readonly scratch: number;
}

/**
 * As `NeighborTopK` without `shrink`, with weights above 0 and norms that are the roots of the rows' sums of weights. A *rank* is a
 * row's place in the order of norms, the least first, of equal norms the lower row first. Scratch:
 * `prunedNeighborScratchBytes(rows)` bytes, zero before the first call; those of `neighborTopK` may be the same.
 */
export interface PrunedNeighborTopK extends Omit<NeighborTopK, 'shrink'> {
  /** 32 bytes for each of `ranks` ranks: float32 norm, uint32 row, 192 bits of which bitmaps the row is in. */
  readonly records: number;
  readonly ranks: number;
  /** The ranks of `otherColumns`, at the same starts, in any order. */
  readonly rankLists: number;
  /** uint32 for each column: its bitmap, below 192; `NO_BITMAP` for none. */
  readonly bitmapOf: number;
  /** The bits of the ranks that have a column, for each bitmap padded to 128 bits; on a multiple of 16. */
  readonly bitmaps: number;
  /** A row that would take more than this share of comparing it in full is compared in full, from 0; Infinity for none. */
  readonly workShare: number;
}

export interface ScanBytes {
  /** `count` records of `byteRecordBytes(length)`: `length` int8, float32 scale, float32 offset, 8 bytes that nobody reads here. On a multiple of 16. */
  readonly records: number;
  readonly count: number;
  /** A multiple of 16; numbers beyond those of a vector are 0. */
  readonly length: number;
  /** `length` int16, each at most `2^31 / (127 * length)`, so that no sum overflows. On a multiple of 16. */
  readonly query: number;
  readonly queryScale: number;
  readonly threshold: number;
  /** `count` uint32: places from 0 of the records found, ascending. */
  readonly outPlaces: number;
  /** `count` float32: their scores. */
  readonly outScores: number;
}

export interface NearestBytes extends Pick<ScanBytes, 'records' | 'count' | 'length'> {
  /** Records of the centers, those of a group one after the other. On a multiple of 16. */
  readonly centers: number;
  /** `groupCount + 1` uint32: the first center of each group, and where the last ends. */
  readonly starts: number;
  /** A record for each of `groupCount` groups, on a multiple of 16, and in how many the centers are looked at, 1 or more. */
  readonly groups: number;
  readonly groupCount: number;
  readonly probes: number;
  /** `count` uint32: the nearest center; the first where none has a score. */
  readonly out: number;
  /** `2 * length + 4 * groupCount` bytes on a multiple of 16. */
  readonly scratch: number;
}

/** Arrays of `sumRows` and `topSums`. */
interface Sums {
  /**
   * `rowSumsBytes(rows, bits)` bytes, on a multiple of 16, zero before the first call: a float64 for each row, then what belongs to
   * the kernels; or for each place of a hash table a float64, then a uint32, its row + 1, 0 for none.
   */
  readonly sums: number;
  /** 0, or the hash table has 2^bits places, twice as many as entries can be added or more; see `firstPlaceOf`. */
  readonly bits: number;
  /** Rows of the table, which are also the rows that it names. */
  readonly rows: number;
}

export interface SumRows extends Sums {
  /** CSR of the table, whose columns may stand in any order. */
  readonly starts: number;
  readonly columns: number;
  /** float32 for each entry. */
  readonly scores: number;
  /** uint32 rows of the table, `count` of them; those that it does not have are passed over. */
  readonly items: number;
  /** float64 for each of them. */
  readonly weights: number;
  readonly count: number;
}

export interface TopSums extends Sums {
  /** 1 or more. */
  readonly k: number;
  /** Bits of the rows that are looked at, or 0: all. */
  readonly allowedBits: number;
  /** k uint32. */
  readonly outRows: number;
  /** k float64: the sums of these rows, on a multiple of 8. */
  readonly outScores: number;
}
