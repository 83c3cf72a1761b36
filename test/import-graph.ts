/** Lists which file imports which. TypeScript parses the files, so that no comment, string or unusual import is misread. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path/posix'
import type { Node } from 'typescript/unstable/ast'
import { isExportDeclaration, isImportDeclaration, isImportTypeNode } from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'

/** Paths are relative to the root, with slashes. */
export interface Import {
  readonly from: string
  readonly to: string
  /** True if the import is gone at run time. */
  readonly isType: boolean
}

/** What a browser runs knows no Node.js, and is a project of its own. */
const projects = ['tsconfig.json', 'console/tsconfig.json']

/** The prefix of the name of a package that is not in this repository. */
export const library = 'node_modules/'

/**
 * Lists every import by one of our files, of our files and of libraries: static, re-exported, dynamic, of a value or
 * a type.
 */
export function readImports(root: string): Import[] {
  const entries = readEntries(root)
  const api = new API({ cwd: root })
  try {
    const openProjects = projects.map((file) => join(root, file)).filter((file) => existsSync(file))
    const programs = api
      .updateSnapshot({ openProjects })
      .getProjects()
      .map(({ program }) => program)
    // The console reads types of files that are in the other project too.
    const seen = new Set<string>()
    return programs.flatMap((program) => {
      const files = program.getSourceFileNames().map((file) => relative(root, file))
      const ours = files.filter(
        (file) => !file.startsWith('..') && !file.split('/').includes('node_modules') && !seen.has(file),
      )
      for (const file of ours) seen.add(file)
      return ours.flatMap((from) => {
        const imports = program.getSourceFile(join(root, from))?.imports ?? []
        return imports.flatMap((node) => {
          const to = resolve(from, (node as Node & { readonly text: string }).text, entries)
          return to === undefined ? [] : [{ from, to, isType: isTypeOnly(node) }]
        })
      })
    })
  } finally {
    api.close()
  }
}

/** Maps a specifier to the file that our package exports: `@reveille/kit` -> `plugins/kit/index.ts`. */
function readEntries(root: string): ReadonlyMap<string, string> {
  const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const folders = (description.workspaces as string[]).flatMap((workspace) =>
    workspace.endsWith('/*')
      ? readdirSync(join(root, workspace.slice(0, -2))).map((name) => join(workspace.slice(0, -2), name))
      : [workspace],
  )
  const entries = new Map<string, string>()
  for (const folder of folders) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    for (const [path, file] of Object.entries(exports as Record<string, unknown>)) {
      if (typeof file === 'string') entries.set(join(name, path), join(folder, file))
    }
  }
  return entries
}

function resolve(from: string, specifier: string, entries: ReadonlyMap<string, string>): string | undefined {
  if (specifier.startsWith('.')) return join(from, '..', specifier)
  const entry = entries.get(specifier)
  if (entry !== undefined) return entry
  // An import of our package past its exports is kept as it is written, so that the rules refuse it.
  if (/^(@reveille|reveille)\//.test(specifier)) return specifier
  return isBuiltin(specifier) ? undefined : `${library}${specifier}`
}

function isTypeOnly(specifier: Node): boolean {
  const { parent } = specifier
  if (isImportDeclaration(parent)) return parent.importClause?.phaseModifier !== undefined
  if (isExportDeclaration(parent)) return parent.isTypeOnly
  return isImportTypeNode(parent.parent)
}
