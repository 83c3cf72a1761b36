/**
 * Owns the faces that the rest of the gateway holds on to. A handle stays good across reloads: each call goes to
 * the instance that is live when it is made, and keeps that instance open until it has its answer. What a call throws
 * ends up in records that are shown, so it leaves here without the plugin's secrets.
 */

import type { Channel, ChannelHealth, Redact, Runner, Turn, TurnCall, TurnResult } from '@reveille/kit'
import type { Instance } from './instance.ts'
import { redactError, redactReceipt } from './redaction.ts'

/** How the live instance of a runner is come by. */
export interface RunnerWays {
  /** It may have to be started first. @throws PluginError when there is none */
  find(): Instance | Promise<Instance>
  /** Undefined while it is not started. */
  peek(): Instance | undefined
}

/**
 * What a runner that starts at its first turn says of itself is known from then on. Until then it is taken for one
 * that needs a history; one that does not need it is not shown it all the same.
 */
export function createRunnerHandle(name: string, { find, peek }: RunnerWays): Runner {
  return {
    id: name,
    get keepsHistory() {
      return (peek()?.provided as Runner | undefined)?.keepsHistory
    },
    get checkModel() {
      const instance = peek()
      if ((instance?.provided as Runner | undefined)?.checkModel === undefined) return undefined
      return (model: string) => (instance === undefined ? undefined : askAboutModel(instance, model))
    },
    async run(turn, call) {
      let instance = await find()
      // A reload may have closed it while this call was on its way.
      while (!instance.hold()) instance = await find()
      const { provided, redact } = instance
      const { telling, end } = tellProgress(call, redact)
      const asked = () => (provided as Runner).run(turnFor(provided as Runner, turn), telling)
      return releasing(instance, async () => redactResult(await asked().finally(end), redact))
    },
  }
}

/** Why the runner refuses it; undefined where it does not. @throws whatever the plugin does, redacted */
export function askAboutModel({ provided, redact }: Instance, model: string): string | undefined {
  try {
    const refusal = (provided as Runner).checkModel?.(model)
    return refusal === undefined ? undefined : redact(refusal)
  } catch (error) {
    throw redactError(error, redact)
  }
}

function turnFor(runner: Runner, turn: Turn): Turn {
  const isBare = turn.history.length === 0 || turn.kind === 'compaction' || runner.keepsHistory !== true
  return isBare ? turn : Object.freeze({ ...turn, history: [] })
}

/** Notes may reach a log; what the reply grows by goes where the reply goes. Nothing is told of a turn that is over. */
function tellProgress(call: TurnCall, redact: Redact): { telling: TurnCall; end: () => void } {
  const { signal, onProgress } = call
  if (onProgress === undefined) return { telling: call, end: () => {} }
  let isOver = false
  const telling: TurnCall = {
    signal,
    onProgress(progress) {
      if (isOver || signal.aborted) return
      const { note } = progress
      onProgress(typeof note === 'string' ? { ...progress, note: redact(note) } : progress)
    },
  }
  return {
    telling,
    end() {
      isOver = true
    },
  }
}

/** The texts that are shown beside a reply; they are a plugin's, so their types are no more than a promise. */
function redactResult(result: TurnResult, redact: Redact): TurnResult {
  const { warnings, handedOver } = (result as TurnResult | undefined) ?? {}
  if (warnings === undefined && handedOver === undefined) return result
  const texts: readonly unknown[] = Array.isArray(warnings) ? warnings : []
  return {
    ...result,
    warnings: texts.filter((text) => typeof text === 'string').map(redact),
    ...(typeof handedOver === 'string' && { handedOver: redact(handedOver) }),
  }
}

/** What a service says of a credential may quote it. */
export function redactHealth({ ok, detail }: ChannelHealth, redact: Redact): ChannelHealth {
  return { ok: ok === true, ...(typeof detail === 'string' && { detail: redact(detail) }) }
}

/** `find` answers the live instance. @throws PluginError when the channel is not configured any more */
export function createChannelHandle(name: string, find: () => Instance): Channel {
  const channel = () => find().provided as Channel
  function holding<Answer>(call: (channel: Channel, redact: Redact) => Promise<Answer>): Promise<Answer> {
    const instance = find()
    instance.hold()
    return releasing(instance, () => call(instance.provided as Channel, instance.redact))
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
      const { redact } = find()
      return (signal: AbortSignal) =>
        holding(async (live) => redactHealth((await live.check?.(signal)) ?? { ok: true }, redact))
    },
    target: (to) => redacting(find(), (live) => live.target(to)),
    render: (markdown) => redacting(find(), (live) => live.render(markdown)),
    send: async (part, call) =>
      holding(async (live, redact) => redactReceipt(await live.send(part, call), redact)),
  }
}

/** @throws whatever the plugin does, without its secrets */
export function redacting<Answer>(
  { provided, redact }: Instance,
  call: (channel: Channel) => Answer,
): Answer {
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
