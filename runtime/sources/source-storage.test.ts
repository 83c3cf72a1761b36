import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSharedStorage, createSourceStorage } from './index.ts'
import { makeFolder } from './test-bed.ts'

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

test('a value that was written is read back as JSON gives it', async () => {
  await using made = await makeFolder()
  const folder = join(made.folder, 'sources', 'tides')
  const storage = createSourceStorage(folder)
  assert.equal(await storage.read('cursor'), undefined)
  for (const value of [{ high: [1, null, 'ü'] }, null, 0, 'text', { at: new Date(0) }]) {
    await storage.write('cursor', value)
    assert.deepEqual(await createSourceStorage(folder).read('cursor'), JSON.parse(JSON.stringify(value)))
  }
  await storage.write('refresh-token', 'x')
  assert.deepEqual((await readdir(folder)).sort(), ['cursor.json', 'refresh-token.json'])
})

test('the files are readable by their owner alone, whatever was there before', async () => {
  await using made = await makeFolder()
  const folder = join(made.folder, 'sources', 'tides')
  await createSourceStorage(folder).write('cursor', 1)
  assert.deepEqual(
    [
      await modeOf(join(made.folder, 'sources')),
      await modeOf(folder),
      await modeOf(join(folder, 'cursor.json')),
    ],
    ['700', '700', '600'],
  )
  const open = join(made.folder, 'open')
  await mkdir(open)
  await writeFile(join(open, 'cursor.json'), '{"what": "was there')
  await chmod(join(open, 'cursor.json'), 0o644)
  await chmod(open, 0o755)
  await createSourceStorage(open).write('cursor', 1)
  assert.deepEqual([await modeOf(open), await modeOf(join(open, 'cursor.json'))], ['700', '600'])
  assert.deepEqual(await readdir(open), ['cursor.json'])
})

test('concurrent writes are whole, and the last one wins', async () => {
  await using made = await makeFolder()
  const storage = createSourceStorage(made.folder)
  const writes = Array.from({ length: 20 }, (_, number) =>
    storage.write('cursor', { number, text: 'x'.repeat(number * 1000) }),
  )
  assert.deepEqual(await storage.read('cursor'), { number: 19, text: 'x'.repeat(19_000) })
  await Promise.all(writes)
  assert.deepEqual(await readdir(made.folder), ['cursor.json'])
})

test('two processes that write at one time, as setup and a gateway do, both succeed, and a reader sees one of both', async () => {
  await using made = await makeFolder()
  const each = [createSourceStorage(made.folder), createSourceStorage(made.folder)]
  const texts = ['a'.repeat(300_000), 'b'.repeat(300_000)]
  await each[0]?.write('credentials', texts[0])
  for (let round = 0; round < 10; round++) {
    const writes = each.map((storage, index) => storage.write('credentials', texts[index]))
    assert.ok(texts.includes(String(await createSourceStorage(made.folder).read('credentials'))))
    await Promise.all(writes)
    assert.ok(texts.includes(String(await createSourceStorage(made.folder).read('credentials'))))
  }
  assert.deepEqual(await readdir(made.folder), ['credentials.json'])
})

test('the next write removes drafts that a crash left, and no draft that is being written', async () => {
  await using made = await makeFolder()
  const drafts = ['cursor.json.draft', 'credentials.json.0a-1b.draft', 'credentials.json.2c-3d.draft']
  for (const draft of drafts) await writeFile(join(made.folder, draft), '"a secret')
  for (const draft of drafts.slice(0, 2)) await utimes(join(made.folder, draft), 0, 0)
  await createSourceStorage(made.folder).write('cursor', 1)
  assert.deepEqual((await readdir(made.folder)).sort(), ['credentials.json.2c-3d.draft', 'cursor.json'])
})

test('the error for a damaged file names the file and quotes nothing of it', async () => {
  await using made = await makeFolder()
  await writeFile(join(made.folder, 'credentials.json'), '{"refreshToken": "very-secret-0123')
  const damaged = await createSourceStorage(made.folder)
    .read('credentials')
    .catch((error: unknown) => error)
  assert.ok(damaged instanceof Error)
  const { code, retryable, message, cause, stack } = damaged as Error & Record<string, unknown>
  assert.deepEqual([code, retryable, cause], ['kept-damaged', false, undefined])
  assert.match(message, /credentials\.json is damaged\. Remove it/)
  assert.doesNotMatch(`${message}${stack}`, /very-secret/)
})

test('a failed write is an error, and the earlier value stays', async () => {
  await using made = await makeFolder()
  const storage = createSourceStorage(made.folder)
  await storage.write('cursor', 1)
  // A file cannot be written in place of a folder.
  await mkdir(join(made.folder, 'other.json'))
  await assert.rejects(storage.write('other', 2), {
    code: 'kept-failed',
    retryable: true,
    message: /other\.json cannot be written \(EISDIR\)\.$/,
  })
  assert.deepEqual((await readdir(made.folder)).sort(), ['cursor.json', 'other.json'])
  assert.equal(await readFile(join(made.folder, 'cursor.json'), 'utf8'), '1\n')
  await assert.rejects(storage.read('other'), { code: 'kept-failed', retryable: true })
  await assert.rejects(createSourceStorage(join(import.meta.filename, 'x')).write('cursor', 1), {
    code: 'kept-failed',
  })
})

test('names that could lead elsewhere, and values that are no JSON, are refused', async () => {
  await using made = await makeFolder()
  const storage = createSourceStorage(made.folder)
  for (const name of ['', '..', '../x', 'a/b', 'A', 'lock.db', 'x'.repeat(61), 'a\0']) {
    await assert.rejects(storage.write(name, 1), { code: 'bad-request' }, name)
    await assert.rejects(storage.read(name), { code: 'bad-request' }, name)
  }
  for (const value of [undefined, () => {}, 1n])
    await assert.rejects(storage.write('cursor', value), { code: 'bad-request', retryable: false })
  assert.deepEqual(await readdir(made.folder), [])
})

test('shared values are stored in the database, and values in an earlier folder are read until then', async () => {
  await using made = await makeFolder()
  const rows = new Map<string, string>()
  let isAway = false
  const keyOf = (source: string, name: string) => {
    if (isAway) throw Object.assign(new Error('away'), { code: 'STORE_UNAVAILABLE' })
    return `${source}/${name}`
  }
  const storageOf = createSharedStorage({
    read: async (source, name) => rows.get(keyOf(source, name)),
    write: async (source, name, text) => void rows.set(keyOf(source, name), text),
  })
  await createSourceStorage(made.folder).write('cursor', { high: 1 })
  const storage = storageOf('tides', made.folder)
  assert.deepEqual(await storage.read('cursor'), { high: 1 })
  await storage.write('cursor', { high: 2, text: '\0\ud800' })
  assert.deepEqual(await storageOf('tides', join(made.folder, 'elsewhere')).read('cursor'), {
    high: 2,
    text: '\0\ud800',
  })
  assert.deepEqual([...rows], [['tides/cursor', String.raw`{"high":2,"text":"\u0000\ud800"}`]])
  assert.deepEqual(await createSourceStorage(made.folder).read('cursor'), { high: 1 })
  assert.equal(await storageOf('mails', join(made.folder, 'elsewhere')).read('cursor'), undefined)
  await assert.rejects(storage.write('../x', 1), { code: 'bad-request' })
  await assert.rejects(storage.write('cursor', undefined), { code: 'bad-request' })
  isAway = true
  await assert.rejects(storage.read('cursor'), {
    code: 'kept-failed',
    retryable: true,
    message: 'cursor of the source tides cannot be kept in the database (STORE_UNAVAILABLE).',
  })
})
