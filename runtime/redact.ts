/** Strikes known secrets out of what is shown, wherever a text has them. */

/** Returns a copy of plain data. `mask` returns a text without secrets. */
export function redact<Value>(value: Value, mask: (text: string) => string): Value {
  return strikeIn(value, mask) as Value
}

function strikeIn(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map((each) => strikeIn(each, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, strikeIn(each, mask)]))
}
