/** Owns what counts as true in a template: as in Handlebars, an empty list does not. */

export function isTruthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}
