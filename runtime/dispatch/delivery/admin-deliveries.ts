/** Handles what operators ask of deliveries: to send a text, to replay a parked one, and to set where `last` goes. */

import { channelName } from '@reveille/engine'
import type { CommandResult, DeliveryRecord, Id, Route, RunRecord } from '../../store/port.ts'
import { deliveryTask, onlyParked } from '../../store/task-keys.ts'
import type { DispatchOptions } from '../options.ts'
import { type Destination, resolveDestination } from './destination.ts'
import { laneTo } from './outgoing.ts'

export type AdminDeliveries = ReturnType<typeof createAdminDeliveries>

/** A destination that cannot be used. */
export interface Unroutable {
  readonly ok: false
  /** Which of the two fields is at fault. */
  readonly field: 'channel' | 'to'
  /** The channel's name, with `last` resolved. */
  readonly channel: string
  /** One sentence. It is the channel's own if the channel refuses the address. */
  readonly reason: string
}

export type AdminDeliveriesOptions = Pick<DispatchOptions, 'store' | 'current' | 'channel' | 'now' | 'mintId'>

/** Codes of deliveries whose address was at fault, so that they may be addressed again. */
const addressCodes: readonly (string | undefined)[] = ['NO_ROUTE', 'bad-target']

export function createAdminDeliveries(options: AdminDeliveriesOptions) {
  const { store, current, now, mintId } = options
  const channels = () => ({ channel: options.channel, channels: current().snapshot.settings.channels })

  /** Replaces an alias by the channel's own name: `teams` is `msteams`. */
  function named(route: Route): Route {
    const { channels } = current().snapshot.settings
    return { ...route, channel: channelName(route.channel, (name) => Object.hasOwn(channels, name)) }
  }

  function unroutable({ channel, reason }: Extract<Destination, { ok: false }>): Unroutable {
    return { ok: false, field: options.channel(channel) === undefined ? 'channel' : 'to', channel, reason }
  }

  /**
   * Returns where a replayed delivery should go. If nothing of it was sent because its address was at fault, that is what
   * the run asked for: the last route and the channel's `defaultTo` may have changed. Any other goes where it went before.
   */
  async function addressOf(delivery: DeliveryRecord): Promise<Route> {
    const isWellAddressed = delivery.receipts.length > 0 || !addressCodes.includes(delivery.code)
    const run = isWellAddressed || !delivery.runId ? undefined : await store.read.run(delivery.runId)
    return run === undefined ? delivery : addressOfRun(run, delivery.id)
  }

  return {
    /** Sends to a channel's name or `last`. Without `to` it goes where a run's reply would. @throws StoreError `BACKLOG` and others */
    async send({ channel, to, text }: Route & { readonly text: string }, by?: string) {
      const address = named(to === undefined ? { channel } : { channel, to })
      const destination = resolveDestination(address, await store.read.route(), channels())
      if (!destination.ok) return unroutable(destination)
      const at = now()
      const delivery: DeliveryRecord = {
        id: mintId(),
        state: 'pending',
        channel: destination.channel,
        to: destination.to,
        text,
        receipts: [],
        attempts: 0,
        generation: current().generation,
        createdAt: at,
        nextAt: at,
        ...(by !== undefined && { by }),
      }
      await store.command({ type: 'send', delivery, task: taskFor(delivery.id, destination, at) })
      return { ok: true as const, delivery }
    },

    /** Makes a parked delivery pending again. It continues after the parts that have arrived. @throws StoreError */
    async replay(id: Id, by?: string): Promise<CommandResult> {
      const delivery = await store.read.delivery(id)
      if (delivery === undefined) return { ok: false, why: 'unknown' }
      const { state } = delivery
      if (state !== 'parked') return { ok: false, why: 'state', reason: onlyParked(state) }
      const address = await addressOf(delivery)
      const destination = resolveDestination(address, await store.read.route(), channels())
      if (!destination.ok) return { ok: false, why: 'state', reason: destination.reason }
      const { channel, to } = destination
      const at = now()
      const task = taskFor(id, destination, at)
      const named = by !== undefined && { by }
      return store.command({ type: 'replay-delivery', delivery: id, at, to: { channel, to }, task, ...named })
    },

    /** Sets where `last` goes from now on, whatever `agents.route` says. @throws StoreError */
    async setRoute(asked: Route, by = '') {
      const route = named(asked)
      // The last route is left out, because it is what is being set.
      const destination = resolveDestination(route, undefined, channels())
      if (!destination.ok) return unroutable(destination)
      const { channel } = destination
      const newRoute: Route = route.to === undefined ? { channel } : { channel, to: route.to }
      await store.command({ type: 'set-route', route: newRoute, by })
      return { ok: true as const, route: newRoute }
    },
  }
}

/** A run's deliveries are in the order of its targets. */
function addressOfRun(run: RunRecord, delivery: Id): Route {
  return run.deliverTo?.[run.deliveryIds.indexOf(delivery)] ?? run
}

function taskFor(id: Id, destination: Extract<Destination, { ok: true }>, dueAt: number) {
  return deliveryTask({ id, channel: destination.channel, lane: laneTo(destination), dueAt })
}
