import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { ensureBuilt } from './build.js'

async function createSources(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-build-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(path.join(folder, file), text)
  }
  await write('tools/bundle.js', '')
  for (const file of ['bundler', 'console', 'replace-file']) await write(`tools/${file}.js`, '')
  await write('package.json', '{"type":"module"}')
  await write('package-lock.json', '{}')
  await write('tsconfig.json', '{}')
  await write('runtime/word.ts', 'export const word: string = "one"')
  await write('runtime/main.ts', 'import { word } from "./word.ts"; console.log(word)')
  await write('plugins/echo/index.ts', 'export default 1 as number')
  await write('runtime/store/sqlite/sqlite-writer.ts', 'export {}')
  await write('runtime/store/sqlite/sqlite-reader.ts', 'export {}')
  await write('engine/transform/worker/transform-worker.ts', 'export {}')
  await write('engine/config/file/parse-thread.ts', 'export {}')
  await write('engine/transform/bundle/bundler-thread.ts', 'export {}')
  await write('engine/evaluator/evaluator-thread.ts', 'export {}')
  await write('console/tsconfig.json', '{}')
  await write('console/index.html', '<link href="__STYLE__"><script src="__SCRIPT__">')
  await write('console/icon.svg', '<svg/>')
  await write('console/main.css', 'p { color: red }')
  await write('console/main.tsx', 'import "./main.css"; document.title = "Reveille"')
  const output = async (file: string) => (await promisify(execFile)(process.execPath, [file])).stdout.trim()
  return { folder, write, output }
}

test('the entries are bundled as flat files that run without their sources', async (t) => {
  const { folder, output } = await createSources(t)
  const { file, built } = await ensureBuilt(folder)
  assert.equal(built, true)
  await rm(path.join(folder, 'runtime'), { recursive: true })
  assert.equal(await output(file), 'one')
  const names = await readdir(path.join(folder, 'build'))
  const entries = [
    'main.js',
    'sqlite-writer.js',
    'sqlite-reader.js',
    'transform-worker.js',
    'parse-thread.js',
    'bundler-thread.js',
    'evaluator-thread.js',
    'plugin-echo.js',
  ]
  for (const name of entries) assert.ok(names.includes(name), name)
  assert.deepEqual(
    names.filter((name) => name.endsWith('.next')),
    [],
    'no half-written file stays',
  )
})

test('comments with letters beyond ASCII do not double the memory of a bundle', async (t) => {
  const { folder, write, output } = await createSources(t)
  const source = `class Word {
    /**
     * é – 😀
     */
    get() {
      // …
      return [/* ü */ 'été', '// ü'].join()
    }
  }
  console.log(new Word().get())`
  await write('runtime/main.ts', source)
  const { file } = await ensureBuilt(folder)
  assert.match(await readFile(file, 'utf8'), /^[\0-\x7f]*$/)
  assert.equal(await output(file), 'été,// ü')
})

test('what is loaded when needed is a file of its own, which stays for a day after it was last built', async (t) => {
  const { folder, write, output } = await createSources(t)
  await write('runtime/late.ts', 'export const word = "late"')
  await write('runtime/main.ts', 'console.log((await import("./late.ts")).word)')
  const { file } = await ensureBuilt(folder)
  assert.equal(await output(file), 'late')
  const parts = async () =>
    (await readdir(path.join(folder, 'build'))).filter((name) => /^part-.*js$/.test(name))
  const [first = ''] = await parts()
  assert.doesNotMatch(await readFile(file, 'utf8'), /"late"/)

  await write('runtime/late.ts', 'export const word = "later"')
  await ensureBuilt(folder)
  assert.equal(await output(file), 'later')
  assert.equal((await parts()).length, 2, 'a gateway that runs may load the earlier one')
  const yesterday = Date.now() / 1000 - 25 * 60 * 60
  await utimes(path.join(folder, 'build', first), yesterday, yesterday)
  await write('runtime/late.ts', 'export const word = "last"')
  await ensureBuilt(folder)
  assert.ok(!(await parts()).includes(first))
})

test('built-in modules are not read as a whole for what is imported of them', async (t) => {
  const { folder, write, output } = await createSources(t)
  const asks = 'process.moduleLoadList.includes("NativeModule internal/deps/undici/undici")'
  await write(
    'runtime/main.ts',
    `import { createServer } from "node:http"; console.log(typeof createServer, ${asks})`,
  )
  const { file } = await ensureBuilt(folder)
  assert.equal(await output(file), 'function false')
})

test('a built-in module that is seldom needed is loaded when something of it is used, however it is named', async (t) => {
  const { folder, write, output } = await createSources(t)
  const loaded = 'process.moduleLoadList.includes("NativeModule inspector")'
  await write(
    'runtime/old.cjs',
    'const inspector = require("node:inspector"); exports.url = () => inspector.url()',
  )
  await write(
    'runtime/main.ts',
    `import inspector, { url } from "node:inspector"
    import old from "./old.cjs"
    const before = ${loaded}
    console.log(before, url(), inspector.url(), old.url(), ${loaded})`,
  )
  const { file } = await ensureBuilt(folder)
  assert.equal(await output(file), 'false undefined undefined undefined true')
})

test('nothing is built while no source has changed', async (t) => {
  const { folder, write } = await createSources(t)
  await ensureBuilt(folder)
  await write('runtime/stranger.ts', 'export const unused = 1')
  assert.equal((await ensureBuilt(folder)).built, false)
})

test('a changed import of an entry, or another lock file, builds again', async (t) => {
  const { folder, write, output } = await createSources(t)
  await ensureBuilt(folder)
  await write('runtime/word.ts', 'export const word: string = "another"')
  const { file, built } = await ensureBuilt(folder)
  assert.equal(built, true)
  assert.equal(await output(file), 'another')
  await write('package-lock.json', '{"lockfileVersion":3}')
  assert.equal((await ensureBuilt(folder)).built, true)
})
