/** The provider `stripe`: registers webhook endpoints of the account, and lists what they could not deliver. */

import { asRecord, definePlugin, type Registration, unlessGone } from '@reveille/kit'
import { createStripeApi } from './api.ts'
import { missedEvents } from './missed.ts'

/** The configuration as `config.schema.json` checks it. */
interface CatchUp {
  readonly hookId: string
  readonly token: string
  readonly api?: string
}

const registration: Registration = {
  ownerOf: () => ({ keys: {}, name: 'the account' }),
  eventsOf({ body }) {
    const eventType = asRecord(body)?.['type']
    const names = typeof eventType === 'string' ? [eventType] : eventType
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : undefined
  },
  open(_owner, call) {
    const api = createStripeApi(call)
    return {
      choosesSecret: false,
      list: api.listEndpoints,
      create: (wanted) => api.createEndpoint(wanted),
      update: (id, wanted) => api.updateEndpoint(id, wanted),
      remove: (id) => unlessGone(() => api.deleteEndpoint(id)),
    }
  },
}

export default definePlugin<CatchUp>({
  name: 'stripe',
  setup: ({ config, fetch }) => ({
    providers: [
      {
        id: 'stripe',
        title: 'Stripe',
        missedSince: (from, call) =>
          missedEvents(createStripeApi({ ...config, ...call, fetch }), config.hookId, from),
      },
    ],
  }),
  registration,
})
