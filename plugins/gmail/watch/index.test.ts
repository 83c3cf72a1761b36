import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fault, failure } from './test-bed/fault.ts'
import { createWorld, credentials, type Run, type World, whileWatched } from './test-bed/world.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const malformed: Fault = { before: failure('malformed', { retryable: false }) }
const times = (count: number, fault: Fault) => Array.from({ length: count }, () => fault)

test('mails that came before the first watch are not posted, later ones are, and their notification is acknowledged', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  google.deliver()
  const run = world.start()
  await clock.until(() => world.events().includes('gmail-watching'))
  assert.deepEqual(world.line('gmail-watching')?.facts, {
    account: 'ada@example.com',
    mode: 'pull',
    historyId: String(google.historyId),
  })
  const mail = google.deliver()
  await world.idle()
  assert.deepEqual([...gateway.taken], [[mail.id, 1]])
  const [post] = gateway.posts
  assert.equal(post?.source, 'gmail')
  assert.equal(post?.account, 'ada@example.com')
  assert.equal(post?.historyId, String(mail.historyId))
  assert.equal(world.state(), 'working')
  assert.equal(world.reports.at(-1)?.counts?.['posted'], 1)
  assert.deepEqual(Object.keys(world.reports.at(-1)?.times ?? {}).sort(), [
    ...['lastMail', 'readAt', 'watchEnds', 'watchRenews'],
  ])
  await world.stop(run)
})

test('without a consent the source waits, says what to run, and begins within ten seconds of the consent', async () => {
  const world = createWorld()
  const { clock, disk, google } = world
  disk.delete('credentials')
  const run = world.start()
  await clock.pass(hourMs)
  assert.equal(world.state(), 'waiting')
  assert.match(world.detail(), /reveille webhooks gmail setup/)
  disk.set('credentials', '{"acc')
  await clock.pass(minuteMs)
  assert.match(world.detail(), /damaged/)
  disk.set('credentials', JSON.stringify({ ...credentials, account: 'eve@example.com' }))
  await clock.pass(minuteMs)
  assert.match(world.detail(), /another account than ada@example\.com/)
  assert.doesNotMatch(world.detail(), /eve@/)
  assert.deepEqual(google.calls, [])
  disk.set('credentials', JSON.stringify(credentials))
  await clock.until(() => world.state() === 'working', 11 * secondMs)
  await world.stop(run)
})

for (const code of ['consent-revoked', 'bad-client', 'missing-scope'])
  test(`after ${code} Google is not asked again until there is another consent`, async () => {
    const world = createWorld()
    const { clock, disk, google } = world
    const run = world.start()
    await clock.until(() => world.events().includes('gmail-watching'))
    await clock.pass(secondMs)
    world.inject('history', { before: failure(code, { retryable: false }) })
    const mail = google.deliver()
    await clock.until(() => world.state() === 'waiting')
    const calls = google.calls.length
    await clock.pass(50 * minuteMs)
    assert.equal(google.calls.length, calls)
    disk.set('credentials', JSON.stringify({ ...credentials, refreshToken: 'another' }))
    await clock.pass(15 * secondMs)
    assert.equal(world.gateway.taken.get(mail.id), 1)
    assert.equal(world.state(), 'working')
    await world.stop(run)
  })

test('a renewed access token does not count as another consent, and the same consent is retried after an hour', async () => {
  const world = createWorld()
  const { clock, disk, google } = world
  world.inject('labels', {
    before() {
      disk.set(
        'credentials',
        JSON.stringify({ ...credentials, accessToken: 'renewed', accessTokenExpiresAt: 1 }),
      )
      throw failure('consent-revoked', { retryable: false })
    },
  })
  const run = world.start()
  await clock.pass(50 * minuteMs)
  assert.deepEqual(google.calls, ['labels'])
  await clock.until(() => world.state() === 'working', 11 * minuteMs)
  await world.stop(run)
})

test('a refused consent is used again once setup has renewed it', async () => {
  const world = createWorld()
  const { clock, disk } = world
  world.inject('labels', { before: failure('consent-revoked', { retryable: false }) })
  const run = world.start()
  await clock.pass(minuteMs)
  assert.equal(world.state(), 'waiting')
  disk.set(
    'credentials',
    JSON.stringify({ ...credentials, accessToken: 'of setup', accessTokenExpiresAt: 1 }),
  )
  await clock.until(() => world.state() === 'working', 11 * secondMs)
  await world.stop(run)
})

test('a consent that was stored while Google refused the earlier one is used at once', async () => {
  const world = createWorld()
  world.inject('labels', {
    before() {
      world.disk.set('credentials', JSON.stringify({ ...credentials, refreshToken: 'another' }))
      throw failure('consent-revoked', { retryable: false })
    },
  })
  const run = world.start()
  await world.clock.until(() => world.state() === 'working', secondMs)
  await world.stop(run)
})

test('a label is found by its name in any case, and a missing label is looked for every minute', async () => {
  const world = createWorld({ label: 'invoices' })
  const { clock, gateway, google } = world
  const labels = google.labels
  google.labels = [
    { id: 'INBOX', name: 'INBOX' },
    { id: 'Label_9', name: 'Invoice' },
  ]
  const run = world.start()
  await clock.pass(10 * minuteMs)
  assert.equal(world.state(), 'waiting')
  assert.match(world.detail(), /no label "invoices"\. Nearest are "Invoice", "INBOX"/)
  assert.equal(google.calls.length, 11)
  assert.deepEqual(world.lines, [], 'the host tells what is reported')
  google.labels = labels
  await clock.until(() => world.state() === 'working', minuteMs)
  assert.equal(google.watches[0]?.labelId, 'Label_7')
  google.deliver()
  const mail = google.deliver({ labels: ['Label_7'] })
  await world.idle()
  assert.deepEqual([...gateway.taken.keys()], [mail.id])
  await world.stop(run)
})

test('a label that was deleted and made again is watched under its new id', async () => {
  const world = createWorld({ label: 'Invoices' })
  const { clock, gateway, google } = world
  const run = world.start()
  await clock.pass(secondMs)
  google.labels = [{ id: 'INBOX', name: 'INBOX' }]
  const refusal: Fault = { before: failure('bad-request', { retryable: false }) }
  world.inject('history', refusal)
  world.inject('list', refusal)
  google.deliver({ labels: ['Label_7'] })
  await clock.pass(5 * minuteMs)
  assert.match(world.detail(), /no label "Invoices"/)
  google.labels = [{ id: 'Label_8', name: 'Invoices' }]
  await clock.pass(2 * minuteMs)
  assert.equal(google.watches.at(-1)?.labelId, 'Label_8')
  const mail = google.deliver({ labels: ['Label_8'] })
  await world.idle()
  assert.ok(gateway.taken.has(mail.id))
  await world.stop(run)
})

test('a history id that Google never gave leads to a listing', async () => {
  const world = createWorld()
  const { disk, gateway, google } = world
  const mail = google.deliver()
  const readAt = world.clock.now()
  disk.set('cursor', JSON.stringify({ account: google.account, historyId: '9'.repeat(20), readAt }))
  world.inject('history', { before: failure('bad-request', { retryable: false }) })
  const run = world.start()
  await world.clock.until(() => gateway.taken.has(mail.id))
  await world.clock.settle()
  assert.equal(world.cursor()?.historyId, String(google.historyId))
  await world.stop(run)
})

test('a mailbox whose history is behind the cursor, as of a recreated account, is listed and then read on', async () => {
  const world = createWorld()
  const { clock, disk, gateway, google } = world
  const mail = google.deliver()
  const readAt = clock.now()
  disk.set('cursor', JSON.stringify({ account: google.account, historyId: '99999999', readAt }))
  const run = world.start()
  await clock.until(() => gateway.taken.has(mail.id))
  const next = google.deliver()
  await clock.until(() => gateway.taken.has(next.id), minuteMs)
  assert.equal(world.cursor()?.historyId, String(google.historyId))
  await world.stop(run)
})

test('a lost notification delays a mail by at most a quarter of an hour', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  const run = world.start()
  await clock.pass(40 * minuteMs)
  const mail = google.deliver({ isLost: true })
  await clock.until(() => gateway.taken.has(mail.id), 16 * minuteMs)
  await world.stop(run)
})

for (const code of ['unavailable', 'malformed', 'network'])
  test(`a mail for which Google only answers ${code} does not block others`, async () => {
    const world = createWorld()
    const { clock, gateway, google } = world
    const run = world.start()
    await clock.pass(secondMs)
    world.inject('message', ...times(8, { before: failure(code) }))
    const first = google.deliver()
    await world.idle()
    const second = google.deliver()
    await world.idle()
    assert.deepEqual([...gateway.taken.keys()], [second.id])
    assert.equal(world.cursor()?.refused[0]?.id, first.id)
    await clock.pass(2 * minuteMs)
    assert.ok(gateway.taken.has(first.id))
    assert.equal(world.state(), 'working')
    await world.stop(run)
  })

test('a mail that the gateway refuses for a week is given up with an error, and each start retries it at once', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  let run = world.start()
  await clock.pass(secondMs)
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
  await world.stop(run)
  run = world.start()
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
  await world.stop(run)
})

test('an expired history leads to a listing since the last reading, oldest mails first', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  let run = world.start()
  await clock.pass(secondMs)
  const known = google.deliver()
  await world.idle()
  await world.stop(run)
  await clock.pass(3 * hourMs)
  const mails = Array.from({ length: 5 }, () => google.deliver())
  google.expireHistory()
  run = world.start()
  await world.idle()
  const posted = gateway.posts.flatMap(({ messages }) => messages.map(({ id }) => id))
  assert.deepEqual(
    posted,
    [known, ...mails].map(({ id }) => id),
  )
  const { level, facts } = world.line('gmail-history-expired') ?? {}
  assert.equal(level, 'warn')
  assert.equal(facts?.['posted'], 5)
  assert.equal(facts?.['cut'], 0)
  await world.stop(run)
})

test('mails that a listing leaves out are counted and logged as an error', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  let run = world.start()
  await clock.pass(secondMs)
  await world.stop(run)
  const mails = Array.from({ length: 1203 }, () => google.deliver())
  google.expireHistory()
  run = world.start()
  await world.idle()
  const posted = gateway.posts.flatMap(({ messages }) => messages.map(({ id }) => id))
  assert.deepEqual(
    posted,
    mails.slice(203).map(({ id }) => id),
  )
  const { level, facts } = world.line('gmail-history-expired') ?? {}
  assert.equal(level, 'error')
  assert.equal(facts?.['cut'], 203)
  await world.stop(run)
})

for (const [name, text] of [
  ['cut off', '{"account":"ada@ex'],
  ['of another shape', '[1,2]'],
  ['without a history id', '{"account":"ada@example.com","historyId":{},"readAt":"never","recent":4}'],
] as const)
  test(`a cursor that is ${name} loses no mail of the last day`, async () => {
    const world = createWorld()
    const { clock, disk, gateway, google } = world
    const old = google.deliver()
    await clock.pass(2 * dayMs)
    const mail = google.deliver()
    await clock.pass(20 * hourMs)
    disk.set('cursor', text)
    const run = world.start()
    await world.idle()
    assert.deepEqual([...gateway.taken.keys()], [mail.id])
    assert.ok(!gateway.taken.has(old.id))
    assert.equal(world.line('gmail-cursor-damaged')?.level, 'error')
    await world.stop(run)
  })

test('the same address in another spelling is the same mailbox', async () => {
  const world = createWorld({ account: 'A.da@googlemail.com' })
  const { clock, disk, google } = world
  disk.set('credentials', JSON.stringify({ ...credentials, account: 'ada@gmail.com' }))
  const run = world.start()
  await clock.until(() => world.state() === 'working')
  assert.equal(google.calls.includes('labels'), true)
  await world.stop(run)
})

test('the cursor of another account is not used', async () => {
  const world = createWorld()
  const { clock, disk, gateway, google } = world
  google.deliver()
  const other = { account: 'eve@example.com', historyId: '1', readAt: 0, recent: [], refused: [] }
  disk.set('cursor', JSON.stringify(other))
  const run = world.start()
  await world.idle()
  assert.equal(gateway.posts.length, 0)
  assert.equal(world.cursor()?.account, 'ada@example.com')
  assert.ok(world.events().includes('gmail-account-changed'))
  await clock.pass(secondMs)
  await world.stop(run)
})

test('a missing subscription is reported with the command to run, and pulled once it exists', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  world.inject('pull', ...times(4, { before: failure('not-found', { retryable: false }) }))
  const run = world.start()
  await clock.pass(5 * secondMs)
  assert.equal(world.state(), 'waiting')
  assert.match(world.detail(), /reveille webhooks gmail setup/)
  google.deliver()
  await clock.until(() => gateway.posts.length === 1, minuteMs)
  assert.equal(world.state(), 'working')
  await world.stop(run)
})

test('a failed acknowledgement does no harm', async () => {
  const world = createWorld()
  const { clock, gateway, google } = world
  world.inject('acknowledge', { before: failure('unavailable') })
  const run = world.start()
  await clock.pass(secondMs)
  google.deliver()
  await world.idle()
  assert.equal(gateway.posts.length, 1)
  await world.stop(run)
})

test('a bug ends the run with its error, so that the host starts it again', async () => {
  const world = createWorld()
  const { clock } = world
  world.inject('history', { before: new TypeError('not a function') })
  const run = world.start()
  await clock.until(() => run.outcome.isOver, secondMs)
  assert.ok(run.outcome.error instanceof TypeError)
})

/** Each is given a mailbox that has been watched for a second, and is stopped at the end. */
const watched: Readonly<Record<string, (world: World, run: Run) => Promise<void>>> = {
  async 'a mail with an excluded label is logged by its id and counted, and never posted'(world) {
    const { id } = world.google.deliver({ labels: ['INBOX', 'SENT'] })
    await world.idle()
    assert.deepEqual(world.line('gmail-mail-left-out')?.facts, { id, labels: 'INBOX, SENT' })
    assert.equal(world.reports.at(-1)?.counts?.['leftOut'], 1)
    assert.deepEqual([...world.gateway.taken], [])
  },

  async 'a failure that the next try ends is not reported'(world) {
    const { google } = world
    world.inject('history', { before: failure('unavailable') })
    world.inject('post', { before: failure('network') })
    google.deliver()
    await world.idle()
    assert.deepEqual([...new Set(world.reports.map(({ state }) => state))], ['working'])
  },

  async 'old, foreign and unreadable notifications are acknowledged without reading the history'(world) {
    const { clock, google } = world
    const before = google.calls.filter((call) => call === 'history').length
    for (let left = 3; left > 0; left--) {
      google.publish({ emailAddress: 'ADA@example.com', historyId: '7' })
      google.publish({ emailAddress: 'eve@example.com', historyId: '99999999' })
      google.publish(undefined)
      await clock.until(() => google.queue.size === 0, secondMs)
    }
    assert.equal(google.calls.filter((call) => call === 'history').length, before)
    const ignored = world.lines.filter(({ event }) => event === 'gmail-notification-ignored')
    assert.equal(ignored.length, 2)
    assert.doesNotMatch(JSON.stringify(world.lines), /eve@/)
  },

  async 'a notification that comes before its history is read again later, and does not block others forever'({
    clock,
    google,
  }) {
    google.publish({ emailAddress: google.account, historyId: '88888888888888888888' })
    await clock.until(() => google.queue.size === 0, 20 * secondMs)
    assert.equal(google.calls.filter((call) => call === 'history').length, 4)
  },

  async 'while the gateway is down, the deadline of pulled notifications is extended'(world) {
    const { clock, gateway, google } = world
    let isDown = true
    gateway.rule = () => (isDown ? { status: 503, code: 'DRAINING', message: 'Shutting down.' } : undefined)
    const mail = google.deliver()
    await clock.pass(2 * hourMs)
    assert.equal(world.state(), 'failing')
    assert.match(world.detail(), /503 DRAINING: Shutting down\./)
    assert.equal(google.calls.filter((call) => call === 'pull').length, 1)
    assert.ok(google.calls.filter((call) => call === 'extend').length >= 230)
    isDown = false
    await clock.until(() => google.queue.size === 0, 6 * minuteMs)
    assert.equal(gateway.taken.get(mail.id), 1)
    assert.equal(world.state(), 'working')
  },

  async 'a burst of mails is fetched by eight at a time and posted in batches, in order'(world) {
    const { gateway, google } = world
    let fetching = 0
    let most = 0
    const nextFault = world.faults.next
    let turn = 0
    world.faults = {
      next(operation) {
        if (operation !== 'message') return nextFault(operation)
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
    const posted = gateway.posts.flatMap(({ messages }) => messages.map(({ id }) => id))
    assert.deepEqual(
      posted,
      mails.map(({ id }) => id),
    )
    assert.ok(gateway.posts.every(({ messages }) => messages.length <= 50))
  },

  async 'when Google limits the rate at one mail, no other call is repeated'(world) {
    const { clock, google } = world
    world.inject('message', {}, {}, { before: failure('rate-limited', { retryAfter: 120 }) })
    for (let left = 20; left > 0; left--) google.deliver()
    const from = clock.passed
    await world.idle()
    assert.ok(clock.passed - from >= 120 * secondMs)
    assert.equal(google.calls.filter((call) => call === 'message').length, 21)
  },

  async 'a mail that Google refuses does not block others, is logged, and is retried until Google gives it out'(
    world,
  ) {
    const { clock, gateway, google } = world
    world.inject('message', ...times(5, malformed))
    const first = google.deliver()
    await world.idle()
    const second = google.deliver()
    await world.idle()
    assert.deepEqual([...gateway.taken.keys()], [second.id])
    assert.deepEqual(world.line('gmail-mail-refused')?.facts, { id: first.id, code: 'GOOGLE_MALFORMED' })
    assert.equal(world.cursor()?.refused[0]?.id, first.id)
    await clock.pass(2 * minuteMs)
    assert.ok(gateway.taken.has(first.id))
    assert.deepEqual(world.cursor()?.refused, [])
  },

  async 'when Google gives out no mail at all, few mails are blamed and none is given up'(world) {
    const { clock, gateway, google } = world
    let isIll = true
    const nextFault = world.faults.next
    world.faults = {
      next: (operation) =>
        operation === 'message' && isIll ? { before: failure('unavailable') } : nextFault(operation),
    }
    const mails = Array.from({ length: 400 }, () => google.deliver())
    await clock.pass(10 * hourMs)
    const { length } = world.cursor()?.refused ?? []
    assert.ok(length !== undefined && length >= 50 && length <= 150, `${length} are blamed`)
    assert.equal(world.state(), 'failing')
    isIll = false
    await clock.until(() => gateway.taken.size === mails.length, 3 * hourMs)
  },

  async 'a mail that Google announces too early is looked for again, and a deleted mail does not block others'(
    world,
  ) {
    const { clock, gateway, google } = world
    const [late, other, deleted] = [google.deliver(), google.deliver(), google.deliver()]
    google.late.add(late.id)
    google.remove(deleted.id)
    await clock.until(() => gateway.taken.size === 1)
    assert.deepEqual([...gateway.taken.keys()], [other.id])
    await world.idle()
    assert.deepEqual([...gateway.taken.keys()], [other.id, late.id])
    assert.ok(!world.events().includes('gmail-mail-refused'))
  },

  async 'no mail is blamed if the mailbox does not answer either'(world) {
    const { clock, gateway, google } = world
    const forbidden: Fault = { before: failure('forbidden', { retryable: false }) }
    world.inject('message', ...times(9, forbidden))
    world.inject('profile', ...times(5, forbidden))
    const mail = google.deliver()
    await clock.until(() => google.calls.filter((call) => call === 'profile').length === 3)
    assert.equal(world.state(), 'waiting')
    await world.idle()
    assert.equal(gateway.taken.get(mail.id), 1)
    assert.ok(!world.events().includes('gmail-mail-refused'))
  },

  async 'a mail that the gateway refused is retried at each reload'(world, run) {
    const { clock, gateway, google } = world
    gateway.rule = () => ({ status: 400 })
    google.deliver()
    await world.idle()
    assert.equal(world.cursor()?.refused.length, 1)
    const before = clock.now()
    run.reload()
    await world.idle()
    assert.equal(world.cursor()?.refused[0]?.tries, 2, 'it is still refused')
    gateway.rule = () => undefined
    run.reload()
    await clock.until(() => gateway.posts.length === 1, 10 * secondMs)
    assert.ok(clock.now() - before < 30 * secondMs)
    await world.idle()
    assert.deepEqual(world.reports.at(-1)?.counts, { refused: 0, posted: 1 })
  },

  async 'a clock that leaps by a month does not make the source give up a refused mail'(world) {
    const { clock, gateway, google } = world
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
  },

  async 'empty pulls that are answered at once are not repeated in a tight loop'(world) {
    const { clock, google } = world
    world.inject('pull', ...times(50, { after: failure('unavailable') }))
    google.publish(undefined)
    await clock.pass(10 * minuteMs)
    assert.ok(google.calls.filter((call) => call === 'pull').length < 20)
  },

  async 'a full disk delays acknowledgements and loses no mail'(world) {
    const { clock, gateway, google } = world
    world.inject('write cursor', ...times(6, { before: failure('kept-failed') }))
    google.deliver()
    await clock.pass(5 * secondMs)
    assert.equal(world.state(), 'failing')
    assert.equal(google.queue.size, 1)
    await world.idle()
    assert.equal(gateway.posts.length, 1)
    assert.equal(world.state(), 'working')
  },
}

for (const [name, ask] of Object.entries(watched)) test(name, () => whileWatched(ask))
