/** Owns references in configuration texts: `${NAME}`, `${NAME:-default}`, `${file:/path}`, and `$${` for a plain `${`. */

export type Reference =
  | { readonly kind: 'environment'; readonly name: string; readonly fallback?: string }
  | { readonly kind: 'file'; readonly path: string }

/** Literal texts and references, in order. */
export type ReferenceText = readonly (string | Reference)[]

/** Whether the text needs parsing at all. */
export function mayHoldReference(text: string): boolean {
  return text.includes('${')
}

/** @throws SyntaxError whose message names the rule and quotes nothing. */
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
