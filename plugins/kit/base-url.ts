/** Owns addresses below one that was configured. */

/** `path` begins with a slash; one at the end of `baseUrl` does no harm. */
export function urlBelow(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}${path}`
}
