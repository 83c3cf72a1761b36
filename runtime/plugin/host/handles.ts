/**
 * Creates the handles of channels, runners and sources that the rest of the gateway uses. The handle of a channel or a runner stays
 * good across reloads: each call goes to the instance that is live when it is made, and holds that instance until it is over. What a
 * call throws ends up in records that are shown, so the plugin's secrets are removed from it.
 */

import {
  asRecord,
  type Channel,
  type ChannelHealth,
  PluginError,
  type Provider,
  type Redact,
  type Runner,
  type Source,
  type SourceCall,
  type SourceReport,
  type Turn,
  type TurnCall,
  type TurnResult,
} from '@reveille/kit'
import type { Instance } from '../instance/instance.ts'
import { redactError, redactReceipt } from '../instance/redaction.ts'

/** Finds the live instance of a runner. */
export interface RunnerLookup {
  /** Starts the instance if necessary. @throws PluginError if there is none */
  find(): Instance | Promise<Instance>
  /** Returns undefined while the runner is not started. */
  peek(): Instance | undefined
}

/**
 * A runner that starts at its first turn does not say before whether it keeps histories itself. Until then it is given one, and
 * `turnFor` removes it again where the runner turns out to keep its own.
 */
export function createRunnerHandle(name: string, { find, peek }: RunnerLookup): Runner {
  return {
    id: name,
    get keepsHistory() {
      return (peek()?.provided as Runner | undefined)?.keepsHistory
    },
    get countsTokens() {
      const instance = peek()
      return instance && (instance.provided as Runner).countsTokens === true
    },
    get checkModel() {
      const instance = peek()
      if ((instance?.provided as Runner | undefined)?.checkModel === undefined) return undefined
      return (model: string) => (instance === undefined ? undefined : askAboutModel(instance, model))
    },
    async run(turn, call) {
      let instance = await find()
      // A reload may have closed the instance in the meantime.
      while (!instance.acquire()) instance = await find()
      const { provided, redact } = instance
      const { redactedCall, end } = redactProgress(call, redact)
      const run = async () => (provided as Runner).run(turnFor(provided as Runner, turn), redactedCall)
      return releasing(instance, async () => redactResult(await run().finally(end), redact))
    },
  }
}

/** Returns why the runner refuses a model, or undefined. @throws whatever the plugin does, redacted */
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

/** Notes are redacted because they may reach a log, unlike the text of the reply. Progress after the end of a turn is dropped. */
function redactProgress(call: TurnCall, redact: Redact): { redactedCall: TurnCall; end: () => void } {
  const { signal, onProgress } = call
  if (onProgress === undefined) return { redactedCall: call, end: () => {} }
  let isOver = false
  const redactedCall: TurnCall = {
    signal,
    onProgress(progress) {
      if (isOver || signal.aborted) return
      const { note } = progress
      onProgress(typeof note === 'string' ? { ...progress, note: redact(note) } : progress)
    },
  }
  return {
    redactedCall,
    end() {
      isOver = true
    },
  }
}

/** Redacts the texts that are shown beside a reply. They come from a plugin, so their types cannot be relied on. */
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

/** A service may quote a credential in its message about it. */
export function redactHealth({ ok, detail }: ChannelHealth, redact: Redact): ChannelHealth {
  return { ok: ok === true, ...(typeof detail === 'string' && { detail: redact(detail) }) }
}

/** `find` returns the live instance. @throws PluginError if the channel is not configured any more */
export function createChannelHandle(name: string, find: () => Instance): Channel {
  const channel = () => find().provided as Channel
  function holding<Answer>(call: (channel: Channel, redact: Redact) => Promise<Answer>): Promise<Answer> {
    const instance = find()
    instance.acquire()
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
    // Not awaited: the result is there, and the release of the last holder takes as long as the plugin's close.
    void instance.release()
  }
}

/** A source keeps its object for as long as its configuration is the same; a changed configuration has another object. */
export interface LiveSource {
  readonly name: string
  /** Runs the source as the contract of sources says. @throws whatever the plugin does, redacted; PluginError `closed` */
  run(call: SourceCall): Promise<void>
}

export function createSourceHandle(instance: Instance): LiveSource {
  const { specification, provided, redact } = instance
  const { name } = specification
  return {
    name,
    async run(call) {
      if (!instance.acquire()) {
        throw new PluginError(`The source ${name} is closed.`, { code: 'closed', retryable: false })
      }
      const report: SourceCall['report'] = (each) => call.report(redactReport(each, redact))
      return releasing(instance, () => (provided as Source).run({ ...call, report }))
    },
  }
}

/** Asks a provider for deliveries that failed at one endpoint. It keeps its object as a source does. */
export interface LiveProvider {
  readonly endpoint: string
  /** The name that `verify.provider` has. */
  readonly name: string
  /** The configuration as written. */
  readonly given: Readonly<Record<string, unknown>>
  readonly redact: Redact
  /** @throws whatever `action` does, redacted; PluginError `closed` */
  use<Result>(action: (provider: Provider) => Promise<Result>): Promise<Result>
}

export function createProviderHandle(instance: Instance): LiveProvider {
  const { specification, provided, redact } = instance
  const { name: endpoint, id: name, rawConfig } = specification
  return {
    endpoint,
    name,
    given: rawConfig,
    redact,
    async use(action) {
      if (!instance.acquire()) {
        throw new PluginError(`The provider ${name} is closed.`, { code: 'closed', retryable: false })
      }
      return releasing(instance, () => action(provided as Provider))
    },
  }
}

/** A report comes from a plugin, so its type cannot be relied on. */
function redactReport(report: SourceReport, redact: Redact): SourceReport {
  const detail: unknown = asRecord(report)?.['detail']
  return { ...report, detail: typeof detail === 'string' ? redact(detail) : '' }
}
