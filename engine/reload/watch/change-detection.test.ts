/**
 * Tests that each detector alone notices every kind of edit. The assertion is that a change signal comes after which a
 * read, done as a load does it, gives the final state. A watcher without detectors notices nothing, so the check can
 * fail.
 */

import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createSampleFolder, type SampleFolder } from '../../config/folder-fixture.ts'
import { createWatcher, type WatchOptions } from '../watcher.ts'
import { type EditKind, editKinds } from './edits-fixture.ts'
import { noEvents } from './no-events-fixture.ts'

const never = Number.POSITIVE_INFINITY
const detectors: Record<string, Partial<WatchOptions>> = {
  events: { scanMs: never },
  scans: { scanMs: 20, watchFiles: noEvents },
  polling: { scanMs: 200, poll: true, pollMs: 20 },
}

/** Reads everything at the watched paths, following links as a load does. */
async function read(folder: SampleFolder, paths: readonly string[]): Promise<string> {
  const said: string[] = []
  async function add(name: string): Promise<void> {
    const path = folder.at(name)
    try {
      if ((await stat(path)).isDirectory()) {
        for (const entry of (await readdir(path)).sort())
          if (/^[^.].*(?<!~)$/.test(entry)) await add(join(name, entry))
      } else said.push(`${name}: ${await readFile(path, 'utf8')}`)
    } catch (error) {
      said.push(`${name}: ${(error as NodeJS.ErrnoException).code}`)
    }
  }
  for (const name of paths) await add(name)
  return said.join('\n')
}

/** Makes a watcher, with what was last read after its signals. */
function createReader(
  context: TestContext,
  folder: SampleFolder,
  kind: EditKind,
  detector: Partial<WatchOptions>,
) {
  let seen: string | undefined
  let next = Promise.withResolvers<void>()
  let loaded = Promise.resolve()
  /** Loads one at a time, as the reloader does. */
  function load(): Promise<void> {
    loaded = loaded.then(async () => {
      seen = await read(folder, kind.watched)
      next.resolve()
      next = Promise.withResolvers()
    })
    return loaded
  }
  const watcher = createWatcher({
    debounceMs: 10,
    onChange: load,
    onError: (error) => assert.fail(String(error)),
    ...detector,
  })
  context.after(() => watcher.close())
  watcher.watch(kind.watched.map(folder.at))
  return async (expected: string) => {
    while (seen !== expected) await next.promise
  }
}

const limit = { timeout: 60_000, concurrency: true }

for (const [name, detector] of Object.entries(detectors))
  test(`${name} alone notice`, limit, async (suite) => {
    await Promise.all(
      editKinds
        .filter(({ isFoundByScan }) => !(isFoundByScan && name === 'events'))
        .map((kind) =>
          suite.test(kind.name, async (context) => {
            const folder = await createSampleFolder(context, kind.files)
            await kind.prepare?.(folder)
            const sees = createReader(context, folder, kind, detector)
            let before = await read(folder, kind.watched)
            await sees(before)
            for (const step of kind.steps) {
              await step(folder)
              const after = await read(folder, kind.watched)
              assert.notEqual(after, before, 'a step changes what is said')
              await sees(after)
              before = after
            }
          }),
        ),
    )
  })
