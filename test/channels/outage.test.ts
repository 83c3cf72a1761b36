/** Tests a channel that is down: nothing is lost or doubled, and no other channel waits for it. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Channel, PluginError } from '@reveille/kit'
import { openTestBed, type TestBed } from '../../runtime/dispatch/test-bed.ts'

const minute = 60_000
const hour = 60 * minute
const replies = 100
/** The number of requests that are accepted together, with one recipient each. */
const batch = 10
const people = Array.from({ length: 10 }, (_, index) => `person-${index + 1}`)

const recipientOf = (reply: number) => people[reply % people.length] ?? ''

/** A service that stores a message once, by its key. */
interface Office {
  /** The stored messages, in order. */
  readonly messages: { readonly to: string; readonly text: string }[]
  calls: number
  /** The number of open calls. */
  open: number
  /** The faults of the next calls. */
  readonly next: Fault[]
  /** The fault of all other calls. */
  fault?: Fault | undefined
}
type Fault = 'down' | 'hanging' | 'cut once it is stored'

/** `onCall` is called when a call begins and when it ends. */
function createOffice(
  id: string,
  onCall: () => void,
): { readonly office: Office; readonly channel: Channel } {
  const office: Office = { messages: [], calls: 0, open: 0, next: [] }
  const keys = new Set<string>()

  async function call(to: string, text: string, key: string, signal: AbortSignal) {
    const fault = office.next.shift() ?? office.fault
    if (fault === 'down') throw new PluginError('Back soon.', { code: 'unavailable', retryable: true })
    if (fault === 'hanging') await new Promise((resolve) => signal.addEventListener('abort', resolve))
    else if (!keys.has(key)) office.messages.push({ to, text })
    if (fault !== 'hanging') keys.add(key)
    if (fault === undefined) return { id: key }
    throw new PluginError('cut', { code: 'network', retryable: true, maybeDelivered: true })
  }

  const channel: Channel = {
    id,
    limits: { part: 1000, unit: 'utf16' },
    idempotency: { windowMs: 86_400_000 },
    target: (to) => ({ key: to, kind: 'user' }),
    render: (markdown) => [{ text: markdown }],
    async send({ text }, { target, key, signal }) {
      office.calls += 1
      office.open += 1
      onCall()
      return call(target.key, text, key, signal).finally(() => {
        office.open -= 1
        onCall()
      })
    },
  }
  return { office, channel }
}

async function openOffices(t: TestContext) {
  let onCall = () => {}
  const open = (id: string) => createOffice(id, () => onCall())
  const [down, hanging, sound] = [open('down'), open('hanging'), open('sound')]
  const channels = { down: down.channel, hanging: hanging.channel, sound: sound.channel }
  const bed = await openTestBed(t, { channels })
  onCall = bed.stir
  return { bed, down: down.office, hanging: hanging.office, sound: sound.office }
}

const stateOf = (bed: TestBed, name: string) =>
  bed.channelStates().find(({ channel }) => channel === name)?.state

/** Returns the messages of each recipient, in the order in which they were stored. */
function byRecipient({ messages }: Office) {
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
  const { bed, down, hanging, sound } = await openOffices(t)
  // The service recognises by its key a message that it stored before the connection was cut.
  down.next.push('cut once it is stored', 'cut once it is stored')
  down.fault = 'down'
  hanging.fault = 'hanging'
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
      await bed.until(async () => down.open === 0 && stateOf(bed, 'down') === 'held')
    }
  }
  assert.ok(down.messages.length <= 2, 'it was down')
  assert.ok(down.calls < 100, `a channel that is down was called ${down.calls} times`)
  assert.ok(hanging.calls < 100, `one that hangs was called ${hanging.calls} times`)
  const sent = await bed.deliveries('delivered')
  assert.equal(sent.length, replies)
  for (const { channel, createdAt, endedAt } of sent) {
    assert.deepEqual([channel, (endedAt ?? 0) - createdAt], ['sound', 0])
  }
  assert.equal((await bed.deliveries('pending')).length, 2 * replies)

  for (const office of [down, hanging]) office.fault = undefined
  for (const [name, office] of Object.entries({ down, hanging })) {
    // Hanging calls are ended, and then the longest hold.
    bed.clock.advance(31_000)
    await bed.until(async () => office.open === 0 && stateOf(bed, name) !== 'probing')
    if (stateOf(bed, name) === 'held') bed.clock.advance(minute)
    await bed.until(async () => stateOf(bed, name) === 'open')
    await bed.until(async () => office.messages.length === replies && office.open === 0)
  }
  for (const office of [down, hanging, sound]) assert.deepEqual(byRecipient(office), inOrder)
  assert.ok(bed.clock.now() - began < hour + 4 * minute, 'they come as soon as their channel is back')
})
