/** Compares values of `match.path`, which may hold parameters. An absent path covers every endpoint. */

/** True if every endpoint that the narrow path matches also matches the wide one. */
export function coversPath(wide: string | undefined, narrow: string | undefined): boolean {
  return segmentsMatch(wide, narrow, (one, other) => isParameter(one) || one === other)
}

/** True if some endpoint matches both paths. */
export function overlapsPath(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return true
  return segmentsMatch(one, other, (left, right) => isParameter(left) || isParameter(right) || left === right)
}

export function parametersOf(path: string | undefined): readonly string[] {
  return (path?.split('/') ?? []).filter(isParameter).map((segment) => segment.slice(1))
}

function segmentsMatch(
  one: string | undefined,
  other: string | undefined,
  matches: (left: string, right: string) => boolean,
): boolean {
  if (one === undefined || one === other) return true
  const left = one.split('/')
  const right = other?.split('/')
  if (right?.length !== left.length) return false
  return left.every((segment, index) => matches(segment, right[index] ?? ''))
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}
