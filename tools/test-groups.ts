/** Divides the files of a test run into the processes that run them. */

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** Each file there has a process of its own: its tests wait for other programs and killed gateways, or measure their process. */
const alone = [
  ...['test/console', 'test/durability', 'test/agents', 'test/process', 'test/security'],
  ...['test/pack.test.ts', 'test/gmail/arrivals.test.ts', 'test/reload/storm.test.ts'],
]

/** Files of one process at most. More would make the last process of a run end long after the others. */
const most = 10

/** Long before short: what is begun last should end soon. */
const order = [...alone, 'test', 'runtime', 'engine']

/** One process, and the files that it runs one after the other. */
export interface Group {
  readonly room: string
  readonly files: readonly string[]
}

/** @param files relative to the root, with slashes */
export function groupTests(files: readonly string[]): readonly Group[] {
  const rooms = Map.groupBy(files, (file) => (isIn(file, alone) ? file : roomOf(file)))
  return [...rooms]
    .sort(([a], [b]) => rank(a) - rank(b))
    .flatMap(([room, members]) => {
      const count = Math.ceil(members.length / most)
      const parts = Array.from({ length: count }, (_, part) =>
        members.filter((_file, index) => index % count === part),
      )
      return parts.map((part) => ({ room, files: part }))
    })
}

/** The folder of a package, or the folder in it. */
function roomOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 2).join('/') || '.'
}

function isIn(file: string, places: readonly string[]): boolean {
  return places.some((place) => file === place || file.startsWith(`${place}/`))
}

function rank(room: string): number {
  const place = order.findIndex((each) => isIn(room, [each]))
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
  const written = groups.map(({ room, files }, index) => ({
    module: path.join(folder, `${String(index + 1).padStart(3, '0')}-${room.replaceAll('/', '-')}.test.mjs`),
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
