/** A filter that cannot be read; `path` is its place in the filter, as in `.and[1].not`. */
export class FilterError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.name = 'FilterError';
    this.path = path;
  }
}
