/** Owns reading where Gmail's operations are, and which scopes they take, in the client that Google generates. */

export interface Place {
  readonly method: string
  /** `/gmail/v1/users/{userId}/history`. */
  readonly path: string
}

const start = /\n {8}(?=\w+\(paramsOrCallback, )/
const called = /^(?<name>\w+).*?\burl: \(rootUrl \+\s+'(?<path>[^']+)'\).*?\bmethod: '(?<method>[A-Z]+)'/s

/** Of `build/v1.js`, by id in lower case: its classes are not told by the exact names. */
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

/** Of `build/v1.d.ts`: its examples ask for every scope that an operation takes; any one of them is enough. */
export function readScopes(source: string): ReadonlyMap<string, readonly string[]> {
  const scopes = new Map<string, readonly string[]>()
  // An example without scopes must not lend those of the next one.
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
