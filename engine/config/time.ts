/** Decides which texts are a time: ISO 8601 with its zone, of a day that exists. It also holds the time of tests. */

const form = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** When a test's request comes in, where the test says nothing about it. */
export const defaultTestTime = '2026-01-01T00:00:00Z'

/** A day alone is its midnight in UTC; a time without a zone would be another one on another machine. */
export function isTime(text: string): boolean {
  const [, day] = form.exec(text) ?? []
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  const midnight = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}
