/** Runs storms: random sequences of everything that can go wrong with a watched mailbox. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Cursor } from '../cursor.ts'
import { type Fault, failure } from './fault.ts'
import type { FakeMail } from './google.ts'
import { createWorld, type Run } from './world.ts'

/** Describes one call: what happens beside it, and how it ends. */
const stepOf = fc.record({
  beside: fc.oneof(
    { weight: 20, arbitrary: fc.constant('nothing' as const) },
    { weight: 20, arbitrary: fc.constantFrom('mail', 'mails', 'refused mail') },
    { weight: 10, arbitrary: fc.constantFrom('unwanted mail', 'large mail', 'change', 'remove') },
    { weight: 4, arbitrary: fc.constantFrom('expire', 'damage') },
    { weight: 1, arbitrary: fc.constant('many mails' as const) },
  ),
  comes: fc.oneof(
    { weight: 10, arbitrary: fc.constant('success' as const) },
    { weight: 4, arbitrary: fc.constantFrom('fails before', 'fails after') },
    { weight: 1, arbitrary: fc.constantFrom('quota before', 'malformed before') },
    {
      weight: 2,
      arbitrary: fc.constantFrom('killed before', 'killed after', 'stopped before', 'stopped after'),
    },
  ),
  ms: fc.nat(40),
})
type Step = typeof stepOf extends fc.Arbitrary<infer Type> ? Type : never

const storm = fc.record({
  steps: fc.array(stepOf, { maxLength: 90, size: 'max' }),
  pollSeconds: fc.constantFrom(5, 30),
  pageLength: fc.constantFrom(2, 7, 500),
  mostActions: fc.constantFrom(1, 3, 100),
})

const hourMs = 3_600_000

async function runStorm({
  steps,
  pollSeconds,
  pageLength,
  mostActions,
}: typeof storm extends fc.Arbitrary<infer T> ? T : never) {
  const world = createWorld()
  const { clock, disk, gateway, google } = world
  const rest = [...steps]
  /** Number of refusals of each mail before the mapping is fixed. */
  const refused = new Map<string, number>()
  const large = new Set<string>()
  const removed = new Set<string>()
  const wanted: FakeMail[] = []
  let crashes = 0
  let beginning: number | undefined
  let run: Run
  google.pageLength = pageLength
  gateway.limits = { ...gateway.limits, maxActions: 100 }
  gateway.rule = ({ messages }) => {
    if (messages.length > mostActions) return { status: 413, code: 'TOO_MANY_ACTIONS' }
    if (messages.some(({ id, body }) => large.has(id) && body.length > 100)) return { status: 413 }
    const [first, ...others] = messages.filter(({ id }) => (refused.get(id) ?? 0) > 0)
    if (first && others.length === 0 && messages.length === 1)
      refused.set(first.id, (refused.get(first.id) ?? 0) - 1)
    return first && { status: 422 }
  }

  /** Asserts what must be done before a history id is written. */
  world.onWritten = (name, value) => {
    if (name !== 'cursor') return
    const { historyId, refused: known } = value as Cursor
    const knownIds = new Set(known.map(({ id }) => id))
    // After a damaged or unwritten cursor the mailbox is listed, or begins with the next mail.
    beginning ??= Number(historyId)
    for (const { id, historyId: at } of wanted) {
      if (at <= beginning || at > Number(historyId) || removed.has(id)) continue
      assert.ok(gateway.taken.has(id) || knownIds.has(id), `${historyId} was written before ${id} was posted`)
    }
  }
  let fetches = 0

  function besides(step: Step): void {
    const want = (mail: FakeMail) => {
      wanted.push(mail)
      return mail.id
    }
    if (step.beside === 'mail') want(google.deliver())
    if (step.beside === 'mails') for (let left = 5; left > 0; left--) want(google.deliver())
    if (step.beside === 'many mails') for (let left = 70; left > 0; left--) want(google.deliver())
    if (step.beside === 'unwanted mail') google.deliver({ labels: ['INBOX', 'SPAM'] })
    if (step.beside === 'refused mail') refused.set(want(google.deliver()), 1 + (step.ms % 3))
    if (step.beside === 'large mail') large.add(want(google.deliver({ text: 'x'.repeat(1000) })))
    if (step.beside === 'change') google.change()
    if (step.beside === 'expire') google.expireHistory()
    const [first] = wanted
    if (step.beside === 'remove' && first) {
      removed.add(first.id)
      google.remove(first.id)
    }
    if (step.beside === 'damage' && disk.has('cursor')) {
      disk.set('cursor', '{"acc')
      // Only a start reads the cursor, and a quiet mailbox gives no reason to write it again.
      end('killed')()
    }
  }
  const end = (how: string) => () => {
    crashes += 1
    if (how === 'killed') run.isDead = true
    run.controller.abort(new Error('over'))
  }

  world.faults = {
    next(operation): Fault | undefined {
      if (operation === 'message') fetches += 1
      const isSpared = operation === 'message' && fetches % 5 > 0
      const step = isSpared ? undefined : rest.shift()
      if (!step) return undefined
      besides(step)
      const [how, when] = step.comes.split(' ')
      if (how === 'success') return { ms: step.ms }
      if (operation === 'post' && when === 'after') crashes += 1
      if (how === 'killed' || how === 'stopped') return { ms: step.ms, [when ?? '']: end(how) }
      if (how === 'quota') return { ms: step.ms, before: failure('rate-limited', { retryAfter: 20 }) }
      if (how === 'malformed')
        return { before: failure('malformed', { retryable: operation.startsWith('write') }) }
      return { ms: step.ms, [when ?? '']: failure('unavailable') }
    },
  }

  run = world.start({ pollSeconds })
  const isDone = () => {
    if (!run.isDead && !run.outcome.isOver)
      return rest.length === 0 && world.reached() && world.cursor()?.refused.length === 0
    assert.equal(run.outcome.error, undefined)
    run = world.start()
    return false
  }
  // A calm mailbox has calls too, which meet the steps that are left.
  await clock.until(isDone, 3 * hourMs)
  await world.stop()

  for (const { id, historyId } of wanted) {
    const count = gateway.taken.get(id) ?? 0
    if (historyId > (beginning ?? 0) && !removed.has(id)) assert.ok(count >= 1, `${id} was lost`)
    assert.ok(count <= 1 + crashes, `${id} was posted ${count} times in ${crashes} crashes`)
  }
  const ids = new Set(wanted.map(({ id }) => id))
  for (const id of gateway.taken.keys()) assert.ok(ids.has(id), `${id} was not wanted`)
}

/** Tests the promise of the watch in this many mailboxes. */
export function testStorms(count: number): void {
  test(`in ${count} storms of failures, crashes, repeats and losses, every mail is posted, none is doubled without a crash, and the cursor never passes a mail that was not posted`, async () => {
    await fc.assert(fc.asyncProperty(storm, runStorm), { numRuns: count })
  })
}
