declare module 'postject' {
  /** Puts `resource` into an executable under a name, and flips the sentinel that says so. */
  export function inject(
    filename: string,
    resourceName: string,
    resource: Buffer,
    options?: { readonly sentinelFuse?: string; readonly machoSegmentName?: string },
  ): Promise<void>;
}
