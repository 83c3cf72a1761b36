/** Sorts Stripe's events about invoices: an agent for failures, a wake for news, and nothing for the rest. */

import { defineTransform, type Prompt, prompt, type TransformContext } from '@reveille/engine/transform'

interface InvoiceEvent {
  readonly type: string
  readonly livemode?: boolean
  readonly data: { readonly object: Invoice }
}

interface Invoice {
  readonly id: string
  readonly number?: string | null
  /** The currency as three letters in lower case. */
  readonly currency: string
  /** The amount in the smallest unit of the currency. */
  readonly amount_due: number
  readonly amount_paid: number
  readonly customer?: string | null
  readonly customer_email?: string | null
  readonly attempt_count?: number
  /** The time in seconds since the Unix epoch. */
  readonly next_payment_attempt?: number | null
  readonly hosted_invoice_url?: string | null
  readonly last_finalization_error?: { readonly message?: string } | null
}

export default defineTransform(({ payload }: TransformContext<InvoiceEvent>) => {
  const invoice = payload.data.object
  switch (payload.type) {
    case 'invoice.payment_failed':
      return ask(
        payload,
        prompt`could not be paid. Tries so far: ${invoice.attempt_count}. ${nextTry(invoice)}`,
      )
    case 'invoice.finalization_failed':
      return ask(
        payload,
        prompt`could not be sent: ${invoice.last_finalization_error?.message ?? prompt`no reason was given`}`,
      )
    case 'invoice.marked_uncollectible':
      return ask(payload, prompt`was given up as uncollectible.`)
    case 'invoice.payment_action_required':
      return tell(payload, prompt`waits for its customer to confirm the payment.`, 'now')
    case 'invoice.overdue':
      return tell(payload, prompt`is overdue.`, 'now')
    // An invoice over nothing, such as for a trial, is not news.
    case 'invoice.paid':
      return invoice.amount_paid > 0 ? tell(payload, prompt`was paid.`, 'next-heartbeat') : null
    // These are drafts, changes, mails, and `invoice.payment_succeeded`, which repeats `invoice.paid`.
    default:
      return null
  }
})

/** All events of one invoice share a conversation. */
function ask(event: InvoiceEvent, what: Prompt) {
  const invoice = event.data.object
  const isLast = invoice.next_payment_attempt == null
  return {
    action: 'agent',
    name: 'Stripe',
    sessionKey: `hook:stripe:${invoice.id}`,
    thinking: isLast ? 'high' : 'low',
    message: prompt.join([
      prompt`${subject(event)} ${what}`,
      prompt`Due: ${money(invoice.amount_due, invoice.currency)}`,
      prompt`Customer: ${invoice.customer_email ?? invoice.customer ?? 'unknown'}`,
      links(event),
      '',
      prompt`Say whether somebody should act today and who, and draft two friendly sentences to the customer if they help. Send nothing, and change nothing at Stripe.`,
    ]),
  } as const
}

function tell(event: InvoiceEvent, what: Prompt, mode: 'now' | 'next-heartbeat') {
  const { amount_due, amount_paid, currency } = event.data.object
  const amount = money(event.type === 'invoice.paid' ? amount_paid : amount_due, currency)
  return { action: 'wake', mode, text: prompt`${subject(event)} over ${amount} ${what}` } as const
}

function subject({ livemode, data: { object: invoice } }: InvoiceEvent): Prompt {
  const test = livemode === false ? prompt` (test mode, no real money)` : null
  return prompt`Invoice ${invoice.number ?? invoice.id}${test}`
}

function nextTry({ next_payment_attempt: at }: Invoice): Prompt {
  return at == null
    ? prompt`Stripe does not try again by itself.`
    : prompt`Stripe tries again at ${new Date(at * 1000).toISOString()}.`
}

function links({ livemode, data: { object: invoice } }: InvoiceEvent): Prompt {
  const test = livemode === false ? prompt`test/` : null
  return prompt.join([
    prompt`Dashboard: https://dashboard.stripe.com/${test}invoices/${invoice.id}`,
    invoice.hosted_invoice_url ? prompt`What the customer sees: ${invoice.hosted_invoice_url}` : null,
  ])
}

/** The currencies as Stripe counts them, which differs from ISO 4217: https://docs.stripe.com/currencies#special-cases */
const decimals = new Map<string, number>([
  ...[
    'bif',
    'clp',
    'djf',
    'gnf',
    'jpy',
    'kmf',
    'krw',
    'mga',
    'pyg',
    'rwf',
    'vnd',
    'vuv',
    'xaf',
    'xof',
    'xpf',
  ].map((currency) => [currency, 0] as const),
  ...['bhd', 'jod', 'kwd', 'omr', 'tnd'].map((currency) => [currency, 3] as const),
])

/** Writes an amount as two values, since a number and a code are each harmless and stay in the sentence. */
function money(smallest: number, currency: string): Prompt {
  const digits = decimals.get(currency) ?? 2
  return prompt`${(smallest / 10 ** digits).toFixed(digits)} ${currency.toUpperCase()}`
}
