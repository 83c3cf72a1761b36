/** Names the type of a value for an author, and never the value itself. */

export function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (isCallable(value)) return 'a function'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number') return 'a number'
  return typeof value === 'boolean' ? 'true or false' : 'text'
}

/** Whether the value is a function of JSONata, however it was made. A payload can only hold look-alikes. */
export function isCallable(value: unknown): boolean {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  const { implementation, environment } = value as {
    implementation?: unknown
    environment?: { lookup?: unknown } | null
  }
  return typeof implementation === 'function' || typeof environment?.lookup === 'function'
}
