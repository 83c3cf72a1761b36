/** Tests what the bundle of this repository costs an idle gateway. */

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createFolder, gatewayToken, hookToken, writeInto } from '../installation.ts'
import { build, limit, startReveille } from './reveille-process.ts'

test('the bundle is ASCII, because for any other character Node keeps two bytes of each', async () => {
  const folder = path.dirname(await build())
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.js'))) {
    const text = await readFile(path.join(folder, name), 'utf8')
    const found = text.match(/.{0,40}[^\0-\x7f].{0,40}/)?.[0]
    assert.equal(found, undefined, `${name}: write it as \\u in regular expressions and tagged templates`)
  }
})

test('what is loaded later from a CommonJS package is taken from its default export, as a bundle gives no other', async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const sources = globSync(['engine/**/*.ts', 'runtime/**/*.ts', 'plugins/**/*.ts'], {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name.endsWith('.test.ts'),
  })
  const taken: string[] = []
  for (const source of sources) {
    const text = await readFile(path.join(root, source), 'utf8')
    for (const [, names = '', name = ''] of text.matchAll(
      /const \{([^}]*)\} = await import\('([^.'][^']*)'\)/g,
    )) {
      if (name.startsWith('node:') || name.startsWith('@reveille/')) continue
      const isCommonJs = await import(name).then((module) => 'module.exports' in module)
      if (isCommonJs && !/^\s*default: \w+\s*$/.test(names)) taken.push(`${source}: {${names}} of ${name}`)
    }
  }
  assert.deepEqual(taken, [])
})

/** A module that writes, at the end of a process, what it has loaded. */
const look = `import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) process.on('exit', () => {
  const required = Object.keys(process.getBuiltinModule('node:module')._cache)
  writeFileSync(process.env.LOADED_MODULES, [...process.moduleLoadList, ...required].join('\\n'))
})
`

test(
  'a gateway loads neither a compiler of schemas nor an HTTP client until something needs it',
  limit,
  async (t) => {
    const settings = {
      gateway: { port: 0, auth: { token: gatewayToken } },
      hooks: { enabled: true, token: hookToken },
    }
    const configured = (hooks: object) =>
      JSON.stringify({ ...settings, hooks: { ...settings.hooks, ...hooks }, channels: { terminal: {} } })
    const folder = await createFolder(t, {
      'look.mjs': look,
      'reveille.yaml': configured({}),
      'schema.json': '{}',
    })
    const list = path.join(folder, 'loaded')
    const env = {
      NODE_OPTIONS: `--import=${pathToFileURL(path.join(folder, 'look.mjs'))}`,
      LOADED_MODULES: list,
    }
    async function loaded(): Promise<string[]> {
      const gateway = await startReveille(t, folder, { env })
      gateway.send('SIGTERM')
      await gateway.ended
      const names = (await readFile(list, 'utf8')).split('\n')
      const watched = {
        ajv: /node_modules\/ajv\//,
        undici: /deps\/undici/,
        http2: / http2$/,
        sqlite: / sqlite$/,
      }
      return Object.entries(watched).flatMap(([name, place]) =>
        names.some((each) => place.test(each)) ? name : [],
      )
    }
    assert.deepEqual(await loaded(), ['sqlite'], 'the last shows that it would be seen')
    const match = { path: 'checked' }
    const mapping = { match, action: 'wake', text: 'Checked.', schema: 'schema.json' }
    await writeInto(folder, 'reveille.yaml', configured({ mappings: [mapping] }))
    assert.deepEqual(await loaded(), ['ajv', 'sqlite'])
  },
)
