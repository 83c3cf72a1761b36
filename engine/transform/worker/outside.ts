/**
 * Notices what leaves the process, by wrapping functions of Node's modules. A dry run refuses it all: connections, look-ups
 * of names, listening, other processes and threads. Tests report the network alone. It contains accidents, not attacks: code of a
 * native addon is not seen.
 */

import { syncBuiltinESMExports } from 'node:module'
import type { Place } from '../../config/file/diagnostic.ts'
import { reportError } from './error-report.ts'

/** Where a call leads. */
export interface Reached {
  /** `https://jira.example`, `smtp.example:25`, `the program git`. */
  readonly target: string
  readonly place?: Place
}

/** Thrown in place of what is refused. */
class DryRunRefusal extends Error {
  override readonly name = 'DryRunRefusal'
  readonly code = 'DRY_RUN'
  readonly target: string

  constructor(target: string) {
    super(`a dry run does not reach ${target}; --call-out, or callOut: true, allows it`)
    this.target = target
  }
}

/** Calls `report` with each refusal, also those that the module catches. To be called once, before any module is loaded. */
export function refuseOutside(report: (refused: Reached) => void): void {
  wrap([...network(), ...others()], (target) => {
    const limit = Error.stackTraceLimit
    // The author's line may lie below the frames of a package.
    Error.stackTraceLimit = 50
    const refusal = new DryRunRefusal(target)
    const { place } = reportError(refusal)
    Error.stackTraceLimit = limit
    report({ target, ...(place && { place }) })
    throw refusal
  })
}

/** Calls `report` with the target of each request, connection and look-up. To be called once. */
export function reportNetwork(report: (target: string) => void): void {
  wrap(network(), report)
}

/** The refusal that an error is, or that it was made of. */
export function refusalIn(thrown: unknown): DryRunRefusal | undefined {
  let error = thrown
  for (let depth = 0; depth < 5 && error !== undefined; depth++) {
    if (error instanceof DryRunRefusal) return error
    error = typeof error === 'object' && error !== null ? (error as { cause?: unknown }).cause : undefined
  }
  return undefined
}

function wrap(ways: Iterable<Way>, reach: (target: string) => void): void {
  for (const [holder, names, describe, isAsync = false] of ways) {
    const functions = holder as Record<string, Wrapped>
    for (const name of Object.getOwnPropertyNames(holder)) {
      const original = names.test(name) && functions[name]
      if (typeof original !== 'function') continue
      functions[name] = function (this: unknown, ...args: readonly unknown[]): unknown {
        try {
          reach(describe(args))
        } catch (error) {
          if (isAsync) return Promise.reject(error)
          throw error
        }
        return Reflect.apply(original, this, args)
      }
      // With what `promisify` reads.
      Object.setPrototypeOf(functions[name], original)
    }
  }
  syncBuiltinESMExports()
}

type Wrapped = (...args: readonly unknown[]) => unknown
type Describe = (args: readonly unknown[]) => string
/** The functions of the holder with such names, and the words for what they reach. The async ones reject where others throw. */
type Way = readonly [holder: object, names: RegExp, describe: Describe, isAsync?: boolean]

function* network(): Iterable<Way> {
  yield [globalThis, /^fetch$/, originOf, true]
  yield [process.getBuiltinModule('node:http'), /^(get|request)$/, requestOf('http:')]
  yield [process.getBuiltinModule('node:https'), /^(get|request)$/, requestOf('https:')]
  const dns = process.getBuiltinModule('node:dns')
  const looksUp = /^(lookup|resolve|reverse)/
  for (const holder of [dns, dns.Resolver.prototype]) yield [holder, looksUp, nameOf]
  for (const holder of [dns.promises, dns.promises.Resolver.prototype]) yield [holder, looksUp, nameOf, true]
  // All connections come here: of tls, http2, undici and clients of npm.
  yield [process.getBuiltinModule('node:net').Socket.prototype, /^connect$/, socketOf]
}

function* others(): Iterable<Way> {
  const port: Describe = () => 'a port to listen on'
  const thread: Describe = () => 'another thread'
  const [net, dgram] = [process.getBuiltinModule('node:net'), process.getBuiltinModule('node:dgram')]
  const processes = process.getBuiltinModule('node:child_process')
  const inspector = process.getBuiltinModule('node:inspector')
  yield [globalThis, /^(WebSocket|EventSource)$/, originOf]
  yield [net.Server.prototype, /^listen$/, port]
  yield [dgram.Socket.prototype, /^(send|connect)$/, datagramOf]
  yield [dgram.Socket.prototype, /^bind$/, port]
  yield [processes, /^(spawn|exec|fork)/, programOf]
  yield [processes.ChildProcess.prototype, /^spawn$/, programOf]
  yield [process.getBuiltinModule('node:cluster'), /^fork$/, () => 'another process']
  yield [process.getBuiltinModule('node:worker_threads'), /^Worker$/, thread]
  yield [inspector, /^open$/, port]
  yield [inspector.Session.prototype, /^connectToMainThread$/, thread]
}

type Fields = Readonly<Record<string, unknown>>

/** The origin alone, because a path or a query may hold a secret. */
function originOf([input]: readonly unknown[]): string {
  const url = input instanceof Request ? input.url : String(input)
  if (!URL.canParse(url)) return 'an address'
  const { protocol, host } = new URL(url)
  return host === '' ? `${protocol} address` : `${protocol}//${host}`
}

const requestOf =
  (protocol: string): Describe =>
  ([input, options]) => {
    if (typeof input === 'string' || input instanceof URL) return originOf([input])
    const { hostname, host = 'localhost', port, protocol: own = protocol } = (input ?? options) as Fields
    return `${own}//${hostname ?? host}${port === undefined || port === null ? '' : `:${port}`}`
  }

/** `connect(port, host)`, `connect(path)` and `connect({port, host})`; also as a list, as `net` calls itself. */
const socketOf: Describe = (args) => {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args
  if (typeof first === 'string' && !/^\d+$/.test(first)) return `the socket ${first}`
  const fields: Fields = typeof first === 'object' ? first : { port: first, host: second }
  const host = typeof fields['host'] === 'string' ? fields['host'] : 'localhost'
  return typeof fields['path'] === 'string' ? `the socket ${fields['path']}` : `${host}:${fields['port']}`
}

/** `send(message, [offset, length,] port, host)` and `connect(port, host)`. */
const datagramOf: Describe = (args) => {
  const at = args.findLastIndex((each) => typeof each === 'number')
  const host = args[at + 1]
  return `UDP ${typeof host === 'string' ? host : 'localhost'}:${args[at]}`
}

const nameOf: Describe = ([name]) => `the name ${typeof name === 'string' ? name : 'of a host'}`

/** The program alone, because a command line may hold a secret. */
const programOf: Describe = ([first]) => {
  const { file, args } = (typeof first === 'object' ? first : { file: first }) as Fields
  const isShell = Array.isArray(args) && args[1] === '-c'
  const [program = ''] = String(isShell ? args[2] : file)
    .trim()
    .split(/\s/)
  return `the program ${program.split(/[\\/]/).at(-1)?.slice(0, 100)}`
}
