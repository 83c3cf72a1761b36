/** Owns telling whether two trees of plain data say the same, the order of their keys included. */

export function isSameTree(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  const otherNames = Object.keys(other)
  if (names.length !== otherNames.length) return false
  return names.every(
    (name, index) =>
      name === otherNames[index] &&
      isSameTree((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  )
}
