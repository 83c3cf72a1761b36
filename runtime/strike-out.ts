/** Strikes known secrets out of what is shown, wherever a text has them. */

/** What stands in the place of a secret. */
export const struck = '[redacted]'

/** Returns a copy of plain data. `secrets` are the texts of `Configuration.secrets`. */
export function strikeOut<Value>(value: Value, secrets: readonly string[]): Value {
  if (secrets.length === 0) return value
  // A secret may be a part of a longer one.
  const longestFirst = [...secrets].sort((one, other) => other.length - one.length)
  return strikeIn(value, longestFirst) as Value
}

function strikeIn(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    let text = value
    for (const secret of secrets) text = text.replaceAll(secret, struck)
    return text
  }
  if (Array.isArray(value)) return value.map((each) => strikeIn(each, secrets))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([name, each]) => [name, strikeIn(each, secrets)]))
}
