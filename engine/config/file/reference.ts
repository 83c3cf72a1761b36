/** Parses references in configuration strings: `${NAME}`, `${NAME:-default}`, `${file:/path}`, and `$${` for a plain `${`. */

import { LocatedError } from '../values/located-error.ts'

export type Reference =
  | { readonly kind: 'environment'; readonly name: string; readonly fallback?: string }
  | { readonly kind: 'file'; readonly path: string }

/** Literal strings and references, in order. */
export type ReferenceText = readonly (string | Reference)[]

/** References in the syntax of shells, GitHub Actions, Compose, Helm and Windows. Each matches a whole text. */
const foreign: readonly RegExp[] = [
  /^\$([A-Z_][A-Z0-9_]*)$/,
  /^\$\(([A-Z_][A-Z0-9_]*)\)$/,
  /^%([A-Z_][A-Z0-9_]*)%$/,
  /^\$?\{\{\s*(?:secrets|env|vars|\$?process\.env|\.Env)\.(\w+)\s*\}\}$/,
  /^\$?env:([A-Z_][A-Z0-9_]*)$/i,
  /^process\.env\.(\w+)$/,
]

/** True if the text needs parsing at all. */
export function mayHoldReference(text: string): boolean {
  return text.includes('${') || foreign.some((pattern) => pattern.test(text))
}

/** @throws LocatedError, whose message names the rule and quotes nothing */
export function parseReferences(text: string): ReferenceText {
  const [variable] = foreign.flatMap((pattern) => pattern.exec(text)?.[1] ?? [])
  if (variable !== undefined)
    refuse('refers to a variable in the way of another tool', `Write \${${variable}}.`)
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

function refuse(
  problem: string,
  hint = 'Write ${NAME}, ${NAME:-default} or ${file:/path}; $${ stands for a plain ${.',
): never {
  throw new LocatedError(problem, 0, hint)
}

function parseReference(body: string, closed: boolean): Reference {
  if (!closed) refuse('holds a reference that is not closed; references do not nest')
  if (body.startsWith('file:')) {
    const path = body.slice('file:'.length).trim()
    return path === '' ? refuse('holds a file reference without a path') : { kind: 'file', path }
  }
  const [found, name = '', fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/.exec(body) ?? []
  if (found === undefined) refuse('holds a reference that is no variable name')
  return { kind: 'environment', name, ...(fallback !== undefined && { fallback }) }
}
