/**
 * Refuses what leaves the process, for the calls of a dry run: connections, look-ups of names, listening, other processes
 * and threads. The functions of the builtin modules are replaced before a module is loaded; below them the methods of Node's
 * own handles are replaced too, which everything else ends in. It contains accidents, not attacks: code of a native addon is
 * not seen.
 */

import { syncBuiltinESMExports } from 'node:module'
import type { Place } from '../../config/file/diagnostic.ts'
import { reportError } from './error-report.ts'

/** A call that a module was stopped from making. */
export interface Refused {
  /** `https://jira.example`, `smtp.example:25`, `the program git`. */
  readonly target: string
  readonly place?: Place
}

/** Thrown in place of what is refused. */
export class DryRunRefusal extends Error {
  override readonly name = 'DryRunRefusal'
  readonly code = 'DRY_RUN'
  readonly target: string

  constructor(target: string) {
    super(`a dry run does not reach ${target}; --call-out, or callOut: true, allows it`)
    this.target = target
  }
}

/** Describes what a call would have reached. `self` is the object that it is a method of. */
type Describe = (args: readonly unknown[], self: unknown) => string
type Fields = Readonly<Record<string, unknown>>

const { isArray } = Array
const { defineProperty, getOwnPropertyNames } = Object
const { captureStackTrace } = Error
const UrlOf = URL
const canParse = URL.canParse.bind(URL)

/** `report` is given each refusal, also those that the module catches. To be called once, before any module is loaded. */
export function refuseOutside(report: (refused: Refused) => void): void {
  const refuse = (target: string, by: (...args: never[]) => unknown): DryRunRefusal => {
    const limit = Error.stackTraceLimit
    // The author's line may lie below the frames of a package.
    Error.stackTraceLimit = 50
    const refusal = new DryRunRefusal(target)
    captureStackTrace(refusal, by)
    const { place } = reportError(refusal)
    Error.stackTraceLimit = limit
    report({ target, ...(place && { place }) })
    return refusal
  }
  const throwing = (describe: Describe) =>
    function refused(this: unknown, ...args: readonly unknown[]): never {
      throw refuse(describe(args, this), refused)
    }
  const rejecting = (describe: Describe) =>
    function refused(this: unknown, ...args: readonly unknown[]): Promise<never> {
      return Promise.reject(refuse(describe(args, this), refused))
    }

  for (const [module, members] of Object.entries(builtins)) {
    const namespace = process.getBuiltinModule(module) as unknown as Record<string, unknown> | undefined
    for (const [path, describe] of Object.entries(members)) {
      const [holder, names] = resolve(namespace, path)
      const replacement = module === 'node:dns/promises' ? rejecting(describe) : throwing(describe)
      for (const name of names) replace(holder, name, replacement, true)
    }
  }
  for (const [binding, members] of Object.entries(bindings)) {
    const found = (process as unknown as { binding(name: string): unknown }).binding(binding)
    for (const [path, describe] of Object.entries(members)) {
      const [holder, names] = resolve(found, path)
      // Nothing that is not replaced leads to these, so they stay replaced.
      for (const name of names) replace(holder, name, throwing(describe), false)
    }
  }
  replace(globalThis, 'fetch', rejecting(originOf), true)
  for (const name of ['WebSocket', 'EventSource']) replace(globalThis, name, throwing(originOf), true)
  syncBuiltinESMExports()
}

/** Where a path such as `Socket.prototype.connect` leads. `Resolver.prototype.*` names every function of the holder. */
function resolve(from: unknown, path: string): readonly [holder: unknown, names: readonly string[]] {
  const segments = path.split('.')
  const last = segments.pop() as string
  let holder = from
  for (const segment of segments) holder = (holder as Fields | undefined)?.[segment]
  if (holder === undefined || holder === null) return [undefined, []]
  if (last !== '*') return [holder, [last]]
  const names = getOwnPropertyNames(holder).filter(
    (name) => name !== 'constructor' && typeof (holder as Fields)[name] === 'function' && /^[a-z]/.test(name),
  )
  return [holder, names.filter((name) => !/^[gs]et[A-Z]|^cancel$/.test(name))]
}

function replace(holder: unknown, name: string, value: unknown, canChange: boolean): void {
  if (typeof holder !== 'object' && typeof holder !== 'function') return
  if (holder === null || !(name in holder)) return
  const isEnumerable = Object.getOwnPropertyDescriptor(holder, name)?.enumerable ?? true
  defineProperty(holder, name, {
    value,
    enumerable: isEnumerable,
    writable: canChange,
    configurable: canChange,
  })
}

/** The origin alone, because a path or a query may hold a secret. */
function originOf([input]: readonly unknown[]): string {
  const url = typeof input === 'object' && input !== null ? ((input as Fields)['url'] ?? input) : input
  return originOfUrl(String(url)) ?? 'an address'
}

function originOfUrl(text: string): string | undefined {
  if (!canParse(text)) return undefined
  const { protocol, host } = new UrlOf(text)
  return host === '' ? `${protocol} address` : `${protocol}//${host}`
}

const requestOf =
  (protocol: string): Describe =>
  ([input, options]) => {
    if (typeof input === 'string') return originOfUrl(input) ?? `${protocol}//…`
    const fields = (input instanceof UrlOf ? options : input) as Fields | undefined
    if (input instanceof UrlOf && fields?.['host'] === undefined)
      return originOfUrl(input.href) ?? input.protocol
    const host = fields?.['hostname'] ?? fields?.['host'] ?? 'localhost'
    const port = fields?.['port']
    return `${fields?.['protocol'] ?? protocol}//${host}${port === undefined || port === null ? '' : `:${port}`}`
  }

/** `connect(port, host)`, `connect(path)` and `connect({port, host})`; also as a list, as `net` calls itself. */
const socketOf: Describe = (args) => {
  const [first, second] = isArray(args[0]) ? (args[0] as readonly unknown[]) : args
  if (typeof first === 'object' && first !== null) {
    const { path, host, port, servername } = first as Fields
    return typeof path === 'string' ? `the socket ${path}` : `${host ?? servername ?? 'localhost'}:${port}`
  }
  if (typeof first === 'string' && !/^\d+$/.test(first)) return `the socket ${first}`
  return `${typeof second === 'string' ? second : 'localhost'}:${first}`
}

/** `connect(authority)` of HTTP/2. */
const authorityOf: Describe = ([authority]) => originOfUrl(String(authority)) ?? 'an address'

/** Of a datagram, or of a handle: the last text that looks like a host. */
const addressOf: Describe = (args) => {
  const texts = args.filter((each) => typeof each === 'string' && each.length < 300)
  const port = args.find((each) => typeof each === 'number')
  const host = texts.at(-1) ?? 'an address'
  return port === undefined ? String(host) : `${host}:${port}`
}
const nameOf: Describe = ([first, second]) => {
  const name = typeof first === 'string' ? first : second
  return `the name ${typeof name === 'string' ? name : 'of a host'}`
}
const programOf: Describe = ([first]) => {
  const file = typeof first === 'object' && first !== null ? (first as Fields)['file'] : first
  // A command line may hold a secret.
  const [program = ''] = String(file).trim().split(/\s/)
  return `the program ${program.split(/[\\/]/).at(-1)?.slice(0, 100)}`
}
const always =
  (target: string): Describe =>
  () =>
    target
const thread = always('another thread')
const port = always('a port to listen on')
const datagram: Describe = (args) =>
  `UDP ${addressOf(
    args.filter((each) => typeof each !== 'object'),
    undefined,
  )}`

const look = { '*': nameOf, 'Resolver.prototype.*': nameOf } as const

/** The functions that authors and packages call, with the words for what they reach. */
const builtins: Readonly<Record<string, Readonly<Record<string, Describe>>>> = {
  'node:net': {
    connect: socketOf,
    createConnection: socketOf,
    'Socket.prototype.connect': socketOf,
    'Stream.prototype.connect': socketOf,
    'Server.prototype.listen': port,
  },
  'node:tls': { connect: socketOf },
  'node:http': { request: requestOf('http:'), get: requestOf('http:'), WebSocket: originOf },
  'node:https': { request: requestOf('https:'), get: requestOf('https:') },
  'node:http2': { connect: authorityOf },
  'node:dgram': {
    'Socket.prototype.send': datagram,
    'Socket.prototype.connect': datagram,
    'Socket.prototype.bind': port,
  },
  'node:dns': look,
  'node:dns/promises': look,
  'node:child_process': {
    spawn: programOf,
    spawnSync: programOf,
    exec: programOf,
    execSync: programOf,
    execFile: programOf,
    execFileSync: programOf,
    fork: programOf,
    'ChildProcess.prototype.spawn': programOf,
  },
  'node:cluster': { fork: always('another process') },
  'node:worker_threads': { Worker: thread },
  'node:inspector': { open: port, 'Session.prototype.connectToMainThread': thread },
}

/** The bindings that all of the above, `fetch`, and packages with a client of their own call in the end. */
const bindings: Readonly<Record<string, Readonly<Record<string, Describe>>>> = {
  tcp_wrap: {
    'TCP.prototype.connect': addressOf,
    'TCP.prototype.connect6': addressOf,
    'TCP.prototype.listen': port,
  },
  pipe_wrap: { 'Pipe.prototype.connect': always('a socket'), 'Pipe.prototype.listen': port },
  udp_wrap: {
    'UDP.prototype.send': datagram,
    'UDP.prototype.send6': datagram,
    'UDP.prototype.connect': datagram,
    'UDP.prototype.connect6': datagram,
    'UDP.prototype.bind': port,
    'UDP.prototype.bind6': port,
  },
  cares_wrap: {
    getaddrinfo: nameOf,
    getnameinfo: nameOf,
    'ChannelWrap.prototype.*': nameOf,
  },
  process_wrap: { 'Process.prototype.spawn': programOf },
  spawn_sync: { spawn: programOf },
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
