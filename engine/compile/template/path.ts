/** Compiles paths such as `commits[0].author.name` to closures that read own properties only. */

import { reservedReader, type Scope, type ScopeNames } from '../../resolve/scope.ts'
import type { Environment, Top } from './environment.ts'
import type { Frame, Reader } from './frame.ts'
import { type Path, TemplateError } from './grammar.ts'

const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/** @throws TemplateError for a name that can never exist, so that a typo is found at load */
export function compilePath(path: Path, environment: Environment): Reader {
  const parts = path.parts.map(unquote)
  const offset = environment.offsetOf(path)
  const denied = parts.find((part) => forbidden.has(part))
  if (denied !== undefined) {
    const hint = `If the payload has such a field, read it with an expression: {% ${expressionFor(parts)} %}.`
    throw new TemplateError(`"${denied}" is not readable from a template`, offset, hint)
  }
  const [first = ''] = parts
  // The grammar accepts these as names. A field with such a name has to be in brackets, as in {{[$id]}}.
  if (/^[$\u201c\u201d\u2018\u2019\u201e]/.test(first) && !path.original.startsWith('[')) {
    const hint = `A field of the payload with such a name is {{[${first}]}}.`
    throw new TemplateError(`"${first}" is no name`, offset, hint)
  }
  if (path.data) return compileData(path, parts, environment, offset)

  const bound = path.depth === 0 && !isScoped(path) ? environment.parameter(parts[0]) : undefined
  if (bound !== undefined) return compileParameter(parts, bound)
  if (path.depth > environment.blocks.length) {
    throw new TemplateError(
      '../ leads out of the template',
      offset,
      'Only {{#each}} and {{#with}} open a level to leave.',
    )
  }
  if (environment.blocks.length === 0) return compileRoot(parts, environment.top, offset)
  if (path.depth >= environment.blocks.length) noteName(parts, environment.top, offset)
  return compileInner(parts, path.depth, environment.top.names)
}

/** Returns the same path in JSONata, where names that are not plain words stand in backticks. */
function expressionFor(parts: readonly string[]): string {
  const path = parts[0] === 'payload' ? parts : ['payload', ...parts]
  return path
    .map((part) => (/^[a-z]\w*$/i.test(part) && !forbidden.has(part) ? part : `\`${part}\``))
    .join('.')
}

/** `this.name` and `./name` mean the current value, never a block parameter. */
function isScoped(path: Path): boolean {
  return /^\.|^this\b/.test(path.original)
}

/** The grammar keeps the quotes of `headers['x-id']` in the name. No payload has them there. */
function unquote(part: string): string {
  const quoted = /^(["'])(.*)\1$/s.exec(part)
  return quoted?.[2] ?? part
}

function own(value: unknown, key: string): unknown {
  return value !== null && value !== undefined && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined
}

function walk(value: unknown, keys: readonly string[]): unknown {
  let current = value
  for (const key of keys) {
    if (current === undefined || current === null) return undefined
    current = own(current, key)
  }
  return current
}

/** At the top, a path is resolved at load to a reserved name or to the payload. */
function rootReader(parts: readonly string[], names: ScopeNames): (scope: Scope) => unknown {
  const [first, ...rest] = parts
  if (first === undefined) return (scope) => scope.payload
  const reserved = reservedReader(first, names)
  if (reserved === undefined) return (scope) => walk(scope.payload, parts)
  const [header, ...inner] = rest
  if (first === 'headers' && header !== undefined) {
    const keys = [header.toLowerCase(), ...inner]
    return (scope) => walk(scope.request.headers, keys)
  }
  return (scope) => walk(reserved(scope), rest)
}

function compileRoot(parts: readonly string[], top: Top, offset: number): Reader {
  noteName(parts, top, offset)
  const read = rootReader(parts, top.names)
  const name = parts.length === 0 ? 'payload' : parts.join('.')
  return { read: (frame) => read(frame.scope), name: () => name }
}

function noteName([name, next]: readonly string[], { read }: Top, offset: number): void {
  if (name !== undefined) read.push({ name, next, isFirst: next === '0', offset })
}

function compileInner(parts: readonly string[], depth: number, names: ScopeNames): Reader {
  const fromRoot = rootReader(parts, names)
  const rest = parts.join('.')
  const target = (frame: Frame): Frame | undefined => {
    let current: Frame | undefined = frame
    for (let step = 0; step < depth && current !== undefined; step++) current = current.up
    return current
  }
  return {
    read: (frame) => {
      const found = target(frame)
      if (found === undefined) return undefined
      return found.context === found.scope ? fromRoot(found.scope) : walk(found.context, parts)
    },
    name: (frame) => joinName(target(frame)?.name ?? '', rest),
  }
}

function compileParameter(
  parts: readonly string[],
  bound: { readonly hops: number; readonly means: 'value' | 'key' },
): Reader {
  const [, ...rest] = parts
  const target = (frame: Frame): Frame => outward(frame, bound.hops)
  return {
    read: (frame) => {
      const found = target(frame)
      return bound.means === 'key' ? walk(found.key, rest) : walk(found.context, rest)
    },
    name: (frame) => joinName(target(frame).name, bound.means === 'key' ? '@key' : rest.join('.')),
  }
}

function compileData(path: Path, parts: readonly string[], environment: Environment, offset: number): Reader {
  const [first = '', ...rest] = parts
  if (first === 'root') return compileRoot(rest, environment.top, offset)
  const hops = environment.loop(path.depth)
  const read = loopReaders[first]
  if (read === undefined) {
    const hint = 'There are @index, @key, @first, @last and @root.'
    throw new TemplateError(`there is no @${first}`, offset, hint)
  }
  if (hops === undefined) {
    throw new TemplateError(`@${first} has a value only inside {{#each}}`, offset)
  }
  return {
    read: (frame) => walk(read(outward(frame, hops)), rest),
    name: (frame) => joinName(outward(frame, hops).name, `@${first}`),
  }
}

const loopReaders: Readonly<Record<string, (frame: Frame) => unknown>> = {
  __proto__: null as never,
  index: (frame) => frame.index,
  key: (frame) => frame.key,
  first: (frame) => frame.index === 0,
  last: (frame) => frame.last,
}

function outward(frame: Frame, hops: number): Frame {
  let current = frame
  for (let step = 0; step < hops && current.outer !== undefined; step++) current = current.outer
  return current
}

function joinName(left: string, right: string): string {
  if (left === '') return right === '' ? 'payload' : right
  return right === '' ? left : `${left}.${right}`
}
