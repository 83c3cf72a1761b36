/** Tests that a request which a mapping or another setting refuses is kept, explained, reported, and replayed once after the repair. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssueRecord, Page, ReplayJob, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { configuration, type Installation, install, until } from '../installation.ts'

type Listed = RequestRecord & { readonly bodyKept: boolean }

/** The mapping of each endpoint refuses `{ n }`, and its repaired form accepts it. */
const cases = {
  PAYLOAD_SCHEMA: ['schema: { required: [text] }, message: "{{n}}"', 'message: "{{n}}"'],
  ABSENT_FIELD: ['strict: true, message: "{{text}}"', 'strict: true, message: "{{n}}"'],
  EXPRESSION_FAILED: [`message: "{% $number('x') %}"`, 'message: "{% $string(n) %}"'],
  BLANK_TEXT: ['message: "{{text}}"', 'message: "{{n}}"'],
  TOO_MANY_ACTIONS: ['forEach: "[n, n]", message: "{{n}}"', 'message: "{{n}}"'],
  INVALID_FIELD: [`timeoutSeconds: "{% 'soon' %}", message: "{{n}}"`, 'message: "{{n}}"'],
  TOO_LARGE_RENDERED: [`message: "{% $pad('', 300000, 'x') %}"`, 'message: "{{n}}"'],
  TRANSFORM_REFUSED: ['message: "{{n}}", transform: { module: refuse.ts }', 'message: "{{n}}"'],
} as const
const codes = Object.keys(cases) as (keyof typeof cases)[]

const mappings = (repaired: 0 | 1) =>
  `mappings:\n${codes.map((code) => `  - { id: ${code}, match: { path: ${code} }, deliver: false, ${cases[code][repaired]} }`).join('\n')}\n`

const files = (history = '{}') => ({
  'reveille.yaml': `${configuration}history: ${history}\n`.replace('hooks: {', 'hooks: { maxActions: 1,'),
  'mappings/all.yaml': mappings(0),
  'transforms/refuse.ts': `import { defineTransform, refuse } from '@reveille/engine/transform'
export default defineTransform(() => { throw refuse(422, 'not today') })
`,
})

async function postAll({ post }: Installation): Promise<readonly string[]> {
  const ids: string[] = []
  for (const code of codes) {
    const { status, body } = await post(`/hooks/${code}`, { n: 7 })
    assert.deepEqual([status, body['code']], [code === 'TRANSFORM_REFUSED' ? 422 : 400, code])
    ids.push(String(body['requestId']))
  }
  return ids
}

/** Replays by a filter, and resolves with the job at its end. */
async function replay({ ask, read }: Installation, filter: object): Promise<ReplayJob> {
  const { status, body } = await ask('/api/requests/replay', {
    method: 'POST',
    payload: JSON.stringify({ filter }),
  })
  assert.equal(status, 202, JSON.stringify(body))
  return until(async () => {
    const job = await read<ReplayJob>(`/api/jobs/${body['job']}`)
    return job.state === 'running' ? undefined : job
  }, 'the end of the job')
}

async function repair({ write, ask }: Installation): Promise<void> {
  await write('mappings/all.yaml', mappings(1))
  assert.equal((await ask('/api/reload', { method: 'POST' })).status, 200)
}

test('a request that a mapping refuses is stored before the reply, with its body and the reason, but not with `bodies: none`', async (t) => {
  for (const bodies of ['failed', 'none']) {
    const installed = await install(t, files(`{ bodies: ${bodies} }`))
    const { ask, read } = installed
    const ids = await postAll(installed)
    const isKept = bodies === 'failed'
    for (const [index, id] of ids.entries()) {
      const record = await read<Listed>(`/api/requests/${id}`)
      assert.deepEqual(
        [record.outcome, record.code, record.mapping, record.bodyKept, record.trace?.candidates.length],
        ['refused', codes[index], codes[index], isKept, 1],
      )
      assert.equal((await ask(`/api/requests/${id}/as-test`)).status, isKept ? 200 : 409)
      const { text } = await ask(`/api/requests/${id}/body`)
      if (isKept) assert.deepEqual(JSON.parse(text), { n: 7 })
    }
    const { items } = await read<Page<Listed>>('/api/requests?outcome=refused')
    assert.deepEqual(
      items.map(({ id, bodyKept }) => [id, bodyKept]),
      ids.toReversed().map((id) => [id, isKept]),
    )
  }
})

test('after the repair one bulk replay does each of them once, and a second one does none', async (t) => {
  const installed = await install(t, files())
  const { ask, read } = installed
  const ids = await postAll(installed)
  await installed.post('/hooks/BLANK_TEXT', '{')
  const early = await replay(installed, { outcome: 'refused', mapping: 'ABSENT_FIELD' })
  assert.deepEqual([early.total, early.failed], [1, 1], 'it is refused again while nothing is repaired')

  await repair(installed)
  const payload = JSON.stringify({ filter: { outcome: 'refused' }, dryRun: true })
  const counted = await ask('/api/requests/replay', { method: 'POST', payload })
  assert.equal(counted.body['total'], ids.length)
  const dry = await ask(`/api/requests/${ids[0]}/replay`, { method: 'POST', payload: '{"dryRun":true}' })
  assert.equal((dry.body['decision'] as { outcome: string }).outcome, 'accepted')

  const [first = ''] = ids
  const one = await ask(`/api/requests/${first}/replay`, { method: 'POST', payload: '{}' })
  assert.equal(one.body['outcome'], 'accepted')
  const job = await replay(installed, { outcome: 'refused' })
  assert.deepEqual([job.total, job.done, job.skipped, job.failed], [ids.length, ids.length - 1, 1, 0])
  const again = await replay(installed, { outcome: 'refused' })
  assert.deepEqual([again.total, again.done, again.skipped], [ids.length, 0, ids.length])

  const { items: runs } = await read<Page<RunRecord>>('/api/runs?kind=run')
  assert.deepEqual(runs.map(({ mapping = '' }) => mapping).sort(), codes.toSorted())
  const original = await read<Listed>(`/api/requests/${first}`)
  assert.deepEqual([original.outcome, original.mapping], ['refused', codes[0]], 'it stays as it was')
})

test('a mapping that refuses is an issue with code, pointer, count and the command that repairs it', async (t) => {
  const installed = await install(t, files())
  await postAll(installed)
  await installed.post('/hooks/PAYLOAD_SCHEMA', {})
  const issues = await until(async () => {
    const { items } = await installed.read<Page<IssueRecord>>('/api/issues?state=open')
    const found = items.filter(({ code }) => code === 'MAPPING_REFUSES')
    return found.some(({ count }) => count === 2) ? found : undefined
  }, 'the issues')
  assert.deepEqual(
    issues.map(({ subject }) => subject).sort(),
    codes.filter((code) => code !== 'TRANSFORM_REFUSED').sort(),
    'a transform that refuses does what its author wants',
  )
  const schema = issues.find(({ subject }) => subject === 'PAYLOAD_SCHEMA')
  const cause = /^Requests to \/PAYLOAD_SCHEMA are refused with PAYLOAD_SCHEMA at \/text: /
  assert.match(schema?.cause ?? '', cause)
  assert.equal(schema?.next.command, 'reveille replay --outcome refused --mapping PAYLOAD_SCHEMA')
})

test('a request that /hooks/agent refuses because of the configuration is stored, and one with a mistake of its sender is not', async (t) => {
  const installed = await install(t, files())
  for (const [code, body, isKept] of [
    ['CHANNEL_NOT_CONFIGURED', { message: 'a', deliver: true, channel: 'slack' }, true],
    ['UNKNOWN_CHANNEL', { message: 'a', deliver: true, channel: 'nowhere' }, true],
    ['BLANK_TEXT', { message: ' ' }, false],
    ['INVALID_FIELD', { message: 1 }, false],
    ['INVALID_BODY', [], false],
    ['INVALID_JSON', '{', false],
  ] as const) {
    const answer = await installed.post('/hooks/agent', body)
    assert.deepEqual([answer.status, answer.body['code']], [400, code])
    const record = await installed.read<Listed>(`/api/requests/${answer.body['requestId']}`)
    assert.deepEqual([record.outcome, record.bodyKept], ['refused', isKept], code)
    const order = { method: 'POST', payload: '{}' } as const
    const { status } = await installed.ask(`/api/requests/${record.id}/replay`, order)
    assert.equal(status, isKept ? 200 : 409, code)
  }
  const outsiders = await installed.post('/hooks/agent', { message: 'a' }, { authorization: 'Bearer no' })
  const { items } = await installed.read<Page<Listed>>('/api/requests?outcome=refused&code=UNAUTHORIZED')
  assert.deepEqual([outsiders.status, items.map(({ bodyKept }) => bodyKept)], [401, [false]])
})
