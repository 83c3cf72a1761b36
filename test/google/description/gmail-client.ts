/** Reads the paths and scopes of Gmail's operations from the client that Google generates. */

export interface Place {
  readonly method: string
  /** `/gmail/v1/users/{userId}/history`. */
  readonly path: string
}

const start = /\n {8}(?=\w+\(paramsOrCallback, )/
const called = /^(?<name>\w+).*?\burl: \(rootUrl \+\s+'(?<path>[^']+)'\).*?\bmethod: '(?<method>[A-Z]+)'/s

/** Reads `build/v1.js`. Ids are in lower case, because its classes do not have the exact names. */
export function readPlaces(source: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  const classes = source.split(/\n {4}class (?=Resource\$)/).slice(1)
  for (const text of classes) {
    const names = /^Resource\$([\w$]+)/.exec(text)?.[1]?.split('$') ?? []
    const prefix = ['gmail', ...names].join('.')
    for (const one of text.split(start).slice(1)) {
      const { name = '', path = '', method = '' } = called.exec(one)?.groups ?? {}
      places.set(`${prefix}.${name}`.toLowerCase(), { method, path })
    }
  }
  return places
}

/**
 * Reads `build/v1.d.ts`. Its examples ask for every scope that an operation accepts, and any one of them is enough.
 */
export function readScopes(source: string): ReadonlyMap<string, readonly string[]> {
  const scopes = new Map<string, readonly string[]>()
  // An example without scopes must not take those of the next one.
  const examples = source.matchAll(
    /scopes: \[(?<list>[^\]]*)\](?:(?!scopes: \[).)*?await (?<id>gmail\.[\w.]+)\(\{/gs,
  )
  for (const { groups } of examples) {
    const { list = '', id = '' } = groups ?? {}
    scopes.set(
      id,
      [...list.matchAll(/'([^']+)'/g)].map(([, scope]) => scope ?? ''),
    )
  }
  return scopes
}
