/** Divides the files of a test run into the processes that run them. */

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** Each file there has a process of its own: its tests wait for browsers, killed gateways and clocks, or measure their process. */
const alone = ['test/agents', 'test/console', 'test/durability', 'test/process', 'test/security']

/** Files of one process at most. More would make the last process of a run end long after the others. */
const most = 10

/** Long before short: what is begun last should end soon. */
const order = ['test/console', 'test/durability', ...alone, 'test', 'runtime', 'engine']

/** One process, and the files that it runs one after the other. */
export interface Group {
  readonly name: string
  readonly files: readonly string[]
}

/** @param files relative to the root, with slashes */
export function groupTests(files: readonly string[]): readonly Group[] {
  const rooms = Map.groupBy(files, (file) =>
    isBelow(file, alone) ? file.replace(/\.\w+\.ts$/, '') : roomOf(file),
  )
  return [...rooms]
    .sort(([a], [b]) => rank(a) - rank(b))
    .flatMap(([room, members]) =>
      Array.from(
        { length: Math.ceil(members.length / most) },
        (_, part, count = Math.ceil(members.length / most)) => ({
          name: part === 0 ? room : `${room}-${part + 1}`,
          files: members.filter((_file, index) => index % count === part),
        }),
      ),
    )
}

/** The folder of a package, or the folder in it. */
function roomOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 2).join('/') || '.'
}

function isBelow(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file.startsWith(`${folder}/`))
}

function rank(room: string): number {
  const place = order.findIndex((folder) => room === folder || isBelow(room, [folder]))
  return place === -1 ? order.length : place
}

/**
 * Writes one module for each group, in which every file is a suite. Node.js runs test files in the order of their names.
 *
 * @returns the modules
 */
export async function writeGroups(
  root: string,
  folder: string,
  groups: readonly Group[],
): Promise<readonly string[]> {
  const written = groups.map(({ name, files }, index) => ({
    module: path.join(folder, `${String(index + 1).padStart(3, '0')}-${name.replaceAll('/', '-')}.test.mjs`),
    files,
  }))
  for (const { module, files } of written) {
    const suites = files.map((file) => {
      const url = pathToFileURL(path.resolve(root, file)).href
      return `describe(${JSON.stringify(file)}, async () => { await import(${JSON.stringify(url)}) })\n`
    })
    await writeFile(module, `import { describe } from 'node:test'\n\n${suites.join('')}`)
  }
  return written.map(({ module }) => module)
}
