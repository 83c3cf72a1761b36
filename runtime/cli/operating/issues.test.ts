import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asked, createGatewayCommands } from '../io-fixture.ts'

const now = Date.UTC(2026, 2, 2, 12)

const items = [
  {
    key: 'TRANSFORM_FAILING:orders',
    code: 'TRANSFORM_FAILING',
    severity: 'failing',
    subject: 'orders',
    cause: 'Requests to /orders end with TRANSFORM_FAILED: order.ts: \u202eboom (transforms/order.ts:2:3).',
    next: { label: 'Fix the transform (`reveille lint`)', command: 'reveille try 0123' },
    count: 12,
    first: now - 3_600_000,
    last: now - 60_000,
    state: 'open',
  },
  {
    key: 'SILENCE:stripe',
    code: 'SILENCE',
    severity: 'losing-events',
    subject: 'stripe',
    cause: 'No request has arrived at /stripe.',
    next: { label: 'See what the sender says' },
    count: 1,
    first: now,
    last: now,
    state: 'muted',
  },
]

/** A command line whose gateway has these issues. */
function open(t: Parameters<typeof createGatewayCommands>[0]) {
  const answer = ({ route }: Asked) => {
    if (!route.startsWith('GET')) return { ok: true }
    const state = new URL(route.slice(4), 'http://gateway').searchParams.get('state')
    return { items: items.filter((item) => state === null || item.state === state) }
  }
  return createGatewayCommands(t, answer, { columns: 72 })
}

test('open issues are listed with cause and next step, and nothing in them controls the terminal', async (t) => {
  const { run } = await open(t)
  const { code, out } = await run('issues')
  assert.equal(code, 0)
  assert.match(
    out,
    /failing\S* {2}\S*TRANSFORM_FAILING:orders\S*\n {2}12 times since \d\d:\d\d:\d\d, last \d\d:\d\d:\d\d/,
  )
  assert.match(
    out.replaceAll(/\s+/g, ' '),
    /boom \(transforms\/order\.ts:2:3\)\. → Fix the transform \(`reveille lint`\): reveille try 0123/,
  )
  assert.doesNotMatch(out, /\u202e|SILENCE/)
  const all = await run('issues', '--all')
  assert.match(all.out, /SILENCE:stripe.* {2}muted/)
  const json = await run('issues', '--json')
  assert.equal(JSON.parse(json.out).items[0].key, 'TRANSFORM_FAILING:orders')
})

test('issues are resolved, muted and reopened by their keys, or by the beginning of one', async (t) => {
  const { run, asked } = await open(t)
  assert.equal((await run('resolve', 'transform_failing')).code, 0)
  assert.equal((await run('mute', 'TRANSFORM_FAILING:orders', '--for', '8h')).code, 0)
  assert.equal((await run('mute', 'SILENCE:stripe')).code, 0)
  assert.match((await run('reopen', 'SILENCE:stripe')).out, /SILENCE:stripe: open again/)
  assert.deepEqual(
    asked.filter(({ route }) => route.startsWith('POST')).map(({ route, body }) => [route.slice(17), body]),
    [
      ['resolve', { key: 'TRANSFORM_FAILING:orders' }],
      ['mute', { key: 'TRANSFORM_FAILING:orders', until: now + 8 * 3_600_000 }],
      ['mute', { key: 'SILENCE:stripe' }],
      ['reopen', { key: 'SILENCE:stripe' }],
    ],
  )
})

test('the answer as JSON names each key; an unknown one and a wrong duration are refused', async (t) => {
  const { play } = await open(t)
  await play(`
$ mute SILENCE:stripe --json
      "key": "SILENCE:stripe",
      "ok": true
1 $ resolve LOOP:none
! There is no issue LOOP:none; \`reveille issues --all\` lists them…
2 $ mute SILENCE:stripe --for ever
! …It must be a duration such as 30m, 8h or 7d…
`)
})
