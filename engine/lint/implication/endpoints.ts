/** Owns which endpoints two values of `match.path` share. An absent path is every endpoint. */

/** Whether every endpoint of the one is an endpoint of the other. */
export function covers(wide: string | undefined, narrow: string | undefined): boolean {
  return pairUp(wide, narrow, (one, other) => isParameter(one) || one === other)
}

/** Whether there is an endpoint that both have. */
export function overlap(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return true
  return pairUp(one, other, (left, right) => isParameter(left) || isParameter(right) || left === right)
}

export function parametersOf(path: string | undefined): readonly string[] {
  return (path?.split('/') ?? []).filter(isParameter).map((segment) => segment.slice(1))
}

function pairUp(
  one: string | undefined,
  other: string | undefined,
  fits: (left: string, right: string) => boolean,
): boolean {
  if (one === undefined || one === other) return true
  const left = one.split('/')
  const right = other?.split('/')
  if (right?.length !== left.length) return false
  return left.every((segment, index) => fits(segment, right[index] ?? ''))
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}
