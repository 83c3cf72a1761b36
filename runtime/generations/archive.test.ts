import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Bundle, Diagnostic, GenerationContent } from '@reveille/engine'
import { atEnd } from '../../test/at-end.ts'
import { createFolder } from '../../test/installation.ts'
import { type DiskArchive, openGenerationArchive } from './index.ts'

const noDifference = { added: [], changed: [], removed: [] }
const changes = {
  mappings: { ...noDifference, reordered: false },
  endpoints: noDifference,
  transforms: noDifference,
  settings: ['hooks.token'],
  restart: [],
}

/** Makes a data folder, and archives on it one after the other. */
async function createBench(t: TestContext) {
  const home = await createFolder(t, {})
  const folder = join(home, 'data', 'generations')
  const configFile = join(home, 'reveille.yaml')
  const damaged: string[] = []
  const failed: unknown[] = []
  const open = () =>
    openGenerationArchive({
      folder,
      configFile,
      onDamaged: (found) => damaged.push(...found),
      onFailed: (error) => failed.push(error),
    })

  function contentOf(digest: string, more: Readonly<Record<string, string>> = {}, bundles: Bundle[] = []) {
    const sources = new Map([[configFile, `# ${digest}\nhooks: {}\n`]])
    for (const [name, text] of Object.entries(more)) sources.set(join(home, name), text)
    return { digest, sources, bundles: new Map(bundles.map((bundle) => [bundle.module, bundle])) }
  }

  /** Does as the reloader does after a swap. @returns the generation's number */
  function goLive(archive: DiskArchive, content: GenerationContent, at = 1): number {
    const generation = archive.numberOf(content.digest)
    const record = {
      generation,
      state: 'live' as const,
      at,
      tookMs: 2,
      mappings: 1,
      changes,
      diagnostics: [],
    }
    archive.keep({ ...record, digest: content.digest }, content)
    return generation
  }

  return {
    home,
    folder,
    damaged,
    failed,
    open,
    contentOf,
    goLive,
    async begun() {
      const archive = await open()
      await archive.begin()
      atEnd(t, () => archive.close())
      return archive
    },
  }
}

/** Every file below the folder, by its name from there. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort()
}

test('a generation is kept as one file, and served again bit for bit after a restart', async (t) => {
  const { begun, contentOf, goLive, folder } = await createBench(t)
  const first = await begun()
  const content = contentOf('one', {
    'mappings/späte.yaml': 'text: "ü\u0000🔔"\r\n',
    'mappings/empty.yaml': '',
  })
  content.sources.set('/usr/share/reveille/github.yaml', 'mappings: []\n')
  goLive(first, content)
  await first.close()

  assert.deepEqual(await filesBelow(folder), ['1.json', 'index.json'])
  const again = await begun()
  assert.deepEqual(await again.read(1), content)
  assert.equal(await again.read(2), undefined)
})

test('folders and files are readable by their owner alone', async (t) => {
  const { begun, contentOf, goLive, folder } = await createBench(t)
  const archive = await begun()
  goLive(archive, contentOf('one', { 'mappings/a/b.yaml': 'x' }))
  archive.note({ state: 'rejected', at: 2, tookMs: 1, changes, diagnostics: [] })
  await archive.close()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const { mode } = await stat(join(entry.parentPath, entry.name))
    assert.equal((mode & 0o777).toString(8), entry.isFile() ? '600' : '700', entry.name)
  }
})

test('numbers continue after a restart, and the same content has the same number again', async (t) => {
  const { begun, contentOf, goLive } = await createBench(t)
  const first = await begun()
  assert.deepEqual([goLive(first, contentOf('a'), 1), goLive(first, contentOf('b'), 2)], [1, 2])
  await first.close()

  const second = await begun()
  assert.deepEqual(
    second.list().map(({ generation, state }) => [generation, state]),
    [
      [2, 'retired'],
      [1, 'retired'],
    ],
  )
  assert.equal(goLive(second, contentOf('b'), 3), 2)
  assert.equal(goLive(second, contentOf('c'), 4), 3)
  assert.equal(goLive(second, contentOf('a'), 5), 1)
  assert.deepEqual(
    second.list().map(({ generation, state, at }) => [generation, state, at]),
    [
      [1, 'live', 5],
      [3, 'retired', 4],
      [2, 'retired', 3],
    ],
  )
})

test('a generation that is live again after a restart keeps its list of changes', async (t) => {
  const { begun, contentOf, goLive } = await createBench(t)
  const first = await begun()
  goLive(first, contentOf('a'))
  await first.close()
  const second = await begun()
  const everything = {
    ...changes,
    settings: [],
    mappings: { ...changes.mappings, added: ['all', 'of', 'it'] },
  }
  const record = { generation: 1, digest: 'a', state: 'live' as const, at: 9, tookMs: 1, diagnostics: [] }
  second.keep({ ...record, changes: everything }, contentOf('a'))
  assert.deepEqual(second.list()[0]?.changes, changes)
})

test('of 25 generations the last 20 are kept, and no number is used again', async (t) => {
  const { begun, contentOf, goLive, folder } = await createBench(t)
  const first = await begun()
  for (let at = 1; at <= 25; at += 1) {
    goLive(first, contentOf(`digest-${at}`, { 'mappings/same.yaml': 'the same\n' }), at)
    if (at % 3 === 0) await first.saved()
  }
  await first.close()
  const numbers = Array.from({ length: 20 }, (_, index) => 25 - index)
  assert.deepEqual(
    first.list().map(({ generation }) => generation),
    numbers,
  )
  const names = ['index.json', ...numbers.map((number) => `${number}.json`)]
  assert.deepEqual((await readdir(folder)).sort(), names.sort())
  const second = await begun()
  for (const number of numbers) {
    const content = await second.read(number)
    assert.deepEqual(content, contentOf(`digest-${number}`, { 'mappings/same.yaml': 'the same\n' }))
  }
  assert.equal(await second.read(5), undefined)
  assert.equal(goLive(second, contentOf('digest-5')), 26)
})

test('contents are kept on the disk, not in memory', async (t) => {
  const { begun, contentOf, goLive } = await createBench(t)
  const archive = await begun()
  const text = `# ${'x'.repeat(1_000_000)}\n`
  const first = contentOf('first', { 'mappings/large.yaml': text })
  goLive(archive, first)
  await archive.saved()
  const read = await archive.read(1)
  assert.deepEqual(read, first)
  assert.notEqual(read?.sources, first.sources, 'it was read from the disk')
})

test('of refused candidates the last 20 records are kept, newest first, beside what went live', async (t) => {
  const { begun, contentOf, goLive } = await createBench(t)
  const first = await begun()
  goLive(first, contentOf('one'), 10)
  const refuse = (archive: DiskArchive, at: number) =>
    archive.note({ state: 'rejected', digest: `bad-${at}`, at, tookMs: 1, changes, diagnostics: [] })
  for (let at = 11; at <= 33; at += 1) refuse(first, at)
  await first.close()
  const second = await begun()
  refuse(second, 34)
  await second.saved()
  const list = second.list()
  assert.deepEqual(
    [list.length, list[0]?.digest, list[19]?.digest, list[20]?.generation],
    [21, 'bad-34', 'bad-15', 1],
  )
})

test('a candidate with ten thousand errors is kept with its first hundred, and says so', async (t) => {
  const { begun } = await createBench(t)
  const archive = await begun()
  const error: Diagnostic = { severity: 'error', code: 'UNKNOWN_KEY', message: 'no such key' }
  const diagnostics = Array.from({ length: 10_000 }, () => error)
  archive.note({ state: 'rejected', at: 1, tookMs: 1, changes, diagnostics })
  const [kept] = archive.list()
  assert.equal(kept?.diagnostics.length, 101)
  assert.match(String(kept?.diagnostics.at(-1)?.message), /9900 more/)
})

test('the rollback that holds survives a restart, and so does its end', async (t) => {
  const { begun, contentOf, goLive } = await createBench(t)
  const first = await begun()
  goLive(first, contentOf('one'))
  first.setRollback({ generation: 1, filesDigest: 'files' })
  await first.close()
  const second = await begun()
  assert.deepEqual(second.rollback(), { generation: 1, filesDigest: 'files' })
  second.setRollback(undefined)
  await second.close()
  assert.equal((await begun()).rollback(), undefined)
})

test('after a process died no number is given twice, and its unfinished file is replaced', async (t) => {
  const { begun, open, contentOf, goLive, folder } = await createBench(t)
  const dying = await begun()
  goLive(dying, contentOf('one'))
  await dying.saved()
  await writeFile(join(folder, '.draft'), '{"sha256"')

  const next = await open()
  assert.deepEqual(
    next.list().map(({ generation }) => generation),
    [1],
  )
  assert.equal(next.numberOf('one'), 1)
  assert.ok(next.numberOf('two') > 2, 'generation 2 may have been live when the process died')
  await next.begin()
  assert.ok(await next.read(1))
  await next.close()
  assert.deepEqual(await filesBelow(folder), ['1.json', 'index.json'])
})

for (const [what, text] of [
  ['cut short', '{"highest": 2'],
  ['empty', ''],
  ['of another kind', '{"rollback": {"generation": 1}, "highest": "two"}'],
  ['gone', undefined],
] as const) {
  test(`an index that is ${what} is reported once, and every generation is still there`, async (t) => {
    const { begun, contentOf, goLive, folder, damaged } = await createBench(t)
    const first = await begun()
    for (const digest of ['one', 'two', 'three']) goLive(first, contentOf(digest))
    await first.close()
    const index = join(folder, 'index.json')
    await (text === undefined ? rm(index) : writeFile(index, text))

    const second = await begun()
    assert.equal(damaged.length, 1)
    assert.match(String(damaged[0]), /generations\/index\.json: /)
    assert.equal(second.numberOf('four'), 4)
    assert.deepEqual(await second.read(2), contentOf('two'))
    await second.close()
    await begun()
    assert.equal(damaged.length, 1)
  })
}

test('a generation whose files were changed, removed or left unfinished is not served again', async (t) => {
  const { begun, contentOf, goLive, folder, damaged } = await createBench(t)
  const first = await begun()
  for (const digest of ['one', 'two', 'three', 'four']) goLive(first, contentOf(digest))
  await first.close()
  const text = await readFile(join(folder, '1.json'), 'utf8')
  await writeFile(join(folder, '1.json'), text.replace('hooks: {}', 'hooks: []'))
  await writeFile(join(folder, '2.json'), text.slice(0, -20))
  await writeFile(join(folder, '3.json'), 'null')

  const second = await begun()
  for (const number of [1, 2, 3]) assert.equal(await second.read(number), undefined)
  assert.deepEqual(
    second.list().map(({ generation }) => generation),
    [4],
  )
  assert.equal(damaged.length, 3)
  assert.equal(goLive(second, contentOf('one')), 5, 'its number is not given again')
  assert.ok(await second.read(4))
})

test('the folder may be moved with everything beside it', async (t) => {
  const { begun, contentOf, goLive, home } = await createBench(t)
  const bundle = join(home, 'data', 'transforms', 'abc.mjs')
  await mkdir(join(home, 'data', 'transforms'), { recursive: true })
  await writeFile(bundle, '')
  const first = await begun()
  const content = contentOf('one', { 'mappings/a.yaml': 'x' }, [
    { module: 'a.ts', digest: 'abc', file: bundle },
  ])
  goLive(first, content)
  await first.close()
  const moved = await createFolder(t, {})
  await cp(join(home, 'data'), join(moved, 'data'), { recursive: true })
  const archive = await openGenerationArchive({
    folder: join(moved, 'data', 'generations'),
    configFile: join(moved, 'reveille.yaml'),
    onDamaged() {},
    onFailed() {},
  })
  const restored = await archive.read(1)
  assert.deepEqual(
    [...(restored?.sources.keys() ?? [])],
    [join(moved, 'reveille.yaml'), join(moved, 'mappings/a.yaml')],
  )
  assert.equal(restored?.bundles.get('a.ts')?.file, join(moved, 'data', 'transforms', 'abc.mjs'))
})

test('bundles are needed while a generation is kept, and a generation without its bundle is not served', async (t) => {
  const { begun, contentOf, goLive, home } = await createBench(t)
  await mkdir(join(home, 'data', 'transforms'), { recursive: true })
  const bundleOf = (digest: string): Bundle => ({
    module: 'review.ts',
    digest,
    file: join(home, 'data', 'transforms', `${digest}.mjs`),
  })
  const first = await begun()
  for (let at = 1; at <= 22; at += 1) {
    const bundle = bundleOf(`bundle-${Math.ceil(at / 2)}`)
    await writeFile(bundle.file, '')
    goLive(first, contentOf(`digest-${at}`, {}, [bundle]), at)
  }
  const expected = Array.from({ length: 10 }, (_, index) => `bundle-${index + 2}`)
  assert.deepEqual([...first.neededBundles()].sort(), expected.sort())
  await first.close()
  const second = await begun()
  assert.deepEqual([...second.neededBundles()].sort(), expected)
  assert.equal((await second.read(22))?.bundles.get('review.ts')?.digest, 'bundle-11')
  await rm(bundleOf('bundle-11').file)
  assert.equal(await second.read(22), undefined)
})

test('a disk that fails is reported once and stops nothing, and everything is written when it works again', async (t) => {
  const { open, contentOf, goLive, folder, failed } = await createBench(t)
  await mkdir(join(folder, '..'), { recursive: true })
  await writeFile(folder, 'a file where the folder should be')
  const archive = await open()
  await archive.begin()
  goLive(archive, contentOf('one'), 1)
  await archive.saved()
  goLive(archive, contentOf('two'), 2)
  await archive.saved()
  assert.equal(failed.length, 1)
  assert.deepEqual(await archive.read(1), contentOf('one'), 'it is still in memory')

  await rm(folder)
  goLive(archive, contentOf('three'), 3)
  await archive.close()
  const reopened = await open()
  assert.deepEqual(
    reopened.list().map(({ generation }) => generation),
    [3, 2, 1],
  )
  assert.deepEqual(await reopened.read(1), contentOf('one'))
})

test('nothing is written before the folder is locked', async (t) => {
  const { open, begun, contentOf, goLive, folder } = await createBench(t)
  const mine = await begun()
  goLive(mine, contentOf('one'))
  await mine.saved()
  const before = await filesBelow(folder)

  const second = await open()
  goLive(second, contentOf('two'))
  second.note({ state: 'rejected', at: 1, tookMs: 1, changes, diagnostics: [] })
  second.setRollback({ generation: 1, filesDigest: 'x' })
  await second.close()
  assert.deepEqual(await filesBelow(folder), before)
})

test('generations that another gateway wrote before it released the folder are kept, and no number is given twice', async (t) => {
  const { open, begun, contentOf, goLive } = await createBench(t)
  const first = await begun()
  goLive(first, contentOf('one'))
  await first.close()

  const leaving = await begun()
  goLive(leaving, contentOf('one'), 2)
  await leaving.saved()
  const coming = await open()
  const mine = goLive(coming, contentOf('mine'), 4)
  goLive(leaving, contentOf('theirs'), 3)
  await leaving.close()
  await coming.begin()
  assert.deepEqual(
    coming.list().map(({ generation, digest }) => [generation, digest]),
    [
      [mine, 'mine'],
      [2, 'theirs'],
      [1, 'one'],
    ],
  )
  await coming.close()
})

test('a start is refused where another gateway has meanwhile used the same number', async (t) => {
  const { open, begun, contentOf, goLive } = await createBench(t)
  const early = await open()
  const coming = await open()
  await early.begin()
  goLive(early, contentOf('theirs'))
  goLive(coming, contentOf('mine'))
  await early.close()
  await assert.rejects(coming.begin(), { code: 'LOCKED', message: /start again$/ })
  assert.equal((await begun()).list()[0]?.digest, 'theirs')
})

test('a generation whose bundle was altered is not served', async (t) => {
  const { begun, contentOf, goLive, home, damaged } = await createBench(t)
  const file = join(home, 'data', 'transforms', 'abc.mjs')
  await mkdir(join(home, 'data', 'transforms'), { recursive: true })
  await writeFile(file, 'export default () => null\n')
  const codeHash = createHash('sha256').update('export default () => null\n').digest('hex')
  const bundle: Bundle = { module: 'a.ts', digest: 'abc', codeHash, file }
  const archive = await begun()
  goLive(archive, contentOf('one', {}, [bundle]))
  goLive(archive, contentOf('two'))
  await archive.saved()
  assert.equal((await archive.read(1))?.bundles.get('a.ts')?.codeHash, codeHash)
  await writeFile(file, 'export default () => 1\n')
  assert.equal(await archive.read(1), undefined)
  assert.match(String(damaged), /generations\/1\.json: the bundle of a\.ts is not what it was$/)
})
