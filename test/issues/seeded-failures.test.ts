/**
 * Seeds failures in one gateway, and finds the cause and the next step of each by `reveille issues` alone, and by one
 * request to the API.
 */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { type IssueRecord, severities } from '../../runtime/store/port.ts'
import { gatewayToken, type Installation, install, until } from '../installation.ts'
import { seededFiles, seedFailures, seeds } from './seeds.ts'

test('of the seeded failures each is one issue with its cause and its next step', {
  timeout: 120_000,
}, async (t) => {
  const gateway = await install(t, seededFiles)
  const env = { REVEILLE_URL: await gateway.gateway.listen(), REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const { run } = await createCommandLine(t, {}, { env, fetch })
  const read = () => gateway.read<{ items: IssueRecord[] }>('/api/issues')
  await seedFailures(gateway)

  const { items } = await read()
  const { out: printed } = await run('issues')

  const folded = printed.replaceAll(/\s+/g, ' ')
  for (const [what, { key, cause, command }] of Object.entries(seeds)) {
    const found = items.filter((issue) => issue.key === key)
    assert.equal(found.length, 1, what)
    const [issue] = found
    assert.equal(issue?.state, 'open', what)
    assert.match(issue?.cause ?? '', cause, what)
    assert.match(issue?.next.command ?? '', command, what)
    assert.ok(issue?.next.label, what)
    assert.ok(issue !== undefined && issue.count > 0 && issue.first <= issue.last, what)
    // The command line says the same.
    assert.ok(folded.includes(key), `${what}: ${key} is not in ${printed}`)
    assert.match(folded, new RegExp(cause.source.replace(/\$$/, '')), what)
  }
  const opened = items.filter(({ state }) => state === 'open')
  const counts = severities.map((each) => [each, opened.filter(({ severity }) => severity === each).length])
  const { issues } = await gateway.read<{ issues: object }>('/api/status')
  assert.deepEqual(issues, Object.fromEntries(counts))
  assert.match((await run('status')).out, new RegExp(`^worst +${items[0]?.severity}: ${items[0]?.key}\n`))
  // Nothing else is wrong with this gateway.
  // A wake without its field is refused, too, so that the drift has two issues.
  const expected = [...Object.values(seeds).map(({ key }) => key), 'MAPPING_REFUSES:sensor']
  assert.deepEqual(
    items.filter(({ key, state }) => state === 'open' && !expected.includes(key)),
    [],
  )
  await checkEvents(
    gateway,
    items.filter(({ key }) => expected.includes(key)),
  )
  await fixAll(gateway, seededFiles)
  // Requests that a mapping refused wait to be replayed.
  const unmendable = ['BUDGET_SPENT', 'DUPLICATES', 'LOOP', 'MAPPING_REFUSES', 'SOURCE_STOPPED', 'TIMEOUTS']
  await until(async () => {
    const left = (await read()).items.filter(({ state }) => state === 'open').map(({ code }) => code)
    return left.every((code) => unmendable.includes(code)) || undefined
  }, 'the end of what was fixed')
})

/** The main session gets at most one event about each issue, which shows nothing that a sender sent. */
async function checkEvents({ read }: Installation, issues: readonly IssueRecord[]): Promise<void> {
  // The API shows an issue before it is written with its event.
  const isWritten = (text: string) => text.includes('(TIMEOUTS, slow)')
  const { items } = await until(async () => {
    const page = await read<{ items: { text: string; trusted: boolean }[] }>('/api/events?limit=500')
    return page.items.some(({ text }) => isWritten(text)) ? page : undefined
  }, 'the event about the last of the seeds')
  const texts = items.map(({ text }) => text).filter((text) => text.startsWith('An issue has opened'))
  assert.equal(items.filter(({ text }) => /loop/.test(text)).length, 1, 'a loop is reported once')
  assert.equal(new Set(texts).size, texts.length)
  for (const { code, subject } of issues) {
    const isSaid = texts.some((text) => text.includes(`(${code}, ${subject})`))
    // Dispatch posts an event of its own about the one, and anybody can open the other.
    assert.equal(isSaid, code !== 'BUDGET_SPENT' && code !== 'SIGNATURE_REFUSED', `${code} ${subject}`)
  }
  assert.doesNotMatch(texts.join(), /Paid|lines|undefined|kelvin|[0-9a-f]{8}-[0-9a-f]{4}-7/)
}

/** Removes the causes, and lets requests show that they are gone. */
async function fixAll(
  { folder, post, write, ask }: Installation,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await rm(join(folder, 'mappings/broken.yaml'))
  await write('transforms/order.ts', 'export default () => ({ message: "An order." })\n')
  const fixed = String(files['reveille.yaml'])
    .replace('locked: {}', 'locked: { key: right }')
    .replace('expectEvery: 1s', 'expectEvery: 1h')
  await write('reveille.yaml', fixed)
  assert.equal((await ask('/api/reload', { method: 'POST' })).status, 200)
  const signed = JSON.stringify({ number: 2 })
  const signature = createHmac('sha256', 'the-right-secret-of-github').update(signed).digest('hex')
  await post('/hooks/github', signed, { 'x-hub-signature-256': `sha256=${signature}` })
  await post('/hooks/shop', { status: 'paid', currency: 'EUR' })
  await post('/hooks/orders', { order: 8 })
  await post('/hooks/meter', { value: 1 })
  await post('/hooks/sensors', { reading: { celsius: 21 } })
}
