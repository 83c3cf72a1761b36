/** Reads the package.json of the workspaces, and writes it as it is published. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { PackFailed } from './failure.ts'

export interface Workspace {
  /** Relative to the root, with slashes. */
  readonly folder: string
  readonly description: Description
}

export interface Description {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  /** The files that are published besides the code, the README and the licence. */
  readonly files?: readonly string[]
  readonly reveille?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/**
 * The workspaces that are not private.
 * @throws PackFailed when one depends on a workspace that is not published beside it in the version it asks for
 */
export function readWorkspaces(root: string): readonly Workspace[] {
  const description = readJson(path.join(root, 'package.json')) as RootDescription
  const published = description.workspaces
    .flatMap((pattern) => foldersOf(root, pattern))
    .filter((folder) => existsSync(path.join(root, folder, 'package.json')))
    .map((folder) => ({
      folder,
      description: {
        ...(readJson(path.join(root, folder, 'package.json')) as Description),
        ...originOf(description, folder),
      },
    }))
    .filter(({ description }) => description.private !== true)
  for (const workspace of published) checkDependencies(workspace, published)
  return published
}

interface RootDescription {
  readonly workspaces: readonly string[]
  readonly author?: string
  readonly keywords?: readonly string[]
  /** `git+https://….git` */
  readonly repository?: string
}

/** Where a package comes from, which the root's package.json names for all of them. */
function originOf({ author, keywords, repository }: RootDescription, directory: string) {
  if (repository === undefined) return { author, keywords }
  const page = repository.replace(/^git\+/, '').replace(/\.git$/, '')
  return {
    author,
    keywords,
    repository: { type: 'git', url: repository, directory },
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
  }
}

function foldersOf(root: string, pattern: string): readonly string[] {
  if (!pattern.endsWith('/*')) return [pattern]
  const parent = pattern.slice(0, -'/*'.length)
  const names = readdirSync(path.join(root, parent)).sort()
  return names.map((name) => `${parent}/${name}`)
}

function checkDependencies({ folder, description }: Workspace, published: readonly Workspace[]): void {
  const versions = new Map(published.map(({ description: { name, version } }) => [name, version]))
  const scopes = new Set([...versions.keys()].filter((name) => name.startsWith('@')).map(scopeOf))
  for (const [name, asked] of Object.entries(description.dependencies ?? {})) {
    const version = versions.get(name)
    if (version === asked || (version === undefined && !scopes.has(scopeOf(name)))) continue
    const found = version === undefined ? 'no workspace of that name is published' : `that is ${version} here`
    throw new PackFailed(`${folder}/package.json depends on ${name} ${asked}; ${found}.`)
  }
}

/** `@scope/name` -> `@scope`. */
function scopeOf(name: string): string {
  return name.split('/')[0] ?? name
}

/** The sources from which all other sources of the package are reached. */
export function entriesOf({ exports, bin = {} }: Description): readonly string[] {
  return [...Object.values(exports), ...Object.values(bin)].filter((file) => /\.[jt]s$/.test(file))
}

/** The description with JavaScript and declarations where TypeScript was. */
export function publishedDescription(description: Description): Readonly<Record<string, unknown>> {
  const hasCode = entriesOf(description).length > 0
  return {
    ...description,
    // Fields that only this repository uses are left out.
    scripts: undefined,
    devDependencies: undefined,
    exports: Object.fromEntries(
      Object.entries(description.exports).map(([name, file]) => [name, publishedEntry(file)]),
    ),
    // Some tools read no more than this key.
    types: description.exports['.']?.replace(/\.ts$/, '.d.ts'),
    files: [...(hasCode ? ['**/*.js', '**/*.d.ts'] : []), ...(description.files ?? [])],
  }
}

function publishedEntry(file: string): unknown {
  if (!file.endsWith('.ts')) return file
  const name = file.slice(0, -'.ts'.length)
  return { types: `${name}.d.ts`, default: `${name}.js` }
}

/** Every path in a package.json that users, Node.js or npm follow. */
export function namedFiles(description: unknown): readonly string[] {
  if (typeof description === 'string') return description.startsWith('./') ? [description] : []
  return Object.values(description ?? {}).flatMap(namedFiles)
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}
