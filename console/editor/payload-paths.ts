/** Lists the fields of a payload by their paths, for completion. */

export interface FieldPath {
  /** As a template and an expression write it: `pull_request.user.login`, `messages[0].subject`. */
  readonly path: string
  /** The types of JSON that were seen: `object`, `list`, `string`, `number`, `boolean`, `null`. */
  readonly types: readonly string[]
  /** A shortened value, as JSON. */
  readonly example?: string
}

const maxPaths = 1_000
const maxDepth = 12
const maxExampleLength = 60

/** The first item of a list stands for all of them. */
export function pathsOf(payload: unknown): readonly FieldPath[] {
  const found: FieldPath[] = []
  walk(payload, '', 0)
  return found

  function walk(value: unknown, path: string, depth: number): void {
    if (found.length >= maxPaths || depth > maxDepth) return
    if (path !== '') found.push({ path, types: [typeOf(value)], ...exampleOf(value) })
    if (Array.isArray(value)) {
      if (value.length > 0) walk(value[0], `${path}[0]`, depth + 1)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) walk(inner, joined(path, name), depth + 1)
    }
  }
}

/** A name that is no word needs backquotes in an expression, and has no place in a template. */
function joined(path: string, name: string): string {
  const written = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? name : `\`${name}\``
  return path === '' ? written : `${path}.${written}`
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  if (value === null) return 'null'
  return typeof value
}

function exampleOf(value: unknown): { example?: string } {
  if (typeof value === 'object' && value !== null) return {}
  const text = JSON.stringify(value) ?? ''
  return { example: text.length > maxExampleLength ? `${text.slice(0, maxExampleLength)}…` : text }
}
