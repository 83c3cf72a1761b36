/** Tests the alert rules: with `promtool` where it is installed (Debian: `prometheus`), and always against the metrics that there are. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { install } from './installation.ts'

const folder = join(import.meta.dirname, '..', 'docs', 'alerts')
const file = join(folder, 'reveille.rules.yml')

const isInstalled = spawnSync('promtool', ['--version']).error === undefined
const options = { skip: isInstalled ? false : 'promtool is not installed (Debian package: prometheus)' }

function promtool(...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, `${stdout}${stderr}`)
}

test('promtool accepts the alert rules', options, () => promtool('check', 'rules', 'reveille.rules.yml'))

test('promtool finds the alerts when they are due', options, () =>
  promtool('test', 'rules', 'reveille.rules.test.yml'),
)

test('promtool finds nothing wrong with the metrics', options, async (t) => {
  const { ask, post } = await install(t, {})
  await post('/hooks/wake', { text: 'hello' })
  const { text: input } = await ask('/metrics')
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
})

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly description: string }
}

test('there are seven alerts, of metrics that the reference lists, each with a sentence and what to do', async () => {
  const { groups } = parse(await readFile(file, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)
  assert.equal(rules.length, 7)
  const reference = await readFile(join(folder, '..', 'reference', 'api.md'), 'utf8')
  for (const { alert, expr, annotations } of rules) {
    const names = [...expr.matchAll(/reveille_\w+/g)].map(([name]) => name)
    assert.ok(names.length > 0, alert)
    for (const name of names) assert.ok(reference.includes(`\`${name}`), `${alert}: ${name}`)
    assert.match(annotations.summary, /\.$/, alert)
    assert.match(annotations.description, /`reveille /, alert)
  }
})
