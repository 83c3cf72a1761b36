import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { findViolations, floors } from './architecture.ts'
import { readImports } from './import-graph.ts'

const root = resolve(import.meta.dirname, '..')

test('no file of the repository breaks a rule of who may import whom', () => {
  const imports = readImports(root)
  assert.ok(imports.length > 100, 'the imports were found')
  assert.ok(
    imports.some(({ from }) => from === 'console/main.tsx'),
    'those of the console too',
  )
  assert.deepEqual(findViolations(imports), [])
})

const value = (from: string, to: string) => ({ from, to, isType: false })
const type = (from: string, to: string) => ({ from, to, isType: true })

test('an import that the rules allow is no violation', () => {
  const allowed = [
    value('plugins/echo/index.ts', 'plugins/kit/index.ts'),
    value('plugins/kit/conformance/index.ts', 'plugins/kit/channel.ts'),
    value('runtime/http/index.ts', 'engine/index.ts'),
    value('runtime/gateway.ts', 'runtime/dispatch/index.ts'),
    value('runtime/gateway.ts', 'runtime/http/index.ts'),
    value('runtime/http/index.ts', 'runtime/store/port.ts'),
    value('transforms/review.ts', 'engine/transform/define.ts'),
    value('engine/resolve/render.test.ts', 'runtime/http/index.ts'),
    value('engine/compile/a.ts', 'engine/resolve/b.ts'),
    type('engine/compile/template/a.ts', 'engine/compile/expression/b.ts'),
    value('plugins/gmail/google/libraries.ts', 'node_modules/google-auth-library'),
    type('plugins/gmail/mail/body.ts', 'plugins/gmail/google/port.ts'),
    type('console/data/types.ts', 'runtime/store/records.ts'),
    value('console/pages/live.tsx', 'console/parts/list.tsx'),
  ]
  assert.deepEqual(findViolations(allowed), [])
})

const planted = [
  [
    value('plugins/kit/index.ts', 'engine/index.ts'),
    'plugins/kit imports no other package of this repository',
  ],
  [
    type('engine/resolve/admit.ts', 'plugins/kit/index.ts'),
    'engine imports no other package of this repository',
  ],
  [value('plugins/slack/index.ts', 'plugins/telegram/index.ts'), 'a plugin imports only the kit'],
  [value('plugins/slack/index.ts', 'plugins/kit/split.ts'), 'a plugin imports only the kit'],
  [value('plugins/slack/index.ts', '@reveille/kit/split.ts'), 'a plugin imports only the kit'],
  [value('transforms/review.ts', 'engine/index.ts'), 'a transform imports only engine/transform/define'],
  [type('runtime/http/index.ts', 'engine/config/load.ts'), 'runtime imports only the index files'],
  [value('runtime/plugin/host/host.ts', 'plugins/echo/index.ts'), 'runtime imports only the index files'],
  [value('runtime/http/index.ts', 'test/fixture.ts'), 'only tests and tools import tests'],
  [type('runtime/http/index.ts', 'runtime/dispatch/options.ts'), 'runtime/dispatch/ is on a higher floor'],
  [
    type('runtime/dispatch/run/performer.ts', 'runtime/http/reply/prefer.ts'),
    'runtime/dispatch knows nothing of who accepts',
  ],
  [value('runtime/guard/loop.ts', 'runtime/dispatch/index.ts'), 'runtime/dispatch/ is on a higher floor'],
  [value('engine/config/load.ts', 'engine/compile/mapping.ts'), 'engine/compile/ is on a higher floor'],
  [
    type('engine/config/file/syntax.ts', 'engine/config/schema/violation.ts'),
    'engine/config/schema/ is on a higher floor',
  ],
  [type('engine/resolve/resolve.ts', 'engine/reload/live.ts'), 'engine/reload/ is on a higher floor'],
  [
    type('plugins/gmail/connect/consent.ts', 'node_modules/google-auth-library'),
    'plugins/gmail/google alone knows the libraries of Google',
  ],
  [
    value('engine/compile/template/parse.ts', 'node_modules/handlebars/dist/cjs/handlebars/compiler/base.js'),
    'a library is used by its public door',
  ],
  [value('plugins/gmail/watch/index.ts', 'node_modules/html-to-text'), 'plugins/gmail/mail/html alone knows'],
  [
    type('plugins/gmail/google/gmail.ts', 'plugins/gmail/watch/cursor.ts'),
    'plugins/gmail/google asks Google',
  ],
  [
    value('plugins/gmail/mail/posts.ts', 'plugins/gmail/google/failure.ts'),
    'plugins/gmail/mail knows of Google only',
  ],
  [
    value('plugins/gmail/watch/waiting.ts', 'plugins/gmail/connect/credentials.ts'),
    'plugins/gmail/watch finds what setup has left',
  ],
  [type('runtime/http/surface.ts', 'runtime/sources/index.ts'), 'runtime/sources/ is on a higher floor'],
  [
    value('runtime/sources/keeping.ts', 'runtime/dispatch/index.ts'),
    'runtime/dispatch/ is on the same floor',
  ],
  [type('engine/compile/match/pattern.ts', 'engine/index.ts'), 'engine/index.ts is on a higher floor'],
  [value('runtime/gateway.ts', 'runtime/cli/index.ts'), 'runtime/cli/ is on a higher floor'],
  [value('console/data/types.ts', 'runtime/store/records.ts'), 'console imports nothing of this repository'],
  [type('console/data/types.ts', 'engine/index.ts'), 'console imports nothing of this repository'],
  [value('console/parts/list.tsx', 'console/pages/live.tsx'), 'console/pages/ is on a higher floor'],
] as const

for (const [violation, rule] of planted) {
  test(`${violation.from} may not import ${violation.to}`, () => {
    const found = findViolations([violation])
    assert.equal(found.length, 1)
    assert.match(found[0] ?? '', new RegExp(`^${violation.from} .*${violation.to}: ${rule}`))
  })
}

test('a file that may not be imported may not be reached through a third file either', () => {
  const withFloors = findViolations([
    value('runtime/http/wake.ts', 'runtime/observe/log.ts'),
    value('runtime/observe/log.ts', 'runtime/dispatch/index.ts'),
  ])
  const withoutFloors = findViolations([
    value('plugins/gmail/google/calls.ts', 'plugins/gmail/account.ts'),
    value('plugins/gmail/account.ts', 'plugins/gmail/watch/index.ts'),
  ])
  assert.deepEqual(withFloors, [
    'runtime/observe/log.ts imports runtime/dispatch/index.ts: runtime/dispatch/ is on a higher floor',
  ])
  assert.equal(withoutFloors.length, 1)
  assert.match(
    withoutFloors[0] ?? '',
    /calls\.ts -> .*account\.ts -> .*watch\/index\.ts: plugins\/gmail\/google/,
  )
})

test('files may not import each other in a circle, however long, whether by values or by types', () => {
  const found = findViolations([
    value('runtime/agent/a.ts', 'runtime/agent/b.ts'),
    type('runtime/agent/b.ts', 'runtime/agent/c.ts'),
    value('runtime/agent/b.ts', 'runtime/agent/beside.ts'),
    value('runtime/agent/c.ts', 'runtime/agent/a.ts'),
    value('runtime/agent/index.ts', 'runtime/agent/a.ts'),
    value('test/one.ts', 'test/one.test.ts'),
    type('test/one.test.ts', 'test/one.ts'),
  ])
  assert.deepEqual(found, [
    'runtime/agent/a.ts -> runtime/agent/b.ts -> runtime/agent/c.ts -> runtime/agent/a.ts: ' +
      'files import each other in a circle',
    'test/one.ts -> test/one.test.ts -> test/one.ts: files import each other in a circle',
  ])
})

test('rooms may not import each other in a circle, however long', () => {
  const found = findViolations([
    value('runtime/agent/a.ts', 'runtime/session/b.ts'),
    value('runtime/session/c.ts', 'runtime/observe/d.ts'),
    value('runtime/observe/e.ts', 'runtime/agent/f.ts'),
  ])
  assert.deepEqual(found, [
    'runtime/agent/a.ts imports runtime/session/b.ts: runtime/session/ is on a higher floor',
    'runtime/observe/e.ts imports runtime/agent/f.ts: runtime/agent/ is on the same floor',
  ])
})

test('a new room is no violation once it has a floor', () => {
  const found = findViolations([value('runtime/parlour/a.ts', 'runtime/store/port.ts')])
  assert.deepEqual(found, ['runtime/parlour/ has no floor in test/architecture.ts'])
})

test('every room in the list of floors exists', () => {
  const rooms = Object.entries(floors).flatMap(([half, rows]) => rows.flat().map((room) => `${half}/${room}`))
  assert.deepEqual(
    rooms.filter((room) => !existsSync(join(root, room))),
    [],
    'remove these rooms from `floors` in test/architecture.ts',
  )
})

test('every form of import is seen, and nothing that only looks like one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-imports-'))
  try {
    const tree = {
      'package.json': '{"workspaces": ["engine", "plugins/*"]}',
      'tsconfig.json':
        '{"compilerOptions": {"module": "nodenext", "noEmit": true, "types": []}, "include": ["**/*.ts"]}',
      'engine/package.json': '{"name": "@reveille/engine", "exports": {".": "./index.ts"}}',
      'plugins/kit/package.json':
        '{"name": "@reveille/kit", "exports": {".": "./index.ts", "./more": "./more.ts"}}',
      'engine/index.ts': [
        "import { a } from './a.ts'",
        "import type { B } from './b.ts'",
        "export * from './c.ts'",
        "export type { D } from './d.ts'",
        "import './e.ts'",
        "const f = await import('./f.ts')",
        "type G = import('./g.ts').G",
        "import { more } from '@reveille/kit/more'",
        "import { past } from '@reveille/kit/past'",
        "import fs from 'node:fs'",
        "import { z } from 'a-library'",
        "// import './comment.ts'",
        'const text = `import "./text.ts"`',
      ].join('\n'),
    }
    for (const [path, text] of Object.entries(tree)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    const found = readImports(folder).map(({ to, isType }) => `${to}${isType ? ' (type)' : ''}`)
    assert.deepEqual(found.sort(), [
      '@reveille/kit/past',
      'engine/a.ts',
      'engine/b.ts (type)',
      'engine/c.ts',
      'engine/d.ts (type)',
      'engine/e.ts',
      'engine/f.ts',
      'engine/g.ts (type)',
      'node_modules/a-library',
      'plugins/kit/more.ts',
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})
