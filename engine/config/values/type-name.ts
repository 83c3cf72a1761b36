/** Names the type of a value of JavaScript in a sentence: `a list`, `an object`, `a string`, `null`. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
