/** Finds the worker's program, which lies beside this module as a source, in a package or in a bundle. */

export function workerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './transform-worker.ts' : './transform-worker.js',
    import.meta.url,
  )
}
