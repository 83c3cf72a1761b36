/**
 * Owns the faces that the rest of the gateway holds on to. A handle stays good across reloads: each call goes to
 * the instance that is live when it is made, and keeps that instance open until it has its answer. What a call throws
 * ends up in records that are shown, so it leaves here without the plugin's secrets.
 */

import type { Channel, Runner } from '@reveille/kit'
import type { Instance } from './instance.ts'
import { redactError } from './redaction.ts'

/** `find` answers the live instance; a runner may have to be started first. @throws PluginError when there is none */
export function createRunnerHandle(name: string, find: () => Instance | Promise<Instance>): Runner {
  return {
    id: name,
    async run(turn, call) {
      let instance = await find()
      // A reload may have closed it while this call was on its way.
      while (!instance.hold()) instance = await find()
      return releasing(instance, () => (instance.provided as Runner).run(turn, call))
    },
  }
}

/** `find` answers the live instance. @throws PluginError when the channel is not configured any more */
export function createChannelHandle(name: string, find: () => Instance): Channel {
  const channel = () => find().provided as Channel
  function holding<Answer>(call: (channel: Channel) => Promise<Answer>): Promise<Answer> {
    const instance = find()
    instance.hold()
    return releasing(instance, () => call(instance.provided as Channel))
  }

  return {
    id: name,
    get limits() {
      return channel().limits
    },
    get idempotency() {
      return channel().idempotency
    },
    get defaultTo() {
      return channel().defaultTo
    },
    get check() {
      if (channel().check === undefined) return undefined
      return (signal: AbortSignal) => holding(async (live) => (await live.check?.(signal)) ?? { ok: true })
    },
    target: (to) => redacting(find(), (live) => live.target(to)),
    render: (markdown) => redacting(find(), (live) => live.render(markdown)),
    send: async (part, call) => holding((live) => live.send(part, call)),
  }
}

function redacting<Answer>({ provided, redact }: Instance, call: (channel: Channel) => Answer): Answer {
  try {
    return call(provided as Channel)
  } catch (error) {
    throw redactError(error, redact)
  }
}

async function releasing<Answer>(instance: Instance, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    throw redactError(error, instance.redact)
  } finally {
    // Not awaited: the answer is there, and the last holder's release takes as long as the plugin's close.
    void instance.release()
  }
}
