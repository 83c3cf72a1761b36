import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startThread } from './thread.ts'

test('a thread uses the compile cache of the process', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-'))
  t.after(() => rm(folder, { recursive: true }))
  const program = join(folder, 'program.mjs')
  await writeFile(
    program,
    `import { getCompileCacheDir } from 'node:module'
import { workerData } from 'node:worker_threads'
workerData.port.postMessage(getCompileCacheDir())`,
  )
  enableCompileCache(folder)
  const heard = Promise.withResolvers<unknown>()
  const thread = startThread<never, unknown>({ program: pathToFileURL(program), name: 'test' })
  thread.owner = { heard: heard.resolve, lost: heard.reject }
  thread.keepAlive(true)
  assert.equal(await heard.promise, getCompileCacheDir())
  await thread.end()
})
