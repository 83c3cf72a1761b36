/** Redacts known secrets in what is shown, wherever a string has them. */

/** Returns a copy of plain data. `mask` returns a string without secrets; objects that are nested more deeply than `depth` are dropped. */
export function redact<Value>(
  value: Value,
  mask: (text: string) => string,
  depth = Number.POSITIVE_INFINITY,
): Value {
  return redacted(value, mask, depth) as Value
}

function redacted(value: unknown, mask: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return undefined
  const inner = (each: unknown) => redacted(each, mask, depth - 1)
  if (Array.isArray(value)) return value.map(inner)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]))
}
