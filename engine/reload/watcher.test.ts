import assert from 'node:assert/strict'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { createSampleFolder } from '../config/sample-folder.ts'
import { createWatcher } from './watcher.ts'

/** A watcher, and its hints to wait for. */
function createWatching(context: TestContext) {
  let told: (() => void) | undefined
  let count = 0
  const watcher = createWatcher({
    debounceMs: 20,
    onChange() {
      count++
      told?.()
    },
    onError: (error) => assert.fail(String(error)),
  })
  context.after(() => watcher.close())
  return {
    watcher,
    count: () => count,
    /** Does something to the files and waits for the hint that follows. */
    async after(step: () => Promise<unknown>) {
      const hint = new Promise<void>((resolve) => {
        told = resolve
      })
      await step()
      await hint
    },
  }
}

async function atomicSave(file: string, content: string): Promise<void> {
  await writeFile(`${file}.tmp~`, content)
  await rename(`${file}.tmp~`, file)
}

const limit = { timeout: 10_000 }

test('a file is watched through edits, atomic saves, deletion and return', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'reveille.yaml': 'a: 1\n' })
  const file = folder.at('reveille.yaml')
  const { watcher, after } = createWatching(context)
  await after(async () => watcher.watch([file, folder.at('.env')]))
  await after(() => writeFile(file, 'a: 2\n'))
  for (let save = 0; save < 3; save++) await after(() => atomicSave(file, `a: ${save} saved\n`))
  await after(() => rm(file))
  await after(() => writeFile(file, 'a: 3\n'))
  await after(() => writeFile(folder.at('.env'), 'A=1\n'))
})

test(
  'a folder is watched through new files, sub-folders, its deletion and return',
  limit,
  async (context) => {
    const folder = await createSampleFolder(context, { 'mappings/a.yaml': '' })
    const mappings = folder.at('mappings')
    const { watcher, after } = createWatching(context)
    await after(async () => watcher.watch([mappings]))
    await after(() => folder.write('mappings/b.yaml', 'x'))
    await after(() => folder.write('mappings/deep/er/c.json', '{}'))
    await after(() => atomicSave(folder.at('mappings/deep/er/c.json'), '{"a":1}'))
    await after(() => rm(mappings, { recursive: true }))
    await after(() => folder.write('mappings/deep/er/c.json', '{}'))
    await after(() => folder.write('mappings/deep/er/c.json', '{"b":1}'))
  },
)

test('a folder that does not exist yet is seen when it comes', limit, async (context) => {
  const folder = await createSampleFolder(context, { 'reveille.yaml': '' })
  const { watcher, after } = createWatching(context)
  await after(async () => watcher.watch([folder.at('reveille.yaml'), folder.at('not/yet')]))
  await after(async () => {
    await mkdir(folder.at('not/yet'), { recursive: true })
    await writeFile(folder.at('not/yet/a.yaml'), 'x')
  })
  await after(() => writeFile(folder.at('not/yet/a.yaml'), 'y'))
})

test('the watched set can change, and what left it is silent', limit, async (context) => {
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

test('what is no mapping file does not wake anybody', limit, async (context) => {
  const others = ['.a.yaml.swp', 'a.yaml~', '4913', '.git/x.yaml', 'readme.md'].map(
    (name) => `mappings/${name}`,
  )
  const folder = await createSampleFolder(context, { 'mappings/a.yaml': '', 'mappings/.git/y': '' })
  const { watcher, after, count } = createWatching(context)
  const witness = createWatching(context)
  await after(async () => watcher.watch([folder.at('mappings')]))
  witness.watcher.watch(others.map(folder.at))
  const before = count()
  for (const name of others) await witness.after(() => folder.write(name, 'x'))
  assert.equal(count(), before)
  await after(() => folder.write('mappings/a.yaml', 'x'))
})

test('nothing follows closing', limit, async (context) => {
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
