import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { formatDiagnostic } from '../../config/file/diagnostic-text.ts'
import { createTransforms } from './fixture.ts'

test("a syntax error is reported at the author's line and column, also after characters of several bytes", async (t) => {
  const { diagnose, folder } = await createTransforms(t, {
    'transforms/a.ts': 'export default () => 1\nconst text: string = "日本é" + )\n',
  })
  const [diagnostic, ...others] = await diagnose('a.ts')
  assert.deepEqual(others, [])
  assert.deepEqual(diagnostic && formatDiagnostic(diagnostic, folder).split('\n'), [
    'transforms/a.ts:2:30: error: Unexpected ")" [TRANSFORM_SOURCE]',
    '  2 | const text: string = "日本é" + )',
    '    |                                ^',
  ])
})

test('an error keeps its place in a file that reads its own path', async (t) => {
  const { diagnose } = await createTransforms(t, {
    'transforms/import.ts': `interface Gone { a: string }\n\n\nimport { one } from './none.ts'
export default (gone: Gone) => [one, import.meta.dirname]`,
    'transforms/syntax.ts': '\n\nconst here = import.meta.dirname + )',
  })
  const places = (await diagnose('import.ts', 'syntax.ts')).map(({ place }) => [place?.line, place?.column])
  assert.deepEqual(places, [
    [4, 21],
    [3, 36],
  ])
})

test('an import that is not found is reported with its name and what to do', async (t) => {
  const { diagnose } = await createTransforms(t, {
    'transforms/a.ts': `
      import a from 'lodahs/get'
      import b from './lib/titel'
      import c from './lip/title.ts'
      import d from '../nearby'
      import e from 'fs/promise'
      import f from '@reveille/engine'
      import g from '#own'
      import h from 'known/hidden'
      export default () => [a, b, c, d, e, f, g, h]`,
    'transforms/lib/title.ts': '',
    'transforms/node_modules/known/package.json': '{"exports":{".":"./index.js"}}',
  })
  const reports = (await diagnose('a.ts')).map(({ code, message, hint }) => {
    assert.equal(code, 'TRANSFORM_IMPORT')
    return [/`(.*)`/.exec(message)?.[1], hint]
  })
  assert.deepEqual(Object.fromEntries(reports), {
    'lodahs/get': 'Run `npm install --prefix . lodahs` in the folder of the configuration.',
    './lib/titel': 'Did you mean `./lib/title.ts`?',
    './lip/title.ts': 'There is no folder `transforms/lip`.',
    '../nearby': 'There is no such file in the folder of the configuration.',
    'fs/promise': 'Did you mean `fs/promises`?',
    '@reveille/engine': 'Transforms import `@reveille/engine/transform`.',
    '#own': 'Names with `#` are defined under `imports` in the nearest package.json.',
    'known/hidden':
      'The path "./hidden" is not exported by package "known" (transforms/node_modules/known/package.json:1:12).',
  })
})

test('a package is installed in the folder of the configuration', async (t) => {
  const { diagnose } = await createTransforms(t, {
    'package.json': '{}',
    'transforms/package.json': '{ "type": "module" }',
    'transforms/deep/a.ts': 'export { default } from "@scope/absent/part"',
  })
  const [reports] = await diagnose('deep/a.ts')
  assert.equal(
    reports?.hint,
    'Run `npm install --prefix . @scope/absent` in the folder of the configuration.',
  )
})

test('the hint for a missing package is to install it, even if its name resembles that of a module of Node.js', async (t) => {
  const names = ['zod', 'stripe', 'uuid', 'ws', 'qs', 'ms', 'got', 'crypto-js', 'child_proces']
  const { diagnose } = await createTransforms(t, {
    'transforms/a.ts': names.map((name) => `import '${name}'`).join('\n'),
  })
  const hints = (await diagnose('a.ts')).map(({ hint }) => hint ?? '')
  for (const [index, name] of names.entries())
    assert.ok(
      hints[index]?.startsWith(`Run \`npm install --prefix . ${name}\` in the folder of the configuration.`),
    )
  assert.match(hints.at(-1) ?? '', / If a module of Node\.js was meant: `node:child_process`\.$/)
})

test('the hint for a transforms folder elsewhere is to install the package there', async (t) => {
  const { bundle, folder } = await createTransforms(t, {
    'elsewhere/deep/a.ts': "import 'zod'",
    'config/a': '',
  })
  const elsewhere = path.join(folder, 'elsewhere')
  const bundled = await bundle({ transformsDir: elsewhere, folder: path.join(folder, 'config') }, 'deep/a.ts')
  const hint = bundled.ok ? '' : bundled.diagnostics[0]?.hint
  assert.ok(hint?.startsWith(`Run \`npm install --prefix . zod\` in ${elsewhere}.`), hint)
})

test('a name that a file does not export is reported with the nearest export', async (t) => {
  const { diagnose } = await createTransforms(t, {
    'transforms/a.ts': 'import { titel } from "./lib.ts"\nexport default () => titel',
    'transforms/lib.ts': 'export const title = 1',
  })
  const [{ code, message, hint, place } = assert.fail()] = await diagnose('a.ts')
  assert.deepEqual([code, message], ['TRANSFORM_IMPORT', '`transforms/lib.ts` has no export `titel`'])
  assert.match(hint ?? '', /Did you mean to import "title" instead/)
  assert.deepEqual([place?.line, place?.column], [1, 10])
})

test('an error in a file that several modules import is reported once, and type errors are not', async (t) => {
  const { diagnose } = await createTransforms(t, {
    'transforms/a.ts': 'import "./lib.ts"\nconst text: string = 1; export default () => text',
    'transforms/b.ts': 'import "./lib.ts"',
    'transforms/lib.ts': 'export const = 1',
  })
  assert.equal((await diagnose('a.ts', 'b.ts')).length, 1)
})

test('a long line is cut to the part around the error', async (t) => {
  const { diagnose } = await createTransforms(t, { 'transforms/a.js': `${'f();'.repeat(5_000)})` })
  const { place } = (await diagnose('a.js'))[0] ?? {}
  assert.equal(place?.column, 20_001)
  assert.ok(place.text.length <= 1_000)
  assert.equal(place.text[(place.caret ?? 0) - 1], ')')
})

test('a warning of the bundler is reported with each build, and none about a package', async (t) => {
  const { bundle } = await createTransforms(t, {
    'transforms/a.ts': 'export default (a: unknown) => typeof a === "strin" || -0 === a',
    'transforms/node_modules/odd/index.js': 'export default typeof x === "strin"',
    'transforms/b.ts': 'export { default } from "odd"',
  })
  for (let times = 0; times < 2; times++) {
    const bundled = await bundle('a.ts', 'b.ts')
    assert.ok(bundled.ok)
    const warnings = bundled.warnings?.map(
      ({ place }) => `${path.basename(place?.file ?? '')}:${place?.column}`,
    )
    assert.deepEqual(warnings, ['a.ts:45', 'a.ts:56'])
  }
})
