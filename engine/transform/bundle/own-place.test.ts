import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createTransforms } from './fixture.ts'

test('a module finds its own path by every name that Node.js has for it', async (t) => {
  const { load, folder } = await createTransforms(t, {
    'transforms/deep/esm.ts': `
      const { url, filename: file } = import.meta
      export default () => [import.meta.url, import.meta.dirname, import.meta.filename, url, file]`,
    'transforms/deep/own.mjs': `
      import { dirname } from 'node:path'
      import { fileURLToPath } from 'node:url'
      const __dirname = dirname(fileURLToPath(import.meta.url))
      export default () => __dirname`,
    'transforms/deep/common.cjs': 'module.exports = () => [__dirname, __filename]',
  })
  const deep = path.join(folder, 'transforms', 'deep')
  const esm = path.join(deep, 'esm.ts')
  const { href } = pathToFileURL(esm)
  assert.deepEqual((await load('deep/esm.ts')).default(), [href, deep, esm, href, esm])
  assert.equal((await load('deep/own.mjs')).default(), deep)
  assert.deepEqual((await load('deep/common.cjs')).default(), [deep, path.join(deep, 'common.cjs')])
})

test('files beside a module are found from there, also by a `require` whose name is known only at run time', async (t) => {
  const { load } = await createTransforms(t, {
    'transforms/esm.ts': `
      import { readFileSync } from 'node:fs'
      export default () => readFileSync(new URL('./note.txt', import.meta.url), 'utf8')`,
    'transforms/note.txt': 'a note',
    'transforms/late.cjs': 'module.exports = (name) => require(name)',
    'transforms/said.json': '"said"',
  })
  assert.equal((await load('esm.ts')).default(), 'a note')
  assert.equal((await load('late.cjs')).default('./said.json'), 'said')
})

test("a stack trace names the author's lines, also in a file that reads its own path", async (t) => {
  const { bundleOne } = await createTransforms(t, {
    'transforms/a.ts': `import { fail } from './lib/fail.ts'

interface Far { from: string }

const far: Far = { from: import.meta.dirname }
export default (): void => {
  /* here */ fail(far.from)
}
`,
    'transforms/lib/fail.ts': `type Text = string


export function fail(text: Text): never {
  throw new Error(text)
}
`,
  })
  const { file } = await bundleOne('a.ts')
  const program = `
    import(${JSON.stringify(pathToFileURL(file).href)}).then(({ default: run }) => run())
      .catch((error) => console.log(error.stack))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--enable-source-maps', '-e', program])
  assert.match(stdout, /\/transforms\/lib\/fail\.ts:5:9\)/)
  assert.match(stdout, /\/transforms\/a\.ts:7:14\)/)
})

test('the source map holds the sources as written', async (t) => {
  const source = 'export default () => import.meta.url // ü\n'
  const { bundleOne } = await createTransforms(t, { 'transforms/a.ts': source })
  const { file } = await bundleOne('a.ts')
  const map = JSON.parse(await readFile(`${file}.map`, 'utf8'))
  assert.deepEqual(map.sourcesContent, [source])
  assert.match(
    await readFile(file, 'utf8'),
    new RegExp(`\n//# sourceMappingURL=${path.basename(file)}\\.map\n$`),
  )
})
