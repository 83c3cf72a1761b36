/** Divides the files of a test run into the processes that run them. */

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Slow files begin first, because those that begin last should end soon. Each is listed with the maximum number of its files that share a
 * process. They wait for browsers, other programs and killed gateways, or have hundreds of tests.
 */
const long: ReadonlyMap<string, number> = new Map([
  ['test/console', 1],
  ['test/durability', 1],
  ['test/cluster', 1],
  ['runtime/store/sqlite/store.test.ts', 1],
  ['runtime/store/server.test.ts', 1],
  ['test/pack.test.ts', 1],
  ['test/gmail/arrivals.test.ts', 1],
  ['test/reload/storm.test.ts', 1],
  ['test/agents', 3],
  ['test/process', 3],
  ['test/security', 3],
])

/** Files of a package in one process at most. More would make the last process of a run end long after the others. */
const most = 20
const packages = ['test', 'runtime', 'engine']

/** One process, and the files that it runs one after the other. */
export interface Group {
  readonly room: string
  readonly files: readonly string[]
}

/** @param files relative to the root, with slashes */
export function groupTests(files: readonly string[]): readonly Group[] {
  const rooms = Map.groupBy(files, (file) => placeOf(file) ?? file.split('/')[0] ?? '')
  return [...rooms]
    .sort(([a], [b]) => rank(a) - rank(b))
    .flatMap(([room, members]) => {
      const count = Math.ceil(members.length / (long.get(room) ?? most))
      const parts = Array.from({ length: count }, (_, part) =>
        members.filter((_file, index) => index % count === part),
      )
      return parts.map((part) => ({ room, files: part }))
    })
}

function placeOf(file: string): string | undefined {
  return long.keys().find((place) => file === place || file.startsWith(`${place}/`))
}

function rank(room: string): number {
  const order = [...long.keys(), ...packages]
  const place = order.indexOf(room)
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
