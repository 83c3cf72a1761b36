/** Tests a channel that is down: nothing is lost or doubled, and no other channel waits for it. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openTestBed, type TestBed } from '../../runtime/dispatch/test-bed.ts'
import { atEnd } from '../at-end.ts'
import { openPostOffice, type PostOffice } from './post-office.ts'

const minute = 60_000
const hour = 60 * minute
const replies = 100
/** The number of requests that are accepted together, with one recipient each. */
const batch = 10
const people = Array.from({ length: 10 }, (_, index) => `person-${index + 1}`)

const recipientOf = (reply: number) => people[reply % people.length] ?? ''

async function openOffices(t: TestContext, ...names: readonly string[]) {
  let onCall = () => {}
  const offices: Record<string, PostOffice> = {}
  for (const name of names) {
    const office = await openPostOffice(name, () => onCall())
    atEnd(t, () => office.close())
    offices[name] = office
  }
  const channels = Object.fromEntries(names.map((name) => [name, offices[name]?.channel]))
  const bed = await openTestBed(t, { channels: channels as never })
  onCall = bed.stir
  return { bed, offices }
}

const stateOf = (bed: TestBed, name: string) =>
  bed.channelStates().find(({ channel }) => channel === name)?.state

/** Returns the messages of each recipient, in the order in which they were stored. */
function byRecipient({ messages }: PostOffice) {
  return Object.fromEntries(
    people.map((person) => [person, messages.filter(({ to }) => to === person).map(({ text }) => text)]),
  )
}

const inOrder = Object.fromEntries(
  people.map((person, index) => [
    person,
    Array.from({ length: replies / people.length }, (_, round) => `reply ${round * people.length + index}`),
  ]),
)

test('a channel that is down for an hour, and a process that dies meanwhile, lose nothing and delay no other channel', async (t) => {
  const { bed, offices } = await openOffices(t, 'down', 'hanging', 'sound')
  const { down, hanging, sound } = offices
  assert.ok(down && hanging && sound)
  // The service recognises by its key a message that it stored before the connection was cut.
  down.script({ kind: 'cut-after' }, { kind: 'cut-after' })
  down.always({ kind: 'answer', answer: { status: 503, body: 'Back soon.' } })
  hanging.always({ kind: 'hang-before' })
  const began = bed.clock.now()
  await bed.start()

  const deliveredBy = (name: string) =>
    bed.log('delivery-delivered').filter(({ channel }) => channel === name).length
  /** The calls of the process that died. */
  let before = 0

  for (let accepted = 0; accepted < replies; ) {
    for (const last = accepted + batch; accepted < last; accepted += 1) {
      const to = recipientOf(accepted)
      const deliverTo = ['down', 'hanging', 'sound'].map((channel) => ({ channel, to }))
      await bed.acceptRun({ deliver: true, deliverTo, prompt: `reply ${accepted}` })
    }
    // The clock does not move meanwhile, so that a delivery that waited for another channel would never end.
    await bed.until(async () => deliveredBy('sound') + before === accepted)
    if (accepted === replies / 2) {
      await bed.until(async () => (await bed.deliveries('delivered')).length === accepted)
      before = accepted
      await bed.crash()
      await bed.start()
    }
    for (let step = 0; step < batch; step += 1) {
      bed.clock.advance(hour / replies)
      await bed.until(async () => down.open() === 0 && stateOf(bed, 'down') === 'held')
    }
  }
  assert.ok(down.messages.length <= 2, 'it was down')
  assert.ok(down.requests.length < 100, `a channel that is down was called ${down.requests.length} times`)
  assert.ok(hanging.requests.length < 100, `one that hangs was called ${hanging.requests.length} times`)
  const sent = await bed.deliveries('delivered')
  assert.equal(sent.length, replies)
  for (const { channel, createdAt, endedAt } of sent) {
    assert.deepEqual([channel, (endedAt ?? 0) - createdAt], ['sound', 0])
  }
  assert.equal((await bed.deliveries('pending')).length, 2 * replies)

  for (const office of [down, hanging]) office.always(undefined)
  for (const name of ['down', 'hanging']) {
    const office = offices[name]
    // Hanging calls are ended, and then the longest hold.
    bed.clock.advance(31_000)
    await bed.until(async () => office?.open() === 0 && stateOf(bed, name) !== 'probing')
    if (stateOf(bed, name) === 'held') bed.clock.advance(minute)
    await bed.until(async () => stateOf(bed, name) === 'open')
    await bed.until(async () => office?.messages.length === replies && office.open() === 0)
  }
  for (const office of [down, hanging, sound]) assert.deepEqual(byRecipient(office), inOrder)
  assert.ok(bed.clock.now() - began < hour + 4 * minute, 'they come as soon as their channel is back')
})
