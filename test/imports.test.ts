import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { floors } from '../.dependency-cruiser.ts'
import { ensureInstalled } from '../tools/install.js'

const root = resolve(import.meta.dirname, '..')

/** `type` marks the import of a type. */
const allowed = [
  'plugins/echo/index.ts -> plugins/kit/index.ts',
  'plugins/kit/conformance/index.ts -> plugins/kit/channel.ts',
  'runtime/http/index.ts -> engine/index.ts',
  'runtime/gateway.ts -> runtime/dispatch/index.ts',
  'runtime/gateway.ts -> runtime/http/index.ts',
  'runtime/http/index.ts -> runtime/store/port.ts',
  'transforms/review.ts -> engine/transform/define.ts',
  'engine/resolve/render.test.ts -> runtime/http/index.ts',
  'engine/compile/match/a.ts -> engine/resolve/payload.ts',
  'plugins/gmail/mail/body.ts -> type plugins/gmail/google/port.ts',
  'console/data/allowed.ts -> type runtime/store/records.ts',
  'console/pages/live.tsx -> console/parts/parts.tsx',
]

const refused = [
  ['plugins/kit/types.ts -> type engine/index.ts', 'plugins/kit imports no other package'],
  ['engine/resolve/admit/rates.ts -> type plugins/kit/index.ts', 'engine imports no other package'],
  ['plugins/slack/index.ts -> plugins/telegram/index.ts', 'a plugin imports only the kit'],
  ['plugins/slack/parts.ts -> plugins/kit/split.ts', 'a plugin imports only the kit'],
  ['plugins/slack/past.ts -> @reveille/kit/split.ts', 'this import leads nowhere'],
  ['transforms/wrong.ts -> engine/index.ts', 'a transform imports only engine/transform/define'],
  ['runtime/http/load.ts -> type engine/config/load.ts', 'runtime imports only the index files'],
  ['runtime/plugin/host/host.ts -> plugins/echo/index.ts', 'runtime imports only the index files'],
  ['runtime/http/fixture.ts -> test/fixture.ts', 'only tests and tools import tests'],
  ['runtime/http/above.ts -> type runtime/dispatch/options.ts', 'runtime: on a higher floor'],
  ['runtime/dispatch/performer.ts -> type runtime/http/prefer.ts', 'the store is the wall'],
  ['runtime/guard/loop.ts -> runtime/dispatch/index.ts', 'runtime: on a higher floor'],
  ['engine/config/values/duration.ts -> engine/compile/mapping.ts', 'engine: on a higher floor'],
  ['engine/config/file/syntax.ts -> type engine/config/schema/rule.ts', 'engine/config: on a higher floor'],
  ['plugins/gmail/watch/html.ts -> node_modules/html-to-text', 'only plugins/gmail/mail/html/'],
  [
    'plugins/gmail/google/gmail.ts -> type plugins/gmail/watch/cursor.ts',
    'google knows nothing of its users',
  ],
  ['plugins/gmail/mail/posts.ts -> plugins/gmail/google/failure.ts', 'mail knows of Google only'],
  ['plugins/gmail/watch/waiting.ts -> plugins/gmail/connect/credentials.ts', 'watch reads what setup wrote'],
  ['runtime/sources/keeping.ts -> runtime/dispatch/index.ts', 'runtime: on the same floor'],
  ['engine/compile/match/pattern.ts -> type engine/index.ts', 'engine: on a higher floor'],
  ['runtime/reload/main.ts -> runtime/cli/index.ts', 'runtime: on a higher floor'],
  ['console/data/value.ts -> runtime/store/records.ts', 'console imports only the types'],
  ['console/data/engine.ts -> type engine/index.ts', 'console imports only what the API answers'],
  ['console/parts/list.tsx -> console/pages/live.tsx', 'console: on a higher floor'],
  ['runtime/parlour/a.ts -> runtime/store/port.ts', 'runtime: this room has no floor'],
  // A third file hides what the first reaches.
  [
    'plugins/gmail/google/calls.ts -> plugins/gmail/account.ts -> plugins/gmail/watch/far.ts',
    'google knows nothing of its users',
  ],
  // Types close a circle too.
  [
    'runtime/agent/a.ts -> type runtime/agent/b.ts -> runtime/agent/a.ts',
    'files import each other in a circle',
  ],
] as const

test('imports that break a rule are refused, and no others', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-imports-'))
  t.after(() => rm(folder, { recursive: true }))
  await plant(folder, [...allowed, ...refused.map(([chain]) => chain)])
  const violations = await check(folder)
  for (const [chain, rule] of refused) {
    const files = chain.split(/ -> (?:type )?/)
    const found = violations.filter(({ from }) => files.includes(from))
    assert.ok(found.length > 0, `${chain} was allowed`)
    for (const { name } of found) assert.ok(name.startsWith(rule), `${chain}: ${name}`)
  }
  const planted = new Set(refused.flatMap(([chain]) => chain.split(/ -> (?:type )?/)))
  assert.deepEqual(
    violations.filter(({ from }) => !planted.has(from)),
    [],
  )
})

test('every room with a floor exists', () => {
  const rooms = Object.entries(floors).flatMap(([half, rows]) => rows.flat().map((room) => `${half}/${room}`))
  assert.deepEqual(
    rooms.filter((room) => !existsSync(join(root, room))),
    [],
    'remove these rooms from `floors` in .dependency-cruiser.ts',
  )
})

/** Writes files that import each other as the chains say, and empty ones at their ends. */
async function plant(folder: string, chains: readonly string[]): Promise<void> {
  const files = new Map<string, string>()
  for (const chain of chains) {
    const steps = chain.split(' -> ')
    for (const [index, step] of steps.entries()) {
      const next = steps[index + 1]
      const from = step.replace('type ', '')
      files.set(
        from,
        (files.get(from) ?? 'export {}\n') + (next === undefined ? '' : writeImport(from, next)),
      )
    }
  }
  for (const [file, text] of files) {
    if (file.startsWith('@')) continue
    const path = join(folder, file.startsWith('node_modules/') ? `${file}/index.js` : file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}

function writeImport(from: string, to: string): string {
  const file = to.replace('type ', '')
  const isOfPackage = file.startsWith('node_modules/') || file.startsWith('@')
  const specifier = isOfPackage ? file.replace('node_modules/', '') : relative(dirname(from), file)
  const path = isOfPackage || specifier.startsWith('.') ? specifier : `./${specifier}`
  return to.startsWith('type ') ? `import type {} from '${path}'\n` : `import '${path}'\n`
}

async function check(folder: string): Promise<{ from: string; name: string }[]> {
  const home = join(root, 'tools/imports')
  await ensureInstalled(home)
  const program = join(home, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')
  const options = ['--config', join(root, '.dependency-cruiser.ts'), '--output-type', 'json']
  const folders = ['engine', 'runtime', 'console', 'plugins', 'transforms', 'test']
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...options, ...folders], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  })
  const { summary } = JSON.parse(stdout) as {
    summary: { violations: { from: string; rule: { name: string } }[] }
  }
  return summary.violations.map(({ from, rule }) => ({ from, name: rule.name }))
}
