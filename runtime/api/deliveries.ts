/** Handles the routes that send a text, replay a parked delivery, and set the route of `last`. */

import type { FieldError } from '@reveille/engine'
import type { FastifyReply } from 'fastify'
import type { Unroutable } from '../dispatch/index.ts'
import type { DeliveryRecord, Id } from '../store/port.ts'
import { missing, refuse } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { orderAll } from './parked.ts'
import type { workRoutes } from './routes/work.ts'

export function createDeliveryHandlers(options: AdminOptions) {
  const { deliveries, store, log } = options
  return {
    async sendDelivery({ body, by, reply }) {
      const sent = await deliveries.send(body, by)
      if (!sent.ok) return refuseUnroutable(sent, body.channel, options)
      const { id: deliveryId, channel, to } = sent.delivery
      const bytes = Buffer.byteLength(body.text)
      log.info({ event: 'delivery-send-asked', deliveryId, channel, to, bytes, by })
      reply.code(202)
      return { ok: true, deliveryId, channel, to }
    },
    async replayDelivery({ params: { id }, by }) {
      const { state, channel, to } = await replay(id, by)
      return { ok: true, deliveryId: id, state, channel, to }
    },
    replayDeliveries: ({ body: { channel }, by }) =>
      orderAll(
        ['parked'],
        (state, page) => store.read.deliveries({ ...page, state, ...(channel !== undefined && { channel }) }),
        () => true,
        (id) => replay(id, by),
      ),
    async setRoute({ body, by }) {
      if (body.channel === 'last') {
        const details = [{ pointer: '/channel', message: `must be ${configuredText(options)}` }]
        return refuse('INVALID_FIELD', { sentence: '`last` is what the route says.', details })
      }
      const set = await deliveries.setRoute(body, by)
      if (!set.ok) return refuseUnroutable(set, body.channel, options)
      log.info({ event: 'route-set', ...set.route, by })
      return { route: set.route }
    },
  } satisfies Partial<Handlers<typeof workRoutes>>

  /** @throws RequestError where the delivery is not there, or in another state */
  async function replay(id: Id, by: string): Promise<DeliveryRecord> {
    const result = await deliveries.replay(id, by)
    if (!result.ok && result.why !== 'unknown') {
      const reason = (result.reason ?? 'its state does not allow it').replace(/\.$/, '')
      return refuse('WRONG_STATE', { sentence: `The delivery cannot be replayed: ${reason}.` })
    }
    const delivery = (result.ok && (await store.read.delivery(id))) || missing('delivery')
    const { channel, to, runId } = delivery
    log.info({ event: 'delivery-replay-asked', deliveryId: id, runId, channel, to, by })
    return delivery
  }
}

function refuseUnroutable(
  { field, channel, reason }: Unroutable,
  asked: string,
  options: AdminOptions,
): FastifyReply {
  const at = (message: string): { details: FieldError[] } => ({
    details: [{ pointer: `/${field}`, message }],
  })
  if (field === 'to') {
    const rule = `must be a recipient of the channel ${channel}`
    return refuse('INVALID_FIELD', { sentence: asSentence(reason), ...at(rule) })
  }
  const configured = configuredText(options)
  if (asked === 'last') {
    const sentence = 'No last route is set, and the channel used instead is not configured.'
    return refuse('CHANNEL_NOT_CONFIGURED', { sentence, ...at(`must be ${configured}`) })
  }
  return options.isChannel(channel)
    ? refuse('CHANNEL_NOT_CONFIGURED', {
        sentence: 'The channel exists but is not configured.',
        ...at(`must be ${configured}`),
      })
    : refuse('UNKNOWN_CHANNEL', at(`must be ${configured}`))
}

/** `a channel that is configured (configured: board, terminal)`. */
function configuredText({ current }: AdminOptions): string {
  const names = Object.keys(current().snapshot.settings.channels).sort()
  return `a channel that is configured (configured: ${names.length === 0 ? 'none' : names.join(', ')})`
}

/** The reasons of a channel are sentences, and those of dispatch are clauses. */
function asSentence(reason: string): string {
  const text = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
  return /[.!?]$/.test(text) ? text : `${text}.`
}
