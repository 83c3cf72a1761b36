/** Owns which endpoints somebody has set up, and whether a request was for one. */

import type { Configuration, Snapshot } from '@reveille/engine'

/** Paths of mappings and names of policies, the built-in ones aside: whoever wants to posts to those. */
export function endpointsOf(good: {
  readonly configuration: Configuration
  readonly snapshot: Snapshot
}): readonly string[] {
  const paths = good.snapshot.mappings.flatMap(({ path }) => path ?? [])
  const all = new Set([...paths, ...Object.keys(good.configuration.endpoints)])
  return [...all].filter((name) => name !== 'wake' && name !== 'agent').sort()
}

/** Those of `names` that none of the requested endpoints is. A name may have `:param` segments. */
export function unseen(names: readonly string[], requested: ReadonlySet<string>): readonly string[] {
  const open = names.filter((name) => !requested.has(name))
  if (!open.some((name) => name.includes(':'))) return open
  const asked = [...requested].map((endpoint) => endpoint.split('/'))
  return open.filter((name) => {
    if (!name.includes(':')) return true
    const segments = name.split('/')
    return !asked.some((endpoint) => isOf(endpoint, segments))
  })
}

function isOf(endpoint: readonly string[], segments: readonly string[]): boolean {
  return (
    endpoint.length === segments.length &&
    segments.every((segment, index) => segment.startsWith(':') || segment === endpoint[index])
  )
}
