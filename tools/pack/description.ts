/** Reads the package.json of the workspaces, and writes it as it is published. */

import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

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

/** The workspaces that are not private. */
export function readWorkspaces(root: string): readonly Workspace[] {
  const description = readJson(path.join(root, 'package.json')) as RootDescription
  return description.workspaces
    .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }).sort())
    .map((file) => path.posix.dirname(file))
    .map((folder) => {
      const own = readJson(path.join(root, folder, 'package.json')) as Description
      return { folder, description: { ...own, ...originOf(description, folder) } }
    })
    .filter(({ description }) => description.private !== true)
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
