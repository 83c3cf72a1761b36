/** Parses references in configuration strings: `${NAME}`, `${NAME:-default}`, `${file:/path}`, and `$${` for a plain `${`. */

export type Reference =
  | { readonly kind: 'environment'; readonly name: string; readonly fallback?: string }
  | { readonly kind: 'file'; readonly path: string }

/** Literal strings and references, in order. */
export type ReferenceText = readonly (string | Reference)[]

/** Whether the text needs parsing at all. */
export function mayHoldReference(text: string): boolean {
  return text.includes('${') || foreignReference(text) !== undefined
}

/** References in the syntax of shells, GitHub Actions, Compose, Helm and Windows. Each matches a whole text. */
const foreign: readonly RegExp[] = [
  /^\$([A-Z_][A-Z0-9_]*)$/,
  /^\$\(([A-Z_][A-Z0-9_]*)\)$/,
  /^%([A-Z_][A-Z0-9_]*)%$/,
  /^\$?\{\{\s*(?:secrets|env|vars|\$?process\.env|\.Env)\.(\w+)\s*\}\}$/,
  /^\$?env:([A-Z_][A-Z0-9_]*)$/i,
  /^process\.env\.(\w+)$/,
]

/** Returns the name of the variable that a text refers to in the syntax of another tool, or undefined. */
export function foreignReference(text: string): string | undefined {
  for (const pattern of foreign) {
    const name = pattern.exec(text)?.[1]
    if (name !== undefined) return name
  }
  return undefined
}

/** @throws SyntaxError, whose message names the rule and quotes nothing */
export function parseReferences(text: string): ReferenceText {
  const parts: (string | Reference)[] = []
  let done = 0
  for (const found of text.matchAll(/\$\$\{|\$\{([^{}]*)(\}?)/g)) {
    if (found.index > done) parts.push(text.slice(done, found.index))
    done = found.index + found[0].length
    parts.push(found[0] === '$${' ? '${' : parseReference(found[1] ?? '', found[2] === '}'))
  }
  if (done < text.length) parts.push(text.slice(done))
  return parts
}

function parseReference(body: string, closed: boolean): Reference {
  if (!closed) throw new SyntaxError('holds a reference that is not closed; references do not nest')
  if (body.startsWith('file:')) {
    const path = body.slice('file:'.length).trim()
    if (path === '') throw new SyntaxError('holds a file reference without a path')
    return { kind: 'file', path }
  }
  const named = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/.exec(body)
  if (!named) throw new SyntaxError('holds a reference that is no variable name')
  return {
    kind: 'environment',
    name: named[1] ?? '',
    ...(named[2] === undefined ? {} : { fallback: named[2] }),
  }
}
