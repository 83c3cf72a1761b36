import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { floors } from '../.dependency-cruiser.ts'
import { ensureInstalled } from '../tools/install.js'

const root = resolve(import.meta.dirname, '..')

const rows = readFileSync(join(import.meta.dirname, 'imports.txt'), 'utf8')
  .split('\n')
  .filter((row) => /^[^#]/.test(row))
  .map((row) => row.split(' ⇒ '))
const chains = rows.map(([chain = '']) => chain)
const refused = rows.flatMap(([chain = '', rule]) => (rule === undefined ? [] : [[chain, rule] as const]))

test('imports that break a rule are refused, and no others', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-imports-'))
  t.after(() => rm(folder, { recursive: true }))
  await plant(folder, chains)
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
