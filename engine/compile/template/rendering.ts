/** Runs rewritten templates in Handlebars. Their output is recorded piece by piece; the text it returns is empty. */

import Handlebars from 'handlebars'
import { isHarmless } from '../../boundary/harmless.ts'
import {
  emitLiteral,
  emitValue,
  type Output,
  refuseAbsent,
  spend,
  textOf,
} from '../../resolve/model/output.ts'
import type { Template } from '../../resolve/model/program.ts'
import { exactPayload, reservedReader, type Scope, type ScopeNames } from '../../resolve/model/scope.ts'
import { type Helper, helpers, isTruthy } from './helpers.ts'
import { callHelper, passData, printHelper, readHelper } from './rewrite.ts'

/** A value of the request, with the path that a person would use for it. */
interface RequestValue {
  readonly value: unknown
  readonly path: string
  /** True if a helper made it of an absent value. */
  readonly isAbsent?: boolean
}

/** An argument or result of a helper: a value of the request, or one that the operator wrote in the template. */
type Argument = RequestValue | string | number | boolean | null | undefined

interface Rendering {
  readonly scope: Scope
  readonly names: ScopeNames
  readonly output: Output
}

interface Options extends Handlebars.HelperOptions {
  readonly hash: Readonly<Record<string, Argument>>
  readonly data: { readonly rendering: Rendering; [passData]?: RequestValue }
}

const environment = Handlebars.create()
for (const name of Object.keys(environment.helpers)) environment.unregisterHelper(name)
environment.registerHelper({
  [readHelper]: read,
  [printHelper]: print,
  [callHelper]: call,
  if: renderIf,
  unless: renderUnless,
  each: renderEach,
  with: renderWith,
})

const options = {
  data: true,
  noEscape: true,
  knownHelpersOnly: true,
  knownHelpers: Object.fromEntries(Object.keys(environment.helpers).map((name) => [name, true])),
} as CompileOptions

/** `names` are the meanings of the names at its root. Handlebars compiles the tree when it is first rendered. */
export function compileTree(program: hbs.AST.Program, names: ScopeNames): Template {
  const run = environment.compile(program, options)
  return (scope, output) => {
    // The scope is the root, in which a name is a reserved one or a key of the payload.
    const root: RequestValue = { value: scope, path: '' }
    run(root, { data: { root, rendering: { scope, names, output } } })
    // Handlebars keeps the tree that it has compiled.
    program.body = []
  }
}

/** Follows the keys from a value that Handlebars found: the current one, an outer one, a block parameter or a pass. */
function read(from: RequestValue | undefined, ...given: unknown[]): Argument {
  const { scope, names } = (given.pop() as Options).data.rendering
  const keys = given as string[]
  if (from?.value !== scope) return { value: walk(from?.value, keys), path: joined(from?.path ?? '', keys) }
  const value = readRoot(keys, scope, names)
  const [first, variable = ''] = keys
  // A variable that only chooses between texts of the mapping is the operator's.
  const isOwn = first === 'vars' && keys.length === 2 && value !== '' && names.ours.has(first)
  if (isOwn && typeof value === 'string' && scope.ownTexts?.get(variable)?.includes(value)) return value
  return { value, path: joined('', keys) }
}

function readRoot(keys: readonly string[], scope: Scope, names: ScopeNames): unknown {
  const [first, ...rest] = keys
  if (first === undefined) return exactPayload(scope)
  const reserved = reservedReader(first, names)
  if (reserved === undefined) return walk(exactPayload(scope), keys)
  const [header, ...inner] = rest
  const isHeader = first === 'headers' && header !== undefined
  return walk(reserved(scope), isHeader ? [header.toLowerCase(), ...inner] : rest)
}

/** Reads own properties only. */
function walk(value: unknown, keys: readonly string[]): unknown {
  let current = value
  for (const key of keys) {
    if (current === undefined || current === null || !Object.hasOwn(current, key)) return undefined
    current = (current as Record<string, unknown>)[key]
  }
  return current
}

function joined(path: string, keys: readonly string[]): string {
  const below = keys.join('.')
  return path === '' ? below || 'payload' : below === '' ? path : `${path}.${below}`
}

function print(argument: Argument, { data }: Options): void {
  const { output } = data.rendering
  if (isRequestValue(argument)) {
    const { value, path, isAbsent } = argument
    if (isAbsent) refuseAbsent(undefined, output, path)
    emitValue(output, value, path)
    return
  }
  const literal = textOf(argument, output)
  if (literal !== '') emitLiteral(output, { literal }, Buffer.byteLength(literal))
}

/** Calls a helper with plain values. A result that is one of them keeps its origin; any other has that of the first. */
function call(name: string, ...given: unknown[]): Argument {
  const { hash, data } = given.pop() as Options
  const args = given as Argument[]
  const helper = helpers[name] as Helper
  const named = Object.fromEntries(Object.entries(hash).map(([key, value]) => [key, plainValue(value)]))
  const value = helper.call(args.map(plainValue), data.rendering.output, named)
  const subject = args.find(isRequestValue)
  const isOperators = typeof value === 'string' && value !== '' && args.includes(value)
  if (subject === undefined || isOperators) return value as Argument
  const isAbsent = helper.takesAbsent !== true && (subject.isAbsent || (subject.value ?? null) === null)
  const chosen = args.find((each) => isRequestValue(each) && each.value === value)
  return chosen ?? { value, path: subject.path, isAbsent }
}

function isRequestValue(argument: Argument): argument is RequestValue {
  return typeof argument === 'object' && argument !== null
}

function plainValue(argument: Argument): unknown {
  return isRequestValue(argument) ? argument.value : argument
}

function renderIf(this: RequestValue, subject: Argument, { fn, inverse, hash }: Options): string {
  const value = plainValue(subject)
  const isMet = isTruthy(value) || (hash['includeZero'] === true && value === 0)
  return isMet ? fn(this) : inverse(this)
}

function renderUnless(this: RequestValue, subject: Argument, options: Options): string {
  const { fn, inverse } = options
  return renderIf.call(this, subject, { ...options, fn: inverse, inverse: fn })
}

function renderWith(this: RequestValue, subject: Argument, { fn, inverse }: Options): string {
  const value = plainValue(subject)
  if (!isTruthy(value) && value !== 0) return inverse(this)
  const context = entered(this, value, isRequestValue(subject) ? subject.path : '')
  return fn(context, { blockParams: [context] })
}

/** The number of passes of a loop between two checks of the clock. */
const passesBetweenChecks = 256

function renderEach(this: RequestValue, subject: Argument, { fn, inverse, data }: Options): string {
  const { scope, output } = data.rendering
  if (!isRequestValue(subject)) return inverse(this)
  const { value, path } = subject
  if (typeof value !== 'object' || value === null) return inverse(this)
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  const count = keys?.length ?? (value as readonly unknown[]).length
  if (count === 0) return inverse(this)
  // Nested loops multiply, and the payload decides how often they run.
  if (data[passData] !== undefined) scope.containment.beginUnbounded()
  const frame = Handlebars.createFrame(data)
  for (let index = 0; index < count; index++) {
    // A pass costs a byte even if it prints nothing, since otherwise nested loops over a hostile payload would not end.
    spend(output.meter, 1)
    if (index % passesBetweenChecks === 0) scope.containment.checkTime()
    const key = keys?.[index] ?? index
    const item = (value as Record<string | number, unknown>)[key]
    // A key that the payload chose may instruct a model, so its number replaces it unless it is harmless.
    const itemPath = `${path}.${typeof key === 'string' && isHarmless(key) ? key : index}`
    const pass = { '@key': key, '@index': index, '@first': index === 0, '@last': index === count - 1 }
    frame[passData] = { value: pass, path: itemPath }
    const context = entered(this, item, itemPath)
    fn(context, { data: frame, blockParams: [context, { value: key, path: `${itemPath}.@key` }] })
  }
  return ''
}

/** Handlebars opens a level for `../` where the context is another one: not for `{{#with this}}`. */
function entered(context: RequestValue, value: unknown, path: string): RequestValue {
  return context.value === value ? context : { value, path }
}
