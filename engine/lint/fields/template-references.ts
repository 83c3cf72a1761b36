/** Owns which values of the request a template reads, as far as that can be told without running it. */

import {
  type Block,
  type Call,
  type Hash,
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

/** Where a bare name is looked up: the top, a value of the request, or what cannot be told. */
type Context = 'top' | 'unknown' | Omit<Reference, 'offset'>

interface Surroundings {
  readonly context: Context
  /** Where `../` leads. */
  readonly outer: readonly Context[]
  /** Block parameters, the inner ones win. */
  readonly names: ReadonlyMap<string, Context>
}

/** What cannot be told is left out. Of a template that does not compile, nothing is read. */
export function templateReferences(text: string, names?: ScopeNames): readonly Reference[] {
  const { program, offsetOf } = parseTemplate(text)
  const found: Reference[] = []
  readProgram(program, { context: 'top', outer: [], names: new Map() })
  return found

  function readProgram(program: Program | undefined, around: Surroundings): void {
    for (const statement of program?.body ?? []) readStatement(statement, around)
  }

  function readStatement(statement: Statement, around: Surroundings): void {
    if (statement.type === 'MustacheStatement') readCall(statement, around)
    else if (statement.type === 'BlockStatement') readBlock(statement, around)
  }

  /** A name alone is a field, even where a helper has that name. */
  function readCall({ path, params, hash }: Mustache | Call, around: Surroundings): void {
    if (params.length === 0 && hash === undefined) readValue(fieldOf(path), around)
    readArguments(params, hash, around)
  }

  function readArguments(params: readonly Param[], hash: Hash | undefined, around: Surroundings): void {
    for (const param of [...params, ...(hash?.pairs ?? []).map(({ value }) => value)]) {
      if (param.type === 'PathExpression') readValue(param, around)
      else if (param.type === 'SubExpression') readCall(param, around)
    }
  }

  function readValue(path: Path, around: Surroundings): void {
    const value = targetOf(path, around, names)
    if (value !== 'top' && value !== 'unknown') found.push({ ...value, offset: offsetOf(path) })
  }

  function readBlock({ path, params, hash, program, inverse }: Block, around: Surroundings): void {
    readArguments(params, hash, around)
    readProgram(inverse, around)
    const [subject] = params
    const name = path.type === 'PathExpression' ? path.original : ''
    if (name !== 'each' && name !== 'with') {
      readProgram(program, around)
      return
    }
    const context = subject?.type === 'PathExpression' ? targetOf(subject, around, names) : 'unknown'
    readProgram(program, inside(around, context, name, program?.blockParams ?? []))
  }
}

/** A turn of a loop is told as its list: a list stands for its elements. Over an object, a turn is any of its values. */
function inside(
  around: Surroundings,
  subject: Context,
  block: 'each' | 'with',
  parameters: readonly string[],
): Surroundings {
  const context = block === 'each' && subject !== 'unknown' ? turnOf(subject) : subject
  const [value, key] = parameters
  const names = new Map(around.names)
  if (value !== undefined) names.set(value, context)
  if (key !== undefined) names.set(key, 'unknown')
  // `{{#with this}}` opens no level, and what is unknown may be that too.
  const isLevel = context !== 'unknown' && !isSame(context, around.context)
  return { context, outer: isLevel ? [around.context, ...around.outer] : ['unknown'], names }
}

function isSame(one: Context, other: Context): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function turnOf(subject: Context): Context {
  if (subject === 'top' || subject === 'unknown') return 'unknown'
  return { root: subject.root, steps: [...subject.steps, anyStep] }
}

function targetOf(
  path: Path,
  { context, outer, names }: Surroundings,
  ours: ScopeNames | undefined,
): Context {
  if (path.data) return path.parts[0] === 'root' ? below('top', path.parts.slice(1), ours) : 'unknown'
  const [first, ...rest] = path.parts
  const scoped = /^\.|^this\b/.test(path.original)
  const named = path.depth === 0 && !scoped && first !== undefined ? names.get(first) : undefined
  if (named !== undefined) return below(named, rest, ours)
  return below(path.depth === 0 ? context : (outer[path.depth - 1] ?? 'unknown'), path.parts, ours)
}

function below(context: Context, parts: readonly string[], ours: ScopeNames | undefined): Context {
  const steps = parts.map((part) => /^(["'])(.*)\1$/s.exec(part)?.[2] ?? part)
  if (context === 'unknown') return 'unknown'
  if (context !== 'top') return { root: context.root, steps: [...context.steps, ...steps] }
  const [first, ...rest] = steps
  if (first === undefined) return 'top'
  return reservedReader(first, ours) ? { root: first, steps: rest } : { root: 'payload', steps }
}

function fieldOf(path: Path | Literal): Path {
  if (path.type === 'PathExpression') return path
  const part = String(path.original)
  return { type: 'PathExpression', data: false, depth: 0, parts: [part], original: part, loc: path.loc }
}
