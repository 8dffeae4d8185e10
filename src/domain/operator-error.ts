/**
 * A failure that whoever runs the program can do something about: its message is one line that says what is wrong and
 * what to do. The command line prints it alone, without a stack, and ends with exit code 1.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}
