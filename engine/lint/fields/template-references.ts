/** Finds the values of the request that a template reads, as far as they can be known without running it. */

import {
  type Block,
  type Call,
  type Literal,
  type Mustache,
  type Param,
  type Path,
  type Program,
  parseTemplate,
  type Statement,
} from '../../compile/template/grammar.ts'
import { reservedReader, type ScopeNames } from '../../resolve/scope.ts'
import { anyStep, type Reference } from './reference.ts'

/** Where a bare name is looked up: at the top, in a value of the request, or in a place that cannot be known. */
type Context = 'top' | 'unknown' | Target

interface BlockScope {
  readonly context: Context
  /** The contexts that `../` leads to. */
  readonly outer: readonly Context[]
  /** The block parameters; inner ones take precedence. */
  readonly names: ReadonlyMap<string, Context>
  /** What the conditions of the blocks around ask for. */
  readonly guarded: readonly Target[]
}

type Target = Omit<Reference, 'offset' | 'isOptional'>

/** The helpers whose arguments may be absent, also in a `strict` mapping. */
const conditions: ReadonlySet<string> = new Set(['if', 'unless', 'default', 'and', 'or', 'not', 'eq'])

/** References that cannot be known are left out. A template that does not compile has none. */
export function templateReferences(text: string, names?: ScopeNames): readonly Reference[] {
  const { program, offsetOf } = parseTemplate(text)
  const references: Reference[] = []
  readProgram(program, { context: 'top', outer: [], names: new Map(), guarded: [] })
  return references

  function readProgram(program: Program | undefined, scope: BlockScope): void {
    for (const statement of program?.body ?? []) readStatement(statement, scope)
  }

  function readStatement(statement: Statement, scope: BlockScope): void {
    if (statement.type === 'MustacheStatement') readCall(statement, scope)
    else if (statement.type === 'BlockStatement') readBlock(statement, scope)
  }

  /** A name alone is a field, even where a helper has that name. */
  function readCall({ path, params, hash }: Mustache | Call, scope: BlockScope): void {
    if (params.length === 0 && hash === undefined) readValue(fieldOf(path), scope)
    readArguments({ path, params, hash }, scope)
  }

  function readArguments({ path, params, hash }: Pick<Block, 'path' | 'params' | 'hash'>, scope: BlockScope) {
    const isOptional = conditions.has(String(path.original))
    for (const param of [...params, ...(hash?.pairs ?? []).map(({ value }) => value)]) {
      if (param.type === 'PathExpression') readValue(param, scope, isOptional)
      else if (param.type === 'SubExpression') readCall(param, scope)
    }
  }

  function readValue(path: Path, scope: BlockScope, isArgument = false): void {
    const value = targetOf(path, scope, names)
    if (value === 'top' || value === 'unknown') return
    const isOptional = isArgument || scope.guarded.some((guard) => isBelow(value, guard))
    references.push({ ...value, offset: offsetOf(path), ...(isOptional && { isOptional }) })
  }

  function readBlock({ path, params, hash, program, inverse }: Block, scope: BlockScope): void {
    readArguments({ path, params, hash }, scope)
    const name = String(path.original)
    if (name !== 'each' && name !== 'with') {
      const guarded = { ...scope, guarded: [...scope.guarded, ...targetsOf(params, scope)] }
      readProgram(program, name === 'unless' ? scope : guarded)
      readProgram(inverse, name === 'unless' ? guarded : scope)
      return
    }
    readProgram(inverse, scope)
    const [subject] = params
    const context = subject?.type === 'PathExpression' ? targetOf(subject, scope, names) : 'unknown'
    readProgram(program, inside(scope, context, name, program?.blockParams ?? []))
  }

  /** Returns all that a condition asks for. */
  function targetsOf(params: readonly Param[], scope: BlockScope): readonly Target[] {
    return params.flatMap((param) => {
      if (param.type === 'SubExpression') return targetsOf(param.params, scope)
      const target = param.type === 'PathExpression' ? targetOf(param, scope, names) : 'unknown'
      return target === 'top' || target === 'unknown' ? [] : [target]
    })
  }
}

function isBelow({ root, steps }: Target, guard: Target): boolean {
  return root === guard.root && guard.steps.every((step, index) => steps[index] === step)
}

/** An iteration over a list is any of its elements, and over an object any of its values. */
function inside(
  scope: BlockScope,
  subject: Context,
  block: 'each' | 'with',
  parameters: readonly string[],
): BlockScope {
  const context = block === 'each' && subject !== 'unknown' ? elementOf(subject) : subject
  const [value, key] = parameters
  const names = new Map(scope.names)
  if (value !== undefined) names.set(value, context)
  if (key !== undefined) names.set(key, 'unknown')
  // `{{#with this}}` opens no level, and what is unknown may be that too.
  const isLevel = context !== 'unknown' && !isSame(context, scope.context)
  return { ...scope, context, outer: isLevel ? [scope.context, ...scope.outer] : ['unknown'], names }
}

function isSame(one: Context, other: Context): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function elementOf(subject: Context): Context {
  if (subject === 'top' || subject === 'unknown') return 'unknown'
  return { root: subject.root, steps: [...subject.steps, anyStep] }
}

function targetOf(
  path: Path,
  { context, outer, names }: BlockScope,
  reserved: ScopeNames | undefined,
): Context {
  if (path.data) return path.parts[0] === 'root' ? below('top', path.parts.slice(1), reserved) : 'unknown'
  const [first, ...rest] = path.parts
  const scoped = /^\.|^this\b/.test(path.original)
  const named = path.depth === 0 && !scoped && first !== undefined ? names.get(first) : undefined
  if (named !== undefined) return below(named, rest, reserved)
  return below(path.depth === 0 ? context : (outer[path.depth - 1] ?? 'unknown'), path.parts, reserved)
}

function below(context: Context, parts: readonly string[], reserved: ScopeNames | undefined): Context {
  const steps = parts.map((part) => /^(["'])(.*)\1$/s.exec(part)?.[2] ?? part)
  if (context === 'unknown') return 'unknown'
  if (context !== 'top') return { root: context.root, steps: [...context.steps, ...steps] }
  const [first, ...rest] = steps
  if (first === undefined) return 'top'
  return reservedReader(first, reserved) ? { root: first, steps: rest } : { root: 'payload', steps }
}

function fieldOf(path: Path | Literal): Path {
  if (path.type === 'PathExpression') return path
  const part = String(path.original)
  return { type: 'PathExpression', data: false, depth: 0, parts: [part], original: part, loc: path.loc }
}
