/** Operates a real gateway through its console: with a pointer, and again by keyboard alone. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayToken, hookToken, rehearsalPlugin, until } from '../installation.ts'
import { octokitSamples } from '../sample-data.ts'
import { becomesTrue, inBrowser, keyboard, type Operator, openConsole, pointer } from './browser.ts'

const files = {
  'reveille.yaml': `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
history: { bodies: all }
hooks:
  enabled: true
  token: ${hookToken}
plugins: ["${rehearsalPlugin}"]
channels: { terminal: {}, board: { folder: "{folder}" } }
`,
  'mappings/all.yaml': `mappings:
  - id: review
    match:
      path: github
      headers: { x-github-event: pull_request }
      body: { action: opened }
    action: agent
    name: Review
    deliver: false
    message: "Review {{pull_request.title}}"
  - id: orders
    match: { path: orders }
    message: "Order {{order.id}}"
    deliver: false
    transform: { module: orders.ts }
  - id: news
    match: { path: news }
    wakeMode: next-heartbeat
    message: "News: {{title}}"
`,
  'transforms/orders.ts': transform(
    "if (!payload.order.customer) throw new Error('an order without a customer')",
  ),
}

function transform(body: string): string {
  return `import { defineTransform } from '@reveille/engine/transform'
export default defineTransform(({ payload }) => {
  ${body}
})
`
}

const synchronized = octokitSamples().find(({ body }) => /^\{"action":"synchronize"/.test(body))

for (const operator of [pointer, keyboard]) {
  test(
    `an operator signs in, sees what GitHub sent arrive, and why nothing matched, ${operator.name}`,
    inBrowser,
    async (t) => {
      const { page, open, signIn, post, browserErrors } = await openConsole(t, files)
      await open('')
      await signIn()
      await page.getByRole('heading', { name: 'Live' }).waitFor()
      await page.getByText('Nothing has arrived yet.').waitFor()
      await page.locator('.connection.is-live').waitFor()

      const answer = await post('/hooks/github', synchronized?.body, synchronized?.headers)
      assert.equal(answer.body['outcome'] ?? answer.status, answer.body['outcome'] ?? 200)
      const row = page.getByRole('link', { name: /ignored.*\/github/ })
      await row.waitFor()
      await operator.use(page, row)

      await page.getByRole('heading', { name: '/github' }).waitFor()
      const failed = page.locator('.candidate', { hasText: 'review' })
      for (const said of ['match.body.action', '"opened"', '"synchronize"'])
        await failed.getByText(said).first().waitFor()
      await page.getByText('x-github-event').first().waitFor()
      assert.deepEqual(browserErrors(), [])
    },
  )

  test(
    `a failed request is tried and then replayed once its mapping is fixed, ${operator.name}`,
    inBrowser,
    async (t) => {
      const { page, open, signIn, post, write, gateway, read, browserErrors } = await openConsole(t, files)
      const failed = await post('/hooks/orders', { order: { id: 'A-17' } })
      assert.equal(failed.status, 500)
      await open('')
      await signIn()
      await write('transforms/orders.ts', transform('return {}'))
      assert.equal((await gateway.reload()).ok, true)

      await operator.use(page, page.getByRole('link', { name: /failed.*\/orders/ }))
      await operator.use(page, page.getByRole('button', { name: 'Replay', exact: true }))
      await page.getByText('A dry run, which changed nothing').waitFor()
      const before = await read<{ items: unknown[] }>('/api/requests')
      assert.equal(before.items.length, 1, 'a dry run leaves no record')

      await operator.use(page, page.getByRole('button', { name: 'Replay now' }))
      await page.getByText('replay of').waitFor()
      const after = await read<{ items: { outcome: string; replayOf?: string; id: string }[] }>(
        '/api/requests',
      )
      const [replay, original] = after.items
      assert.deepEqual([replay?.outcome, replay?.replayOf], ['accepted', original?.id])
      assert.equal(original?.outcome, 'failed', 'the original stays as it was')
      assert.deepEqual(browserErrors(), [])
    },
  )

  test(`a payload is edited, tried and replayed, ${operator.name}`, inBrowser, async (t) => {
    const { page, open, signIn, post, read, browserErrors } = await openConsole(t, files)
    const failed = await post('/hooks/orders', { order: { id: 'A-18', note: hookToken } })
    await open(`/requests/${failed.body['requestId']}`)
    await signIn()
    await operator.use(page, page.getByRole('button', { name: 'Edit and replay' }))
    const field = page.getByLabel('Payload')
    await field.waitFor()
    assert.match(await field.inputValue(), /"A-18"/)
    await becomesTrue(page, `document.activeElement?.textContent === 'Edit and replay'`)
    assert.match(await field.inputValue(), /"note": "\[redacted\]"/)
    await operator.use(page, page.getByRole('button', { name: 'Edit raw payload' }))
    await becomesTrue(page, `document.activeElement?.value?.includes('${hookToken}')`)
    const fixed = '{"order":{"id":"A-18","customer":"Ada"}}'
    if (operator === keyboard) await reachAndReplace(page, field, fixed)
    else await field.fill(fixed)
    await operator.use(page, page.getByRole('button', { name: 'Dry run' }))
    await page.locator('.tried').getByText('accepted').first().waitFor()
    const list = () => read<{ items: { outcome: string; id: string }[] }>('/api/requests')
    assert.equal((await list()).items.length, 1)
    await operator.use(page, page.getByRole('button', { name: 'Replay edited' }))
    await page.getByText('replay of').waitFor()
    const { items } = await list()
    assert.deepEqual(
      items.map(({ outcome }) => outcome),
      ['accepted', 'failed'],
    )
    assert.deepEqual(browserErrors(), [])
  })

  test(
    `a parked delivery is sent again once it has somewhere to go, ${operator.name}`,
    inBrowser,
    async (t) => {
      const { page, open, signIn, post, ask, board, read, browserErrors } = await openConsole(t, files)
      await post('/hooks/news', { title: 'It rains' })
      await until(async () => {
        const { items } = await read<{ items: { state: string }[] }>('/api/deliveries')
        return items[0]?.state === 'parked' ? true : undefined
      }, 'the parked delivery')
      await ask('/api/route', { method: 'PUT', payload: JSON.stringify({ channel: 'board', to: 'ada' }) })

      await open('/runs')
      await signIn()
      await operator.use(page, page.getByRole('link', { name: 'Deliveries' }))
      await operator.use(page, page.getByRole('link', { name: /parked/ }))
      await operator.use(page, page.getByRole('button', { name: 'Send again' }))
      await page.locator('.toolbar .badge', { hasText: 'delivered' }).waitFor()
      assert.deepEqual(
        (await board()).map(({ to }) => to),
        ['ada'],
      )
      assert.deepEqual(browserErrors(), [])
    },
  )
}

test('a wrong token is refused with a sentence, and signing out ends the session', inBrowser, async (t) => {
  const { page, open, signIn, browserErrors } = await openConsole(t, files)
  await open('/runs')
  await signIn('wrong')
  await page.getByRole('alert').getByText('This is not the gateway token.').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type(gatewayToken)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Gateway token').waitFor()
  await page.reload()
  await page.getByLabel('Gateway token').waitFor()
  assert.deepEqual(browserErrors(), [])
})

test(
  'the feed is paused, goes on with what came meanwhile, and keeps focus and place when rows arrive',
  inBrowser,
  async (t) => {
    const { page, open, signIn, post, browserErrors } = await openConsole(t, files)
    for (const title of ['one', 'two', 'three']) await post('/hooks/news', { title })
    await open('/live')
    await signIn()
    const rows = page.locator('a.row')
    await page.locator('.connection.is-live').waitFor()
    await rows.nth(2).waitFor()
    await page.evaluate('document.activeElement?.blur()')
    for (const row of [0, 1]) {
      await page.keyboard.press('ArrowDown')
      await becomesTrue(page, `document.querySelectorAll('a.row')[${row}] === document.activeElement`)
    }
    const focused = () =>
      page.evaluate<[string, number]>(
        `[document.activeElement.getAttribute('data-id'), document.activeElement.getBoundingClientRect().top]`,
      )
    const [id, top] = await focused()
    await post('/hooks/news', { title: 'four' })
    await becomesTrue(page, `document.querySelectorAll('a.row').length === 4`)
    const [sameId] = await focused()
    assert.equal(sameId, id)
    assert.equal(typeof top, 'number')

    await page.keyboard.press('p')
    await page.getByRole('button', { name: 'Go on' }).waitFor()
    await post('/hooks/news', { title: 'five' })
    await page.getByText('New requests').waitFor()
    assert.equal(await rows.count(), 4)
    await page.keyboard.press('p')
    await becomesTrue(page, `document.querySelectorAll('a.row').length === 5`)
    await page.locator('#live-region', { hasText: 'new request' }).waitFor({ state: 'attached' })
    assert.deepEqual(browserErrors(), [])
  },
)

test('older requests that were read stay on the page when others arrive', inBrowser, async (t) => {
  const { page, open, signIn, post, browserErrors } = await openConsole(t, files)
  for (let count = 0; count < 105; count++) await post('/hooks/news', { title: `number ${count}` })
  await open('/live')
  await signIn()
  const hasRows = (count: number) =>
    becomesTrue(page, `document.querySelectorAll('a.row').length === ${count}`)
  await hasRows(100)
  await page.locator('.connection.is-live').waitFor()
  await page.getByRole('button', { name: 'Show older requests' }).click()
  await hasRows(105)
  await post('/hooks/news', { title: 'one more' })
  await hasRows(106)
  assert.deepEqual(browserErrors(), [])
})

test('a refusal of a transform is not a failure, and a run shows how long it took', inBrowser, async (t) => {
  const refusing = transform("if (payload.order.id === 'no') refuse(422, 'no such order')").replace(
    '{ defineTransform }',
    '{ defineTransform, refuse }',
  )
  const { page, open, signIn, post } = await openConsole(t, {
    ...files,
    'transforms/orders.ts': refusing,
  })
  const refused = await post('/hooks/orders', { order: { id: 'no' } })
  assert.equal(refused.status, 422)
  await open('/live')
  await signIn()
  const row = page.locator('a.row', { hasText: '/orders' })
  await row.locator('.badge.tone-quiet', { hasText: 'refused' }).waitFor()
  assert.equal(await row.evaluate((element) => element.classList.contains('tone-bad')), false)
  assert.equal((await post('/hooks/orders', { order: { id: 'yes' } })).status, 202)
  await open('/runs')
  await page.locator('a.row .row-status', { hasText: /^(< 1|\d+) ms|\d s$/ }).waitFor()
})

test('the gateway says why a request cannot be replayed', inBrowser, async (t) => {
  const { page, open, signIn, post, read } = await openConsole(t, files)
  await post('/hooks/news', { title: 'one' }, { authorization: 'Bearer wrong' })
  const { items } = await read<{ items: { id: string }[] }>('/api/requests')
  await open(`/requests/${items[0]?.id}`)
  await signIn()
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByRole('alert').getByText('before any mapping was asked').waitFor()
  assert.ok(await page.getByRole('button', { name: 'Replay now' }).isDisabled())
})

test('a parked delivery is sent to another address', inBrowser, async (t) => {
  const yaml = files['reveille.yaml'].replace(/$/, 'agents: { route: { channel: board, to: nobody } }\n')
  const { page, open, signIn, post, board, read } = await openConsole(t, { ...files, 'reveille.yaml': yaml })
  await post('/hooks/news', { title: 'It rains' })
  const parked = await until(async () => {
    const { items } = await read<{ items: { id: string; state: string }[] }>('/api/deliveries')
    return items.find(({ state }) => state === 'parked')
  }, 'the parked delivery')
  await open(`/deliveries/${parked.id}`)
  await signIn()
  await page.getByLabel('Another channel').fill('board')
  await page.getByLabel('Recipient').fill('ada')
  await page.getByRole('button', { name: 'Send its text there' }).click()
  await page.getByText('The parked delivery stays.').waitFor()
  await page.getByRole('button', { name: 'Send its text there' }).click()
  await until(
    async () => ((await board()).some(({ to }) => to === 'ada') ? true : undefined),
    'the message to Ada',
  )
})

test('filters are in the address, and what arrives passes them too', inBrowser, async (t) => {
  const { page, open, signIn, post, browserErrors } = await openConsole(t, files)
  await post('/hooks/news', { title: 'one' })
  await post('/hooks/orders', { order: {} })
  await open('/live?outcome=failed')
  await signIn()
  await page.getByRole('link', { name: /failed.*orders/ }).waitFor()
  await page.locator('.connection.is-live').waitFor()
  assert.equal(await page.locator('a.row').count(), 1)
  await post('/hooks/news', { title: 'two' })
  await post('/hooks/orders', { order: {} })
  await becomesTrue(page, `document.querySelectorAll('a.row').length === 2`)
  await page.getByText('accepted', { exact: false }).first().click()
  assert.match(page.url(), /outcome=accepted/)
  await becomesTrue(page, `document.querySelectorAll('a.row').length === 2`)
  assert.deepEqual(browserErrors(), [])
})

test(
  'all requests that pass the filters are done over by a job, which shows how far it is',
  inBrowser,
  async (t) => {
    const { page, open, signIn, post, write, gateway, browserErrors } = await openConsole(t, files)
    for (const id of ['A-1', 'A-2', 'A-3']) await post('/hooks/orders', { order: { id } })
    await write('transforms/orders.ts', transform('return {}'))
    assert.equal((await gateway.reload()).ok, true)
    await open('/live?outcome=failed&since=2026-01-01T00:00:00Z')
    await signIn()
    await page.locator('.choices label', { hasText: /^failed3$/ }).waitFor()
    await page.getByRole('button', { name: 'Replay all that pass' }).click()
    await page.getByRole('button', { name: 'Replay 3 requests' }).click()
    await page.getByText('3 requests are done over, each once.').waitFor()
    await page.getByRole('button', { name: 'Replay 3 requests' }).click()
    const job = page.getByRole('link', { name: /done.*3 requests/ })
    await job.waitFor()
    await job.click()
    await page.locator('.facts > div', { hasText: 'accepted' }).getByText('3').waitFor()
    await page
      .locator('.facts > div', { hasText: 'filter' })
      .getByText(/^outcome failed, since .*\d\d:\d\d:\d\d$/)
      .waitFor()
    assert.deepEqual(browserErrors(), [])
  },
)

const pressEscape = `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))`

test('any id that is pasted into the search opens its record', inBrowser, async (t) => {
  const { page, open, signIn, post, browserErrors } = await openConsole(t, files)
  const { body } = await post('/hooks/news', { title: 'one' })
  await open('/issues')
  await signIn()
  await page.getByRole('heading', { name: 'Issues' }).waitFor()
  for (const [id, title] of [
    [body['requestId'], '/news'],
    [body['runId'], 'Run'],
  ] as const) {
    await page.keyboard.press('/')
    await page.keyboard.type(String(id))
    await page.keyboard.press('Enter')
    const heading = page.getByRole('heading', { name: title, level: 1 })
    await heading.waitFor()
    // A new page takes the focus once it is drawn.
    await becomesTrue(page, "document.activeElement?.id === 'main'")
    // Pressed twice before the browser has gone back, it is one step.
    await page.evaluate(`${pressEscape};${pressEscape}`)
    await page.getByRole('heading', { name: 'Issues' }).waitFor()
    await becomesTrue(page, "document.activeElement?.id === 'main'")
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.getByRole('heading', { name: 'Issues' }).waitFor()
  assert.deepEqual(browserErrors(), [])
})

test('typed text is still there after the session ended', inBrowser, async (t) => {
  const { page, open, signIn, post } = await openConsole(t, files)
  const failed = await post('/hooks/orders', { order: { id: 'A-19' } })
  await open(`/requests/${failed.body['requestId']}`)
  await signIn()
  await page.getByRole('button', { name: 'Edit and replay' }).click()
  const field = page.getByLabel('Payload')
  await field.fill('{"order":{"customer":"Grace"}}')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Dry run' }).click()
  await signIn()
  await field.waitFor()
  assert.equal(await field.inputValue(), '{"order":{"customer":"Grace"}}')
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.locator('.tried').getByText('accepted').first().waitFor()
})

test(
  'the first Tab offers to skip to the page, and the switch of the colours is remembered',
  inBrowser,
  async (t) => {
    const { page, open, signIn, browserErrors } = await openConsole(t, files)
    await open('/runs')
    await signIn()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.keyboard.press('Tab')
    await becomesTrue(page, `document.activeElement.textContent === 'Skip to the page'`)
    await page.keyboard.press('Enter')
    await becomesTrue(page, `document.activeElement.id === 'main'`)
    const scheme = `getComputedStyle(document.documentElement).colorScheme`
    for (const expected of ['light', 'dark']) {
      await keyboard.use(page, page.getByRole('button', { name: /^Colours/ }))
      await becomesTrue(page, `${scheme} === '${expected}'`)
    }
    await page.reload()
    await becomesTrue(page, `${scheme} === 'dark'`)
    assert.deepEqual(browserErrors(), [])
  },
)

async function reachAndReplace(
  page: Parameters<Operator['use']>[0],
  field: Parameters<Operator['use']>[1],
  text: string,
) {
  const { reach } = await import('./browser.ts')
  await reach(page, field)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}
