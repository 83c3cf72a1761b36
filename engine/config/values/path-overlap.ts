/** Compares values of `match.path`, which may hold parameters. An absent path covers every endpoint. */

/** True if every endpoint that the narrow path matches also matches the wide one. */
export function coversPath(wide: string | undefined, narrow: string | undefined): boolean {
  if (wide === undefined) return true
  return (
    narrow !== undefined && everySegment(wide, narrow, (left, right) => isParameter(left) || left === right)
  )
}

/** True if some endpoint matches both paths. */
export function overlapsPath(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return true
  return everySegment(left, right, (one, other) => isParameter(one) || isParameter(other) || one === other)
}

export function parametersOf(path: string | undefined): readonly string[] {
  return (path?.split('/') ?? []).filter(isParameter).map((segment) => segment.slice(1))
}

/** True if the paths have as many segments and each pair matches. */
function everySegment(
  left: string,
  right: string,
  matches: (left: string, right: string) => boolean,
): boolean {
  const others = right.split('/')
  const segments = left.split('/')
  return (
    segments.length === others.length && segments.every((one, index) => matches(one, others[index] ?? ''))
  )
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}
