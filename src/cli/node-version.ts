/** The oldest Node.js that furze runs on. */
const OLDEST = [20, 11] as const;
/** The release lines that every change is tested on. */
const TESTED: readonly number[] = [20, 22, 24];

/** A remark about the Node.js that furze runs on. */
export interface NodeVerdict {
  /** One line for the operator, undefined when the version is among the tested ones. */
  readonly line: string | undefined;
  readonly isTooOld: boolean;
}

/** Judges a version of Node.js. @param version as `process.versions.node` has it */
export function judgeNode(version: string): NodeVerdict {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const tested = `furze is tested on Node.js ${TESTED.join(', ')}`;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return {
      line: `furze needs Node.js ${OLDEST.join('.')} or newer, and this is ${version}; ${tested}.`,
      isTooOld: true,
    };
  }
  const line = TESTED.includes(major) ? undefined : `${tested}, and this is ${version}.`;
  return { line, isTooOld: false };
}
