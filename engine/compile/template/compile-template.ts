/** Compiles a template to closures, one per statement, so that rendering looks up no name. */

import { nearestName } from '../../config/nearest.ts'
import { isInexact } from '../../payload/exact-numbers.ts'
import type { Template } from '../../resolve/program.ts'
import { emitLiteral, emitValue, refuseAbsent } from '../../resolve/render/output.ts'
import { everyName, type ScopeNames } from '../../resolve/scope.ts'
import type { RootName } from '../expression/names.ts'
import { type BlockName, blockCompilers, blockNames } from './blocks.ts'
import { createEnvironment, type Environment, type Top } from './environment.ts'
import { foreignTemplate } from './foreign-template.ts'
import { type Reader, rootFrame, type Step } from './frame.ts'
import {
  type Block,
  type Call,
  type Content,
  type Literal,
  type Mustache,
  type Param,
  type Path,
  type Program,
  parseTemplate,
  type Statement,
  TemplateError,
} from './grammar.ts'
import { type Helper, helpers } from './helpers.ts'
import { compilePath } from './path.ts'

export interface CompiledTemplate {
  readonly render: Template
  /** The literal text before the first placeholder. */
  readonly prefix: string
  /** The place of the first placeholder in the source. Absent if the template is only text. */
  readonly placeholder: number | undefined
  /** The names that the template looks up at its top. */
  readonly names: readonly RootName[]
}

/**
 * `names` are the meanings of the names at its top. By default every reserved name has a value.
 * @throws TemplateError
 */
export function compileTemplate(source: string, names: ScopeNames = everyName): CompiledTemplate {
  try {
    return compileParsed(source, names)
  } catch (cause) {
    const slip = cause instanceof TemplateError ? foreignTemplate(source) : undefined
    if (slip === undefined) throw cause
    throw new TemplateError(slip.message, slip.place, slip.hint, { cause })
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
  const { program, offsetOf } = parseTemplate(source)
  const top: Top = { names, read: [] }
  const run = compileProgram(program, createEnvironment(offsetOf, top))
  const first = program.body.find(
    (node) => node.type !== 'ContentStatement' && node.type !== 'CommentStatement',
  )
  let prefix = ''
  for (const node of program.body) {
    if (node === first) break
    if (node.type === 'ContentStatement') prefix += node.value
  }
  return {
    render: (scope, output) => run(rootFrame(scope), output),
    prefix,
    placeholder: first && offsetOf(first),
    names: top.read,
  }
}

function compileProgram(program: Program | undefined, environment: Environment): Step {
  const steps = (program?.body ?? []).flatMap((node) => compileStatement(node, environment) ?? [])
  const [only] = steps
  if (only !== undefined && steps.length === 1) return only
  return (frame, output) => {
    for (const step of steps) step(frame, output)
  }
}

function compileStatement(node: Statement, environment: Environment): Step | undefined {
  switch (node.type) {
    case 'ContentStatement':
      return compileContent(node)
    case 'CommentStatement':
      return undefined
    case 'MustacheStatement':
      return compileMustache(node, environment)
    case 'BlockStatement':
      return compileBlock(node, environment)
    default:
      throw new TemplateError(
        'partials and decorators are not supported',
        environment.offsetOf(node as unknown as Block),
        'Write the text out, or use {{#if}}, {{#each}} and {{#with}}.',
      )
  }
}

function compileContent(node: Content): Step | undefined {
  if (node.value === '') return undefined
  const segment = Object.freeze({ literal: node.value })
  const bytes = Buffer.byteLength(node.value)
  return (_frame, output) => emitLiteral(output, segment, bytes)
}

function compileMustache(node: Mustache, environment: Environment): Step {
  if (isPlain(node)) {
    const { read, name } = compilePath(asPath(node.path), environment)
    const own = variableIn(asPath(node.path), environment)
    if (own === undefined) return (frame, output) => emitValue(output, read(frame, output), name(frame))
    return (frame, output) => {
      const value = read(frame, output)
      const isOwn =
        typeof value === 'string' && value !== '' && frame.scope.ownTexts?.get(own)?.includes(value)
      if (isOwn) emitLiteral(output, { literal: value }, Buffer.byteLength(value))
      else emitValue(output, value, name(frame))
    }
  }
  const { read, name, subject } = compileCall(node, environment)
  // A literal text in the template (`default x "nobody"`) is the operator's own.
  const words = new Set(node.params.flatMap((param) => (param.type === 'StringLiteral' ? param.value : [])))
  return (frame, output) => {
    // A helper may return a text or a literal for an absent value.
    if (output.strict !== false && subject !== undefined) {
      refuseAbsent(subject.read(frame, output), output, subject.name(frame))
    }
    const value = read(frame, output)
    if (typeof value === 'string' && value !== '' && words.has(value)) {
      emitLiteral(output, { literal: value }, Buffer.byteLength(value))
    } else {
      emitValue(output, value, name(frame))
    }
  }
}

/** A name alone is a field, even if a helper has that name, so that a payload's `date` stays reachable. */
function isPlain(node: Mustache | Call): boolean {
  return node.params.length === 0 && (node.hash?.pairs.length ?? 0) === 0
}

/** The name of the variable that a path reads for certain: within {{#each}} and {{#with}} a payload may have `vars` of its own. */
function variableIn({ data, depth, parts }: Path, { blocks, top }: Environment): string | undefined {
  const [first, name, ...more] = parts
  const isVariable =
    !data && depth === 0 && blocks.length === 0 && first === 'vars' && top.names.ours.has('vars')
  return isVariable && more.length === 0 ? name : undefined
}

/** `{{"full name"}}` and `{{0}}` are fields too. */
function asPath(node: Path | Literal): Path {
  if (node.type === 'PathExpression') return node
  const part = String(node.original)
  return { type: 'PathExpression', data: false, depth: 0, parts: [part], original: part, loc: node.loc }
}

function compileParam(node: Param, environment: Environment): Reader {
  switch (node.type) {
    case 'PathExpression':
      return compilePath(node, environment)
    case 'SubExpression':
      return compileCall(node, environment)
    default: {
      if (node.type === 'NumberLiteral' && isInexact(node.value)) {
        const hint = 'Compare it as text in an expression: `vars: { known: id = "9007199254740993" }`.'
        throw new TemplateError('a number beyond 2^53 would lose digits', environment.offsetOf(node), hint)
      }
      const value = node.type === 'NullLiteral' ? null : node.value
      return { read: () => value, name: () => '' }
    }
  }
}

/** `subject` is the argument that the helper needs, if it needs one. */
function compileCall(
  node: Mustache | Call,
  environment: Environment,
): Reader & { readonly subject: Reader | undefined } {
  const { helper, name } = helperOf(node, environment)
  checkArguments(node, helper, name, environment)
  const readers = node.params.map((param) => compileParam(param, environment))
  const pairs = (node.hash?.pairs ?? []).map(({ key, value }) => ({
    key,
    ...compileParam(value, environment),
  }))
  const subject = readers.find((_reader, index) => node.params[index]?.type !== 'StringLiteral') ?? readers[0]
  return {
    read: readCall(helper, readers, pairs),
    name: nameOfCall(subject, name),
    subject: helper.takesAbsent ? undefined : subject,
  }
}

/** Creates the closures in a separate function, because otherwise they would hold on to the whole tree. */
function readCall(
  helper: Helper,
  readers: readonly Reader[],
  pairs: readonly (Reader & { readonly key: string })[],
): Reader['read'] {
  return (frame, output) => {
    const values = readers.map(({ read }) => read(frame, output))
    if (pairs.length === 0) return helper.call(values, output, nothingNamed)
    const given: Record<string, unknown> = { __proto__: null as never }
    for (const { key, read } of pairs) given[key] = read(frame, output)
    return helper.call(values, output, given)
  }
}

const nothingNamed: Readonly<Record<string, unknown>> = Object.freeze({ __proto__: null as never })

function nameOfCall(subject: Reader | undefined, name: string): Reader['name'] {
  return (frame) => subject?.name(frame) || name
}

function helperOf(node: Mustache | Call, environment: Environment): { helper: Helper; name: string } {
  const name = nameOf(node.path)
  const helper = name === undefined ? undefined : helpers[name]
  if (name !== undefined && helper !== undefined) return { helper, name }
  throw new TemplateError(
    `there is no helper "${node.path.original}"`,
    environment.offsetOf(node.path),
    blockNames.some((block) => block === name)
      ? `Write {{#${name} …}}…{{/${name}}}.`
      : suggestion(String(node.path.original)),
  )
}

function suggestion(name: string): string {
  const nearest = nearestName(name, Object.keys(helpers))
  const known = `The helpers are ${Object.keys(helpers).join(', ')}; blocks are ${blockNames.join(', ')}.`
  return nearest === undefined ? known : `Did you mean ${nearest}?`
}

function nameOf(path: Path | Literal): string | undefined {
  const simple = path.type === 'PathExpression' && !path.data && path.depth === 0 && path.parts.length === 1
  return simple && path.original === path.parts[0] ? path.parts[0] : undefined
}

function checkArguments(node: Mustache | Call, helper: Helper, name: string, environment: Environment): void {
  const [fewest, most] = helper.takes
  const count = node.params.length
  const example = `Write it like ${helper.usage}.`
  if (count < fewest || count > most) {
    const message = `"${name}" takes ${count < fewest ? `at least ${fewest}` : `at most ${most}`} arguments, not ${count}`
    throw new TemplateError(message, environment.offsetOf(node.path), example)
  }
  const pairs = node.hash?.pairs ?? []
  const strange = pairs.find(({ key }) => !helper.named?.includes(key))
  if (strange !== undefined) {
    const message = `"${name}" has no argument named "${strange.key}"`
    throw new TemplateError(message, environment.offsetOf(node.path), example)
  }
  const named = Object.fromEntries(pairs.map(({ key, value }) => [key, writtenOut(value)]))
  const problem = helper.refuses?.(node.params.map(writtenOut), named)
  if (problem === undefined) return
  const { message, hint } = typeof problem === 'string' ? { message: problem, hint: example } : problem
  throw new TemplateError(`"${name}": ${message}`, environment.offsetOf(node.path), hint)
}

/** Returns undefined for a value of the payload. */
function writtenOut(param: Param): unknown {
  return 'value' in param ? param.value : undefined
}

function compileBlock(node: Block, environment: Environment): Step {
  const name = blockNames.find((known) => known === nameOf(node.path))
  if (name === undefined) {
    const written = String(node.path.original)
    throw new TemplateError(
      `there is no block "${written}"`,
      environment.offsetOf(node.path),
      `Blocks are ${blockNames.join(', ')}: write {{#each ${written}}} or {{#if ${written}}}.`,
    )
  }
  const subject = subjectOf(node, name, environment)
  return blockCompilers[name]({ block: node, environment, subject, steps: compileProgram })
}

function subjectOf(node: Block, name: BlockName, environment: Environment): Reader {
  const strange = node.hash?.pairs.find(
    ({ key }) => !(key === 'includeZero' && (name === 'if' || name === 'unless')),
  )
  const [param] = node.params
  if (param === undefined || node.params.length > 1 || strange !== undefined) {
    throw new TemplateError(`{{#${name}}} takes exactly one argument`, environment.offsetOf(node))
  }
  return compileParam(param, environment)
}
