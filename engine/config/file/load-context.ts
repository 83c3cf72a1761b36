/** Reads files and environment for one load, and records each for the digest and for watching. */

import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { own } from '../values/is-record.ts'
import type { Diagnostic } from './diagnostic.ts'
import { faultsOfEnvFile, readEnvFile } from './env-file.ts'
import type { TextParser } from './parse-text.ts'

/** The part of `node:fs/promises` that loading needs. */
export interface Files {
  readFile(path: string): Promise<Uint8Array>
  readdir(path: string): Promise<readonly string[]>
  /** Follows links. */
  stat(path: string): Promise<{ isFile(): boolean; isDirectory(): boolean; readonly size: number }>
}

export const realFiles: Files = { readFile: (path) => readFile(path), readdir: (path) => readdir(path), stat }

export type Environment = Readonly<Record<string, string | undefined>>

/** Longer configuration or mapping files are refused. In bytes. */
const maxFileBytes = 8 * 1024 * 1024
/** Longer targets of `${file:}` are refused. In bytes. */
const maxSecretBytes = 64 * 1024
const maxFolderDepth = 16
/** Hidden files, and those that tools keep for npm packages and editors. */
const notMappings = /^(\.|node_modules$|(package|package-lock|tsconfig|jsconfig)\.json$)/

/** Thrown if a file cannot be read. The message completes a sentence that begins with the file's name. */
export class ReadError extends Error {
  readonly code: 'FILE_NOT_FOUND' | 'FILE_UNREADABLE' | 'FILE_TOO_LARGE' | 'FILE_NOT_TEXT'
  constructor(code: ReadError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ReadError'
    this.code = code
  }

  /** True if the user may not read the file. */
  get isForbidden(): boolean {
    return isForbidden(this.cause)
  }
}

export interface LoadContextOptions {
  /** The absolute path of the configuration file. */
  readonly file: string
  readonly env: Environment
  readonly files: Files
  readonly parser: TextParser
  /** True if a reference that is not set is a warning instead of an error. Default: false. */
  readonly allowsUnset?: boolean | undefined
  /** True if the text is no file of the operator's, so that a reference in it stays a string. Default: false. */
  readonly isPasted?: boolean
}

export class LoadContext {
  readonly options: LoadContextOptions
  /** The absolute path of the configuration file's folder. */
  readonly folder: string
  /** The values of the references that were looked up so far. */
  readonly referenced = new Set<string>()
  /** The problems of files that cannot be parsed, each reported once. */
  readonly problems = new Map<string, readonly Diagnostic[]>()
  /** The variables and files of references that are not set. */
  readonly unset = new Set<string>()
  /** The absolute paths of files and folders whose change may change the configuration. */
  readonly watched: Set<string>
  readonly #dotEnv: string
  #fileEnv: Environment = {}
  readonly #seen = new Map<string, string | null>()
  /** Files read after the main file, by path. */
  readonly #seenSince = new Map<string, string | null>()
  #isMainRead = false
  readonly #sources = new Map<string, string>()
  readonly #secretFiles: Set<string>

  constructor(options: LoadContextOptions) {
    this.options = options
    this.folder = dirname(options.file)
    this.#dotEnv = join(this.folder, '.env')
    this.watched = new Set([options.file, this.#dotEnv])
    this.#secretFiles = new Set([this.#dotEnv])
  }

  /** Returns the absolute path of a path in the configuration: from its folder, or from `from`; `~/` is the user's home folder. */
  resolvePath(path: string, from = this.folder): string {
    if (!/^~(?=[/\\]|$)/.test(path)) return resolve(from, path)
    const home = own(this.options.env, 'HOME') || homedir()
    this.#seen.set('home', home)
    return join(home, path.slice(1))
  }

  /** Returns a path relative to the configuration's folder, with `/`, or the absolute path of a file outside of it. */
  nameOf(path: string): string {
    const name = this.#fromFolder(path)
    return name.startsWith('../') || isAbsolute(name) ? path.split(sep).join('/') : name
  }

  /** Reads `.env`, if there is one, and returns the lines that are probably mistakes. @throws ReadError */
  async readEnvironment(): Promise<ReturnType<typeof faultsOfEnvFile>> {
    try {
      const text = await this.#read(this.#dotEnv, maxSecretBytes)
      this.#fileEnv = readEnvFile(text)
      return faultsOfEnvFile(text)
    } catch (error) {
      if (!(error instanceof ReadError) || error.code !== 'FILE_NOT_FOUND') throw error
      return []
    }
  }

  /** Returns a file's text without byte order mark. @throws ReadError */
  async readText(path: string): Promise<string> {
    const text = await this.#read(path, maxFileBytes)
    this.#note(`text ${this.#fromFolder(path)}`, text)
    this.#sources.set(path, text)
    return text
  }

  /** Returns the text of a `${file:}` target without its last line break. @throws ReadError */
  async readReferenced(path: string): Promise<string> {
    const target = this.resolvePath(path)
    this.watched.add(target)
    this.#secretFiles.add(target)
    const text = (await this.#read(target, maxSecretBytes)).replace(/\r?\n$/, '')
    this.#note(`file ${path}`, text)
    this.referenced.add(text)
    return text
  }

  /** Looks a variable up in the process environment, then in `.env`. */
  lookUp(name: string): string | undefined {
    const value = own(this.options.env, name) ?? own(this.#fileEnv, name)
    this.#note(`environment ${name}`, value ?? null)
    if (value !== undefined) this.referenced.add(value)
    return value
  }

  /** Returns the names in `.env`. */
  names(): string[] {
    return Object.keys(this.#fileEnv)
  }

  /** Returns the names in one folder, sorted. @throws ReadError */
  async listFolder(path: string): Promise<string[]> {
    return (await this.options.files.readdir(path).catch(refuse)).toSorted()
  }

  /** Returns the absolute paths of the mapping files below a folder, in the order of their relative paths. @throws ReadError */
  async listMappings(below: string): Promise<string[]> {
    const names = await this.#list(below, '', 0).catch(refuse)
    // Sorts by code units, not by locale, because the order decides which mapping wins.
    return names.sort().map((name) => join(below, name))
  }

  /** Returns the contents that were read so far by their absolute paths, without `.env` and the targets of `${file:}`, which may be secret. */
  sources(): ReadonlyMap<string, string> {
    // A test may name one of them as its body.
    for (const path of this.#secretFiles) this.#sources.delete(path)
    return new Map(inOrder(this.#sources))
  }

  /** Notes that what is read from here on does not belong to the main file. */
  mainIsRead(): void {
    this.#isMainRead = true
  }

  /** Returns the SHA-256, in hex, of everything that was read so far, in any order. `main` takes the place of what the main file says. */
  digest(main?: unknown): string {
    const read = main === undefined ? inOrder(this.#seen) : [main, inOrder(this.#seenSince)]
    return createHash('sha256').update(JSON.stringify(read)).digest('hex')
  }

  #note(key: string, value: string | null): void {
    this.#seen.set(key, value)
    if (this.#isMainRead) this.#seenSince.set(key, value)
  }

  #fromFolder(path: string): string {
    return relative(this.folder, path).split(sep).join('/')
  }

  async #read(path: string, limit: number): Promise<string> {
    const { size } = await this.options.files.stat(path).catch(refuse)
    if (size > limit) throw new ReadError('FILE_TOO_LARGE', `is larger than ${limit} bytes`)
    return decode(await this.options.files.readFile(path).catch(refuse))
  }

  async #list(below: string, prefix: string, depth: number): Promise<string[]> {
    const found: string[] = []
    const names = (await this.options.files.readdir(below)).filter((name) => !notMappings.test(name))
    // A file that was deleted since it was listed, and a broken link, are reported when they are read.
    const kinds = await inParallel(names, (name) =>
      this.options.files.stat(join(below, name)).catch(unlessMissing),
    )
    for (const [index, name] of names.entries()) {
      const path = join(below, name)
      const kind = kinds[index]
      if (kind?.isDirectory()) {
        if (depth === maxFolderDepth)
          throw new ReadError('FILE_UNREADABLE', 'is nested too deeply, or in a circle')
        found.push(...(await this.#list(path, `${prefix}${name}/`, depth + 1)))
      } else if (/\.(ya?ml|json)$/i.test(name)) found.push(`${prefix}${name}`)
    }
    return found
  }
}

/** Sorts by code units, not by locale. */
function inOrder<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map.keys()].sort().map((key) => [key, map.get(key) as Value])
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ReadError('FILE_NOT_TEXT', 'is not UTF-8 text', cause)
  }
}

/** @throws ReadError */
function refuse(cause: unknown): never {
  if (cause instanceof ReadError) throw cause
  const code = (cause as NodeJS.ErrnoException).code
  if (code === 'ENOENT' || code === 'ENOTDIR') throw new ReadError('FILE_NOT_FOUND', 'does not exist', cause)
  const reason = isForbidden(cause) ? 'may not be read by this user' : `cannot be read (${code ?? 'unknown'})`
  throw new ReadError('FILE_UNREADABLE', code === 'EISDIR' ? 'is a folder' : reason, cause)
}

function isForbidden(cause: unknown): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return code === 'EACCES' || code === 'EPERM'
}

function unlessMissing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause
}

const maxAtOnce = 16

/**
 * Returns the results in the order of the inputs. Only some run at the same time, because files are many and the
 * threads that read them few.
 */
export async function inParallel<One, Made>(
  all: readonly One[],
  make: (one: One) => Promise<Made>,
): Promise<Made[]> {
  const made = new Array<Made>(all.length)
  const left = all.entries()
  const work = async (): Promise<void> => {
    for (const [index, one] of left) made[index] = await make(one)
  }
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, all.length) }, work))
  return made
}
