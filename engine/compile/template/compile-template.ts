/** Compiles a template. Its mistakes are found at once, and its code is made when it is first rendered. */

import type { Template } from '../../resolve/model/program.ts'
import { everyName, type ScopeNames } from '../../resolve/model/scope.ts'
import { foreignTemplate } from './foreign-template.ts'
import { parseTemplate, TemplateError } from './parse.ts'
import { compileTree } from './rendering.ts'
import { rewriteTemplate, type TemplateNames } from './rewrite.ts'

export interface CompiledTemplate extends TemplateNames {
  readonly render: Template
  /** The literal text before the first placeholder. */
  readonly prefix: string
  /** The place of the first placeholder in the source. Absent if the template is only text. */
  readonly placeholder: number | undefined
}

/**
 * `names` are the meanings of the names at its root. By default every reserved name has a value.
 * @throws TemplateError
 */
export function compileTemplate(source: string, names: ScopeNames = everyName): CompiledTemplate {
  try {
    return compileParsed(source, names)
  } catch (cause) {
    const mistake = cause instanceof TemplateError ? foreignTemplate(source) : undefined
    if (mistake === undefined) throw cause
    throw new TemplateError(mistake.message, mistake.offset, mistake.hint, { cause })
  }
}

function compileParsed(source: string, names: ScopeNames): CompiledTemplate {
  if (/^\s*=\s*\{\{/.test(source)) {
    const rest = source.replace(/^\s*=\s*/, '')
    const hint = foreignTemplate(rest)?.hint ?? (rest.length > 60 ? 'Begin with {{.' : `Write ${rest}.`)
    throw new TemplateError(
      'the `=` before a placeholder is of n8n, and would be printed',
      source.indexOf('='),
      hint,
    )
  }
  const parsed = parseTemplate(source)
  const { body } = parsed.program
  const first = body.find(({ type }) => type !== 'ContentStatement' && type !== 'CommentStatement')
  const literals = first === undefined ? body : body.slice(0, body.indexOf(first))
  const prefix = literals.map((node) => (isContent(node) ? node.value : '')).join('')
  const placeholder = first && parsed.offsetOf(first)
  const { names: read, references, isNested } = rewriteTemplate(parsed, names)
  let compiled: Template | undefined
  const render: Template = (scope, output) => {
    compiled ??= compileAgain(source, names)
    compiled(scope, output)
  }
  return { prefix, placeholder, names: read, references, isNested, render }
}

function isContent(node: hbs.AST.Statement): node is hbs.AST.ContentStatement {
  return node.type === 'ContentStatement'
}

/** Parses the source again: trees of thousands of templates that no request has used yet would take much memory. */
function compileAgain(source: string, names: ScopeNames): Template {
  const parsed = parseTemplate(source)
  rewriteTemplate(parsed, names)
  return compileTree(parsed.program, names)
}
