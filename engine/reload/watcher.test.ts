import assert from 'node:assert/strict'
import { appendFile, chmod, rename, rm, writeFile } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type FSWatcher, watch as watchFiles } from 'chokidar'
import { createSampleFolder } from '../config/folder-fixture.ts'
import { noEvents } from './watch/no-events-fixture.ts'
import { WatchError } from './watch/watch-error.ts'
import { createWatcher, type WatchOptions } from './watcher.ts'

const never = Number.POSITIVE_INFINITY

/** Makes a watcher whose signals can be awaited. */
function createWatching(context: TestContext, options: Partial<WatchOptions> = {}) {
  let reported: (() => void) | undefined
  let count = 0
  const watcher = createWatcher({
    debounceMs: 20,
    onChange() {
      count++
      reported?.()
    },
    onError: (error) => assert.fail(String(error)),
    ...options,
  })
  context.after(() => watcher.close())
  /** Changes the files and waits for the signal that follows. */
  async function after(step: () => Promise<unknown>) {
    const hint = Promise.withResolvers<void>()
    reported = hint.resolve
    await step()
    await hint.promise
  }
  return { watcher, count: () => count, after }
}

async function atomicSave(file: string, content: string): Promise<void> {
  await writeFile(`${file}.tmp~`, content)
  await rename(`${file}.tmp~`, file)
}

const limit = { timeout: 10_000 }

test('the watched paths can change, and removed ones give no signals', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'one/a': '', 'two/a': '', 'three/a': '' })
  const [one, two, three] = ['one/a', 'two/a', 'three/a'].map(folder.at) as [string, string, string]
  const { watcher, after, count } = createWatching(context)
  const witness = createWatching(context)
  await witness.after(async () => witness.watcher.watch([one]))
  await after(async () => watcher.watch([one]))
  await after(async () => watcher.watch([two]))
  const before = count()
  await witness.after(() => writeFile(one, 'seen by the witness alone'))
  assert.equal(count(), before)
  await after(() => writeFile(two, 'heard'))
  await after(async () => watcher.watch([one, three]))
  await after(() => writeFile(one, 'heard again'))
})

test('temporary files of editors beside mapping files cause no change signal', limit, async (context) => {
  const names = ['.a.yaml.swp', 'a.yaml~', '4913', '.git/x.yaml', 'notes.pdf']
  const others = names.map((name) => `mappings/${name}`)
  const folder = await createSampleFolder(context, { 'mappings/a.yaml': '', 'mappings/.git/y': '' })
  const { watcher, after, count } = createWatching(context)
  const witness = createWatching(context)
  await after(async () => watcher.watch([folder.at('mappings')]))
  witness.watcher.watch(others.map(folder.at))
  const before = count()
  for (const name of others) await witness.after(() => folder.write(name, 'x'))
  await after(() => folder.write('mappings/a.yaml', 'x'))
  assert.equal(count(), before + 1)
})

test('no signal follows closing', limit, async (context) => {
  const folder = await createSampleFolder(context, { a: '' })
  const { watcher, after, count } = createWatching(context)
  const witness = createWatching(context)
  await after(async () => watcher.watch([folder.at('a')]))
  await witness.after(async () => witness.watcher.watch([folder.at('a')]))
  const before = count()
  await witness.after(async () => {
    await writeFile(folder.at('a'), 'x')
    await watcher.close()
  })
  assert.equal(count(), before)
})

test('changes of rights are noticed', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'reveille.yaml': '', 'mappings/a.yaml': '' })
  for (const options of [{ scanMs: 20 }, { poll: true, scanMs: 20 }]) {
    const { watcher, after } = createWatching(context, options)
    await after(async () => watcher.watch([folder.at('reveille.yaml'), folder.at('mappings')]))
    for (const name of ['reveille.yaml', 'mappings', 'mappings/a.yaml']) {
      await after(() => chmod(folder.at(name), 0))
      await after(() => chmod(folder.at(name), 0o755))
    }
    await watcher.close()
  }
})

test('a log that grows in a watched folder causes no change signal', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'mappings/a.yaml': '', 'mappings/server.log': '' })
  const { watcher, after, count } = createWatching(context, { scanMs: 20 })
  await after(async () => watcher.watch([folder.at('mappings')]))
  const before = count()
  for (let line = 0; line < 500; line++) await appendFile(folder.at('mappings/server.log'), 'x\n')
  await after(() => writeFile(folder.at('mappings/a.yaml'), 'x'))
  // A file that is younger than a tick of the clock may be reported again.
  assert.ok(count() <= before + 2, `${count() - before} signals`)
})

test('a path in a watched folder can be added without a change signal', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'transforms/a.ts': '', 'transforms/lib/b.ts': '' })
  const { watcher, after, count } = createWatching(context, { scanMs: never })
  const transforms = folder.at('transforms')
  await after(async () => watcher.watch([transforms]))
  watcher.watch([transforms, folder.at('transforms/lib/b.ts')])
  await after(() => writeFile(folder.at('transforms/lib/b.ts'), 'x'))
  assert.equal(count(), 2)
  await after(async () => watcher.watch([transforms, folder.at('elsewhere.ts')]))
  assert.equal(count(), 3)
})

test('paths added in several steps are neither lost nor new again', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'a.yaml': '', 'b.yaml': '' })
  const [a, b] = [folder.at('a.yaml'), folder.at('b.yaml')]
  const { watcher, after, count } = createWatching(context, { scanMs: never })
  await after(async () => watcher.watch([a, b]))
  for (let load = 0; load < 3; load++) {
    watcher.watch([a])
    watcher.watch([a, b])
  }
  watcher.watch([a])
  await after(() => writeFile(b, 'x'))
  assert.equal(count(), 2)
  // The path was removed by now, and is new when it comes back.
  await after(async () => watcher.watch([a, b]))
  assert.equal(count(), 3)
})

/** Makes events that never come, and counts how often files are watched. */
function createSilence() {
  let count = 0
  let watched: FSWatcher | undefined
  const silent: typeof watchFiles = (paths, options) => {
    count++
    watched = noEvents(paths, options)
    return watched
  }
  return { watchFiles: silent, opened: () => count, fail: (error: Error) => watched?.emit('error', error) }
}

test('without events of the system files are polled, reported once', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'mappings/a.yaml': '' })
  const file = folder.at('mappings/a.yaml')
  for (const code of ['ENOSPC', 'EMFILE', 'ENFILE']) {
    const { opened, fail, watchFiles } = createSilence()
    const reported: unknown[] = []
    const onError = (error: unknown) => reported.push(error)
    const settings = { watchFiles, onError, scanMs: never, pollMs: 20 }
    const { watcher, after } = createWatching(context, settings)
    await after(async () => watcher.watch([folder.at('mappings')]))
    for (let time = 0; time < 3; time++) fail(Object.assign(new Error('watch'), { code }))
    await after(() => atomicSave(file, `first after ${code}`))
    await after(() => atomicSave(file, `second after ${code}`))
    watcher.configure({ poll: false })
    await after(() => atomicSave(file, `third after ${code}`))
    assert.equal(opened(), 1)
    assert.equal(reported.length, 1)
    const [error] = reported
    assert.ok(error instanceof WatchError && error.code === 'WATCH_LIMIT')
    assert.match(error.message, new RegExp(`${code}.*every 0.02 s.*[Rr]aise .* --poll`))
    await watcher.close()
  }
})

test('a folder that cannot be watched is reported once, and scanned', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'mappings/a.yaml': '' })
  const { watchFiles, fail } = createSilence()
  const reported: unknown[] = []
  const options = { watchFiles, onError: (error: unknown) => reported.push(error), scanMs: 20 }
  const { watcher, after } = createWatching(context, options)
  await after(async () => watcher.watch([folder.at('mappings')]))
  for (const code of ['EIO', 'EACCES', 'ENOENT', 'EIO']) fail(Object.assign(new Error(), { code }))
  await after(() => atomicSave(folder.at('mappings/a.yaml'), 'x'))
  const found = reported.map((error) => [(error as WatchError).code, (error as WatchError).message])
  assert.deepEqual(found, [['WATCH_FAILED', 'Some changes are seen only after a while: EIO']])
})

test('a file that is read and gone before any scan is looked for again', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'etc/reveille.yaml': '' })
  const again = Promise.withResolvers<void>()
  let loads = 0
  const watcher = createWatcher({
    debounceMs: 10,
    scanMs: never,
    watchFiles: noEvents,
    onError: (error) => assert.fail(String(error)),
    async onChange() {
      loads += 1
      if (loads > 1) return again.resolve()
      await folder.write('etc/.env', 'A=1')
      await rm(folder.at('etc/.env'))
    },
  })
  context.after(() => watcher.close())
  watcher.watch([folder.at('etc/.env')])
  await again.promise
})

test('scans of unchanged files give no signals', limit, async (context) => {
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`mappings/${index}.yaml`, 'x']))
  const folder = await createSampleFolder(context, files)
  const { watcher, after, count } = createWatching(context, { watchFiles: noEvents, scanMs: 1 })
  await after(async () => watcher.watch([folder.at('mappings')]))
  // Files that are younger than a tick of the clock may be reported again.
  await after(() => atomicSave(folder.at('mappings/0.yaml'), 'y'))
  const before = count()
  const witness = createWatching(context, { watchFiles: noEvents, scanMs: 1 })
  await witness.after(async () => witness.watcher.watch([folder.at('other.yaml')]))
  for (let scan = 0; scan < 10; scan++) await witness.after(() => folder.write('other.yaml', `${scan}`))
  assert.ok(count() <= before + 1, `${count() - before} signals`)
})

test('the way of watching can change while files are watched', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'reveille.yaml': '' })
  const file = folder.at('reveille.yaml')
  let opened = 0
  const noting: typeof watchFiles = (paths, options) => {
    opened++
    return watchFiles(paths, options)
  }
  const { watcher, after } = createWatching(context, { watchFiles: noting, scanMs: never, pollMs: 20 })
  await after(async () => watcher.watch([file]))
  // Changes before files are watched in the new way are noticed all the same.
  for (const poll of [true, false]) {
    await after(async () => {
      watcher.configure({ poll, debounceMs: 5 })
      await atomicSave(file, `in between ${poll}`)
    })
    await after(() => atomicSave(file, `afterwards ${poll}`))
  }
  assert.equal(opened, 2)
})

test('closing leaves no timer and no watched folder behind', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'mappings/deep/a.yaml': '', 'reveille.yaml': '' })
  const held = () => process.getActiveResourcesInfo().filter((kind) => /FSEvent|Timeout|FSReq/.test(kind))
  const before = held()
  const { watcher, after } = createWatching(context)
  await after(async () => watcher.watch([folder.at('mappings'), folder.at('reveille.yaml')]))
  assert.ok(held().includes('FSEventWrap') && held().includes('Timeout'))
  await writeFile(folder.at('reveille.yaml'), 'just before the end')
  await watcher.close()
  while (held().length > before.length) await yieldToEventLoop()
  assert.deepEqual(held(), before)
})
