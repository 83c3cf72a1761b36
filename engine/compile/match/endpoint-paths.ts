/** Finds paths by the name of an endpoint: exact paths, and those with `:name` segments. */

export interface CoveringPath<Value> {
  readonly value: Value
  /** The path's `:name` segments by name. Empty for a path without any. */
  readonly params: Readonly<Record<string, string>>
}

export const noParams: Readonly<Record<string, string>> = Object.freeze({})

/** Returns the values of all paths that cover a name, those with literal segments before those with parameters. */
export type FindPaths<Value> = (endpoint: string) => readonly CoveringPath<Value>[]

/** Paths whose parameters are in the same places, by their text without the names of parameters. */
interface Shape<Value> {
  readonly isParam: readonly boolean[]
  readonly paths: Map<string, { readonly segments: readonly string[]; readonly value: Value }[]>
}

export function indexPaths<Value>(paths: ReadonlyMap<string, Value>): FindPaths<Value> {
  const shapes = new Map<string, Shape<Value>>()
  for (const [path, value] of paths) {
    const segments = path.split('/')
    const isParam = segments.map((segment) => segment.startsWith(':'))
    const name = isParam.map(Number).join('')
    const shape = shapes.get(name) ?? { isParam, paths: new Map() }
    shapes.set(name, shape)
    const text = textOf(segments, isParam)
    shape.paths.set(text, [...(shape.paths.get(text) ?? []), { segments, value }])
  }
  const inOrder = [...shapes].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, shape]) => shape)

  return (endpoint) => {
    const segmentsOfEndpoint = endpoint.split('/')
    return inOrder.flatMap(({ isParam, paths }) => {
      if (
        isParam.length !== segmentsOfEndpoint.length ||
        isParam.some((is, at) => is && segmentsOfEndpoint[at] === '')
      )
        return []
      const found = paths.get(textOf(segmentsOfEndpoint, isParam)) ?? []
      return found.map(({ segments, value }) => ({
        value,
        params: paramsOf(segments, isParam, segmentsOfEndpoint),
      }))
    })
  }
}

function textOf(segments: readonly string[], isParam: readonly boolean[]): string {
  return segments.map((segment, at) => (isParam[at] ? ':' : segment)).join('/')
}

function paramsOf(
  segments: readonly string[],
  isParam: readonly boolean[],
  given: readonly string[],
): Readonly<Record<string, string>> {
  if (!isParam.includes(true)) return noParams
  const params = segments.flatMap((segment, at) =>
    isParam[at] ? [[segment.slice(1), given[at] as string] as const] : [],
  )
  return Object.freeze(Object.fromEntries(params))
}
