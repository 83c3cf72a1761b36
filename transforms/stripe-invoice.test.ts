import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleContext } from '@reveille/engine/transform'
import { recordedSamples } from '../test/sample-data.ts'
import weigh from './stripe-invoice.ts'

const invoice = {
  id: 'in_1MhUT5E0b6fckueSfPlY05Fw',
  number: 'LAMP-0007',
  currency: 'eur',
  amount_due: 1250,
  amount_paid: 0,
  customer: 'cus_harbour',
  customer_email: 'harbour@example.com',
  attempt_count: 2,
  next_payment_attempt: 1_767_225_600,
  hosted_invoice_url: 'https://invoice.stripe.com/i/lamp',
}

function run(type: string, changes: Readonly<Record<string, unknown>> = {}, livemode = true) {
  const action = weigh(
    exampleContext({ payload: { type, livemode, data: { object: { ...invoice, ...changes } } } }),
  )
  if (action === null) return null
  const { text, message, ...others } = { text: undefined, message: undefined, ...action }
  return { ...others, says: String(text ?? message) }
}

test('a failed payment gets an agent, in the conversation of its invoice', () => {
  const action = run('invoice.payment_failed')
  assert.equal(
    action?.says.split('\n\n')[0],
    [
      'Invoice LAMP-0007 could not be paid. Tries so far: 2. Stripe tries again at 2026-01-01T00:00:00.000Z.',
      'Due: 12.50 EUR',
      'Customer: harbour@example.com',
      'Dashboard: https://dashboard.stripe.com/invoices/in_1MhUT5E0b6fckueSfPlY05Fw',
      'What the customer sees: https://invoice.stripe.com/i/lamp',
    ].join('\n'),
  )
  assert.deepEqual(
    { ...action, says: '' },
    {
      action: 'agent',
      name: 'Stripe',
      sessionKey: 'hook:stripe:in_1MhUT5E0b6fckueSfPlY05Fw',
      thinking: 'low',
      says: '',
    },
  )
})

test('the last attempt gets more thinking', () => {
  const action = run('invoice.payment_failed', { next_payment_attempt: null })
  assert.match(action?.says ?? '', /Stripe does not try again by itself/)
  assert.equal(action && 'thinking' in action && action.thinking, 'high')
})

const amounts = [
  ['eur', 1250, '12.50 EUR'],
  ['usd', 5, '0.05 USD'],
  ['jpy', 1250, '1250 JPY'],
  ['krw', 0, '0 KRW'],
  ['kwd', 1250, '1.250 KWD'],
  ['isk', 125_000, '1250.00 ISK'],
  ['usd', 123_456_789, '1234567.89 USD'],
] as const

for (const [currency, amount_due, shown] of amounts) {
  test(`${amount_due} of the smallest unit of ${currency} are ${shown}`, () => {
    assert.match(
      run('invoice.payment_failed', { currency, amount_due })?.says ?? '',
      new RegExp(`^Due: ${shown}$`, 'm'),
    )
  })
}

test('other events are wakes, at once if a customer must act, or else at the next heartbeat', () => {
  assert.deepEqual(run('invoice.payment_action_required'), {
    action: 'wake',
    mode: 'now',
    says: 'Invoice LAMP-0007 over 12.50 EUR waits for its customer to confirm the payment.',
  })
  assert.deepEqual(run('invoice.paid', { amount_paid: 1250 }), {
    action: 'wake',
    mode: 'next-heartbeat',
    says: 'Invoice LAMP-0007 over 12.50 EUR was paid.',
  })
})

test('an invoice that could not be sent says why, in Stripe’s words', () => {
  const error = { last_finalization_error: { message: 'The tax id is invalid.' } }
  assert.match(
    run('invoice.finalization_failed', error)?.says ?? '',
    /could not be sent: The tax id is invalid\./,
  )
  const payload = { type: 'invoice.finalization_failed', data: { object: { ...invoice, ...error } } }
  const action = weigh(exampleContext({ payload }))
  assert.ok(action && 'message' in action)
  assert.ok(!action.message.parts.some((part) => 'literal' in part && part.literal.includes('tax id')))
})

test('an event of the test mode says so, and its link leads to the test mode', () => {
  const action = run('invoice.marked_uncollectible', {}, false)
  assert.match(action?.says ?? '', /^Invoice LAMP-0007 \(test mode, no real money\) was given up/)
  assert.match(action?.says ?? '', /stripe\.com\/test\/invoices\/in_1/)
})

test('fields that an invoice lacks are left out', () => {
  const action = run('invoice.payment_failed', {
    number: null,
    customer_email: null,
    hosted_invoice_url: null,
  })
  assert.match(action?.says ?? '', /^Invoice in_1MhUT5E0b6fckueSfPlY05Fw could/)
  assert.match(action?.says ?? '', /^Customer: cus_harbour$/m)
  assert.doesNotMatch(action?.says ?? '', /What the customer sees|null|undefined/)
})

for (const type of ['invoice.created', 'invoice.payment_succeeded', 'invoice.upcoming', 'charge.failed']) {
  test(`${type} is skipped`, () => assert.equal(run(type), null))
}

const recorded = recordedSamples('stripe')
const skip = recorded === undefined && 'the recorded bodies are not at hand'

test('no body of Stripe breaks it, and a trial is not a payment', { skip }, () => {
  const events = (recorded ?? []).map(({ body }) => JSON.parse(body))
  for (const payload of events) assert.equal(weigh(exampleContext({ payload })), null, payload.type)
  const paid = events.find(({ type }) => type === 'invoice.paid')
  paid.data.object.amount_paid = 7700
  const action = weigh(exampleContext({ payload: paid }))
  assert.ok(action && 'text' in action)
  assert.equal(
    String(action.text),
    'Invoice 3DAA104C-0001 (test mode, no real money) over 77.00 USD was paid.',
  )
})
