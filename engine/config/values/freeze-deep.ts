/** Freezes a tree of plain data and functions, so that nothing that a request reads can change. */

export function freezeDeep<Value>(value: Value, seen = new Set<unknown>()): Value {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function'
  if (!holds || seen.has(value)) return value
  seen.add(value)
  Object.freeze(value)
  for (const key of Reflect.ownKeys(value)) freezeDeep((value as Record<string | symbol, unknown>)[key], seen)
  return value
}

/** The type of a frozen tree of plain data. */
export type DeepReadonly<Value> = Value extends object
  ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
  : Value
