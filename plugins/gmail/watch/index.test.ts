import assert from 'node:assert/strict'
import { dayMs, hourMs, minuteMs, secondMs } from '../durations.ts'
import { failure } from './test-bed/fault.ts'
import { test } from './test-bed/world.ts'

test('mails from before the first start are not posted, and later ones are', async (world) => {
  const { clock, gateway, google } = world
  google.deliver()
  world.start()
  await clock.until(() => world.events().includes('gmail-watching'))
  assert.deepEqual(world.line('gmail-watching')?.facts, {
    account: 'ada@example.com',
    historyId: String(google.historyId),
  })
  const mail = google.deliver()
  await world.idle()
  assert.deepEqual([...gateway.taken], [[mail.id, 1]])
  const posted = { source: 'gmail', account: 'ada@example.com', historyId: String(mail.historyId) }
  assert.partialDeepStrictEqual(gateway.posts[0], posted)
  assert.equal(world.state(), 'working')
  assert.equal(world.reports.at(-1)?.counts?.['posted'], 1)
  assert.deepEqual(Object.keys(world.reports.at(-1)?.times ?? {}).sort(), ['lastMail', 'readAt'])
})

test('without a consent the source waits, says what to run, and begins within ten seconds of the consent', async (world) => {
  const { clock, disk, google } = world
  disk.delete('credentials')
  world.start()
  await clock.pass(hourMs)
  assert.equal(world.state(), 'waiting')
  assert.match(world.detail(), /reveille webhooks gmail setup/)
  disk.set('credentials', '{"acc')
  await clock.pass(minuteMs)
  assert.match(world.detail(), /damaged/)
  world.consent({ account: 'eve@example.com' })
  await clock.pass(minuteMs)
  assert.match(world.detail(), /another account than ada@example\.com/)
  assert.doesNotMatch(world.detail(), /eve@/)
  assert.deepEqual(google.calls, [])
  world.consent()
  await clock.until(() => world.state() === 'working', 11 * secondMs)
})

for (const code of ['consent-revoked', 'bad-client', 'missing-scope'])
  test(`after ${code} Google is not asked again until there is another consent`, async (world) => {
    const { clock, google } = world
    await world.watch()
    world.fail('history', code, { retryable: false })
    const mail = google.deliver()
    await clock.until(() => world.state() === 'waiting')
    const calls = google.calls.length
    await clock.pass(50 * minuteMs)
    assert.equal(google.calls.length, calls)
    world.consent({ refreshToken: 'another' })
    await clock.pass(15 * secondMs)
    assert.equal(world.gateway.taken.get(mail.id), 1)
    assert.equal(world.state(), 'working')
  })

test('a renewed access token does not count as another consent, and the same consent is retried after an hour', async (world) => {
  const { clock, google } = world
  const before = () => world.consent({ accessToken: 'renewed', accessTokenExpiresAt: 1 })
  world.inject('labels', { before, after: failure('consent-revoked', { retryable: false }) })
  world.start()
  await clock.pass(50 * minuteMs)
  assert.deepEqual(google.calls, ['labels'])
  await clock.until(() => world.state() === 'working', 11 * minuteMs)
})

test('a refused consent is used again once setup has renewed it', async (world) => {
  world.fail('labels', 'consent-revoked', { retryable: false })
  world.start()
  await world.clock.pass(minuteMs)
  assert.equal(world.state(), 'waiting')
  world.consent({ accessToken: 'of setup', accessTokenExpiresAt: 1 })
  await world.clock.until(() => world.state() === 'working', 11 * secondMs)
})

test('a consent that was stored while Google refused the earlier one is used at once', async (world) => {
  const before = () => world.consent({ refreshToken: 'another' })
  world.inject('labels', { before, after: failure('consent-revoked', { retryable: false }) })
  world.start()
  await world.clock.until(() => world.state() === 'working', secondMs)
})

test('a label is found by its name in any case, and a missing label is looked for every minute', async (world) => {
  const { clock, gateway, google } = world
  const labels = google.labels
  google.labels = [
    { id: 'INBOX', name: 'INBOX' },
    { id: 'Label_9', name: 'Invoice' },
  ]
  world.start({ label: 'invoices' })
  await clock.pass(10 * minuteMs)
  assert.equal(world.state(), 'waiting')
  assert.match(world.detail(), /no label "invoices"\. Nearest are "Invoice", "INBOX"/)
  assert.equal(google.calls.length, 11)
  assert.deepEqual(world.lines, [], 'the host tells what is reported')
  google.labels = labels
  await clock.until(() => world.state() === 'working', minuteMs)
  google.deliver()
  const mail = google.deliver({ labels: ['Label_7'] })
  await world.idle()
  assert.deepEqual([...gateway.taken.keys()], [mail.id])
})

test('a label that was deleted and made again is watched under its new id', async (world) => {
  const { clock, gateway, google } = world
  await world.watch({ label: 'Invoices' })
  google.labels = [{ id: 'INBOX', name: 'INBOX' }]
  for (const operation of ['history', 'list']) world.fail(operation, 'bad-request', { retryable: false })
  google.deliver({ labels: ['Label_7'] })
  await clock.pass(5 * minuteMs)
  assert.match(world.detail(), /no label "Invoices"/)
  google.labels = [{ id: 'Label_8', name: 'Invoices' }]
  await clock.pass(2 * minuteMs)
  const mail = google.deliver({ labels: ['Label_8'] })
  await world.idle()
  assert.ok(gateway.taken.has(mail.id))
})

for (const [what, historyId, isRefused] of [
  ['a history id that Google never gave', '9'.repeat(20), true],
  ['a history that is behind the cursor, as of a recreated account,', '99999999', false],
] as const)
  test(`${what} leads to a listing, and the mailbox is read on from there`, async (world) => {
    const { clock, disk, gateway, google } = world
    const mail = google.deliver()
    disk.set('cursor', JSON.stringify({ account: google.account, historyId, readAt: clock.now() }))
    if (isRefused) world.fail('history', 'bad-request', { retryable: false })
    world.start()
    await clock.until(() => gateway.taken.has(mail.id), 0)
    const next = google.deliver()
    await clock.until(() => gateway.taken.has(next.id), minuteMs)
    assert.equal(world.cursor()?.historyId, String(google.historyId))
  })

test('the history is read at the start and then at the interval, and nothing is written while nothing happens', async (world) => {
  const { clock, gateway, google } = world
  await world.watch({ pollSeconds: 30 })
  let writes = 0
  world.onWritten = () => {
    writes += 1
  }
  assert.equal(google.countOf('history'), 1)
  await clock.pass(5 * minuteMs)
  assert.deepEqual([google.countOf('history'), writes], [11, 0])
  assert.equal(world.reports.at(-1)?.times?.['readAt'], clock.now() - secondMs)
  const mail = google.deliver()
  await clock.until(() => gateway.taken.has(mail.id), 30 * secondMs)
  google.change()
  await clock.until(() => world.reached(), 30 * secondMs)
})

for (const [code, retryable] of [
  ['unavailable', true],
  ['network', true],
  ['malformed', true],
  ['malformed', false],
] as const)
  test(`a mail for which Google only answers ${code}${retryable ? '' : ' for good'} is logged, does not block others, and is retried`, async (world) => {
    const { clock, gateway, google } = world
    await world.watch()
    world.fail('message', code, { retryable, count: retryable ? 8 : 5 })
    const first = google.deliver()
    await world.idle()
    const second = google.deliver()
    await world.idle()
    assert.deepEqual([...gateway.taken.keys()], [second.id])
    const facts = { id: first.id, code: `GOOGLE_${code.toUpperCase()}` }
    assert.deepEqual(world.line('gmail-mail-refused')?.facts, facts)
    assert.equal(world.cursor()?.refused[0]?.id, first.id)
    await clock.pass(2 * minuteMs)
    assert.ok(gateway.taken.has(first.id))
    assert.deepEqual([world.cursor()?.refused, world.state()], [[], 'working'])
  })

test('a mail that the gateway refuses for a week is given up with an error, and each start retries it at once', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  let tries = 0
  const bad = google.deliver()
  gateway.rule = ({ messages }) => {
    if (!messages.some(({ id }) => id === bad.id)) return undefined
    if (messages.length === 1) tries += 1
    return { status: 422, code: 'NOT_VALID' }
  }
  await world.idle()
  assert.equal(tries, 1)
  await clock.pass(20 * secondMs)
  await world.stop()
  world.start()
  await clock.pass(secondMs)
  assert.equal(tries, 2)
  await clock.pass(dayMs)
  assert.ok(tries > 24 && tries < 40, `${tries}`)
  // Stands for the days between.
  clock.set(5 * dayMs)
  await clock.pass(2 * hourMs)
  assert.equal(world.cursor()?.refused.length, 1)
  await clock.pass(dayMs)
  assert.deepEqual(world.cursor()?.refused, [])
  const { level, facts } = world.line('gmail-mail-given-up') ?? {}
  assert.equal(level, 'error')
  assert.equal(facts?.['id'], bad.id)
  assert.equal(world.events().filter((event) => event === 'gmail-mail-refused').length, 1)
})

for (const [count, cut, level] of [
  [5, 0, 'warn'],
  [1202, 203, 'error'],
] as const)
  test(`${count} mails and a known one are listed after an expired history, oldest first, and ${cut} are logged as left out`, async (world) => {
    const { clock, gateway, google } = world
    await world.watch()
    const known = google.deliver()
    await world.idle()
    await world.stop()
    await clock.pass(3 * hourMs)
    const mails = Array.from({ length: count }, () => google.deliver())
    google.expireHistory()
    world.start()
    await world.idle()
    const posted = gateway.posts.flatMap(({ messages }) => messages.map(({ id }) => id))
    const wanted = [known, ...mails.slice(-1000)].map(({ id }) => id)
    assert.deepEqual(posted, wanted)
    const line = world.line('gmail-history-expired')
    assert.equal(line?.level, level)
    assert.partialDeepStrictEqual(line?.facts, { posted: mails.slice(-1000).length, cut })
  })

for (const [name, text] of [
  ['cut off', '{"account":"ada@ex'],
  ['of another shape', '[1,2]'],
  ['without a history id', '{"account":"ada@example.com","historyId":{},"readAt":"never","recent":4}'],
] as const)
  test(`a cursor that is ${name} loses no mail of the last day`, async (world) => {
    const { clock, disk, gateway, google } = world
    google.deliver()
    await clock.pass(2 * dayMs)
    const mail = google.deliver()
    await clock.pass(20 * hourMs)
    disk.set('cursor', text)
    world.start()
    await world.idle()
    assert.deepEqual([...gateway.taken.keys()], [mail.id])
    assert.equal(world.line('gmail-cursor-damaged')?.level, 'error')
  })

test('the same address in another spelling is the same mailbox', async (world) => {
  world.consent({ account: 'ada@gmail.com' })
  world.start({ account: 'A.da@googlemail.com' })
  await world.clock.until(() => world.state() === 'working')
  assert.ok(world.google.calls.includes('labels'))
})

test('the cursor of another account is not used', async (world) => {
  const { disk, gateway, google } = world
  google.deliver()
  const other = { account: 'eve@example.com', historyId: '1', readAt: 0, recent: [], refused: [] }
  disk.set('cursor', JSON.stringify(other))
  world.start()
  await world.idle()
  assert.equal(gateway.posts.length, 0)
  assert.equal(world.cursor()?.account, 'ada@example.com')
  assert.ok(world.events().includes('gmail-account-changed'))
})

test('a bug ends the run with its error, so that the host starts it again', async (world) => {
  world.inject('history', { before: new TypeError('not a function') })
  world.start()
  assert.ok((await world.ended()) instanceof TypeError)
})

test('a mail with an excluded label is logged by its id and counted, and never posted', async (world) => {
  await world.watch()
  const { id } = world.google.deliver({ labels: ['INBOX', 'SENT'] })
  await world.idle()
  assert.deepEqual(world.line('gmail-mail-left-out')?.facts, { id, labels: 'INBOX, SENT' })
  assert.equal(world.reports.at(-1)?.counts?.['leftOut'], 1)
  assert.deepEqual([...world.gateway.taken], [])
})

test('a failure that the next try ends is not reported', async (world) => {
  const { google } = world
  await world.watch()
  world.fail('history', 'unavailable')
  world.fail('post', 'network')
  google.deliver()
  await world.idle()
  assert.deepEqual([...new Set(world.reports.map(({ state }) => state))], ['working'])
})

test('while the gateway is down, no further call is made and the mail waits', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  let isDown = true
  gateway.rule = () => (isDown ? { status: 503, code: 'DRAINING', message: 'Shutting down.' } : undefined)
  const mail = google.deliver()
  await clock.pass(minuteMs)
  const calls = google.calls.length
  await clock.pass(2 * hourMs)
  assert.equal(world.state(), 'failing')
  assert.match(world.detail(), /503 DRAINING: Shutting down\./)
  assert.equal(google.calls.length, calls)
  isDown = false
  await clock.until(() => world.reached(), 6 * minuteMs)
  assert.equal(gateway.taken.get(mail.id), 1)
  assert.equal(world.state(), 'working')
})

test('a burst of mails is fetched by eight at a time and posted in batches, in order', async (world) => {
  const { gateway, google } = world
  await world.watch()
  let fetching = 0
  let most = 0
  let turn = 0
  world.faults = {
    next(operation) {
      if (operation !== 'message') return undefined
      turn += 1
      const before = () => {
        fetching += 1
        most = Math.max(most, fetching)
      }
      const after = () => {
        fetching -= 1
      }
      return { before, ms: turn % 7, after }
    },
  }
  const mails = Array.from({ length: 230 }, () => google.deliver())
  await world.idle()
  assert.equal(most, 8)
  assert.deepEqual(
    gateway.posts.flatMap(({ messages }) => messages.map(({ id }) => id)),
    mails.map(({ id }) => id),
  )
  assert.ok(gateway.posts.every(({ messages }) => messages.length <= 50))
})

test('when Google limits the rate at one mail, no other call is repeated', async (world) => {
  const { clock, google } = world
  await world.watch()
  world.inject('message', {}, 2)
  world.fail('message', 'rate-limited', { retryAfter: 120 })
  for (let left = 20; left > 0; left--) google.deliver()
  const from = clock.passed
  await world.idle()
  assert.ok(clock.passed - from >= 120 * secondMs)
  assert.equal(google.countOf('message'), 21)
})

test('when Google gives out no mail at all, few mails are blamed and none is given up', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  let isIll = true
  const unavailable = { before: failure('unavailable') }
  world.faults = { next: (operation) => (operation === 'message' && isIll ? unavailable : undefined) }
  const mails = Array.from({ length: 400 }, () => google.deliver())
  await clock.pass(10 * hourMs)
  const { length } = world.cursor()?.refused ?? []
  assert.ok(length !== undefined && length >= 50 && length <= 150, `${length} are blamed`)
  assert.equal(world.state(), 'failing')
  isIll = false
  await clock.until(() => gateway.taken.size === mails.length, 3 * hourMs)
})

test('a mail that Google announces too early is looked for again, and a deleted mail does not block others', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  const [late, other, deleted] = [google.deliver(), google.deliver(), google.deliver()]
  google.late.add(late.id)
  google.remove(deleted.id)
  await clock.until(() => gateway.taken.size === 1)
  assert.deepEqual([...gateway.taken.keys()], [other.id])
  await world.idle()
  assert.deepEqual([...gateway.taken.keys()], [other.id, late.id])
  assert.ok(!world.events().includes('gmail-mail-refused'))
})

test('no mail is blamed if the mailbox does not answer either', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  world.fail('message', 'forbidden', { count: 9, retryable: false })
  world.fail('profile', 'forbidden', { count: 5, retryable: false })
  const mail = google.deliver()
  await clock.until(() => google.countOf('profile') === 3)
  assert.equal(world.state(), 'waiting')
  await world.idle()
  assert.equal(gateway.taken.get(mail.id), 1)
  assert.ok(!world.events().includes('gmail-mail-refused'))
})

test('a mail that the gateway refused is retried at each reload', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  gateway.rule = () => ({ status: 400 })
  google.deliver()
  await world.idle()
  assert.equal(world.cursor()?.refused.length, 1)
  const before = clock.now()
  world.reload()
  await world.idle()
  assert.equal(world.cursor()?.refused[0]?.tries, 2, 'it is still refused')
  gateway.rule = () => undefined
  world.reload()
  await clock.until(() => gateway.posts.length === 1, 10 * secondMs)
  assert.ok(clock.now() - before < 30 * secondMs)
  await world.idle()
  assert.deepEqual(world.reports.at(-1)?.counts, { refused: 0, posted: 1 })
})

test('a clock that leaps by a month does not make the source give up a refused mail', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  gateway.rule = () => ({ status: 400 })
  google.deliver()
  await world.idle()
  clock.set(30 * dayMs)
  await clock.pass(10 * minuteMs)
  clock.set(-60 * dayMs)
  await clock.pass(10 * minuteMs)
  assert.equal(world.cursor()?.refused.length, 1)
  gateway.rule = () => undefined
  await clock.until(() => gateway.posts.length === 1, 70 * minuteMs)
})

test('a full disk delays mails and loses none', async (world) => {
  const { clock, gateway, google } = world
  await world.watch()
  world.fail('write cursor', 'kept-failed', { count: 6 })
  google.deliver()
  await clock.pass(15 * secondMs)
  assert.equal(world.state(), 'failing')
  await world.idle()
  assert.equal(gateway.posts.length, 1)
  assert.equal(world.state(), 'working')
})
