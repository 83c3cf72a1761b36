/** Owns calling the functions that an expression hands to ours. */

/** A closure of the library's, or a function of the language as it is. */
export interface Callback {
  apply(self: unknown, values: readonly unknown[]): unknown
  readonly arity?: number
  readonly implementation?: { readonly length: number }
  readonly length?: number
  readonly arguments?: readonly unknown[]
}

/** How many values it takes. */
export function arityOf(callback: Callback): number {
  const { arity, implementation, length } = callback
  if (typeof arity === 'number') return arity
  if (typeof implementation === 'function') return implementation.length
  return typeof length === 'number' ? length : (callback.arguments?.length ?? 0)
}

/** The value, then as many of the others as it takes. */
export function valuesFor(
  callback: Callback,
  ...values: readonly [unknown, unknown, unknown]
): readonly unknown[] {
  return values.slice(0, Math.min(3, Math.max(1, arityOf(callback))))
}
