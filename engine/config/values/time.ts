/** Decides which strings are a time: ISO 8601 with a zone, of a day that exists. It also defines the default time of tests. */

const form = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** The time at which a test's request comes in, unless the test sets another. */
export const defaultTestTime = '2026-01-01T00:00:00Z'

/** A day alone is its midnight in UTC. A time without a zone would differ between machines. */
export function isTime(text: string): boolean {
  const [, day] = form.exec(text) ?? []
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  const midnight = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}
