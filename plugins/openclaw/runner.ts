/** Hands turns over to OpenClaw: a run goes to `/hooks/agent`, and each event of a heartbeat to `/hooks/wake`. */

import {
  BoundedMap,
  permanentError,
  type Runner,
  readRetryAfter,
  type Turn,
  type TurnEvent,
  type TurnResult,
  type VendorContext,
} from '@reveille/kit'
import { type Answer, readAnswer } from './answer.ts'
import { addressOf, type Hook, type OpenClawConfig, timeoutMsOf } from './configuration.ts'
import { abortError, errorFrom, foreignAnswer, isAboutSessionKey, noAnswer } from './errors.ts'

interface Message {
  /** The id of the run, by which the gateway recognises a request that comes back to it. */
  readonly runId: string
  /** The idempotency key, which is the same for each attempt, so that newer versions take a run once. */
  readonly key: string
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** True if the caller handles this refusal itself, so that it is returned and not thrown. */
  readonly expects?: (answer: Answer) => boolean
}

type Post = (hook: Hook, message: Message) => Promise<Answer>

/** A generated session key, such as the gateway gives a run of its own. OpenClaw generates similar ones. */
const generatedKey = /^hook:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** UTF-16 units that are sent of an event too large for OpenClaw: at most 64 KiB, a quarter of its default limit. */
const shortenedTo = 16_000

/** Maximum number of remembered events and runs; far more than are retried at a time. */
const maxRemembered = 5000

export function createOpenClawRunner(options: VendorContext<OpenClawConfig>): Runner {
  const { config } = options
  const post = createPost(options)
  /**
   * The events that OpenClaw has taken. A heartbeat that fails is retried with the same events, and `/hooks/wake` does not
   * recognise an event that it has already taken.
   */
  const takenEvents = new BoundedMap<string, true>(maxRemembered)
  /**
   * The seconds that each run had at its first attempt. OpenClaw treats two requests with one idempotency key as one run only
   * if they are equal, and the time that a run has left differs at each attempt.
   */
  const firstTimeouts = new BoundedMap<string, number>(maxRemembered)
  /** True if OpenClaw accepts session keys from requests; false once it has refused one. */
  let takesKeys = config.sessionKey === 'pass'

  return {
    id: 'openclaw',
    keepsHistory: true,
    async run(turn, { signal }) {
      if (turn.kind === 'run') return handOver(turn, signal)
      if (turn.kind === 'heartbeat') return wake(turn, signal)
      throw permanentError('unsupported', 'OpenClaw keeps its own conversations, and sums up none of ours.')
    },
  }

  async function handOver(turn: Turn, signal: AbortSignal): Promise<TurnResult> {
    const { runId, sessionKey } = turn
    const isGenerated = generatedKey.test(sessionKey)
    const message = { runId, key: runId, signal }
    const body = {
      ...bodyOf(turn),
      ...defined({ timeoutSeconds: firstTimeoutOf(turn) }),
    }
    const isPassed = config.sessionKey === 'pass' && (takesKeys || !isGenerated)
    const first = await post('agent', {
      ...message,
      body: isPassed ? { ...body, sessionKey } : body,
      // A refused generated key is no failure, since OpenClaw then generates one itself.
      ...(isPassed && isGenerated && { expects: isAboutSessionKey }),
    })
    const isRefused = isPassed && isAboutSessionKey(first)
    const answer = isRefused ? await post('agent', { ...message, body }) : first
    if (isRefused) takesKeys = false
    firstTimeouts.delete(runId)
    const warnings = isRefused
      ? ['OpenClaw takes no session keys from requests, so it chooses its own for runs that were given none.']
      : []
    return { reply: '', handedOver: nameOf(answer.object['runId']), warnings }
  }

  function firstTimeoutOf({ runId, timeoutSeconds }: Turn): number | undefined {
    if (timeoutSeconds === undefined) return undefined
    const first = firstTimeouts.get(runId) ?? Math.max(1, Math.floor(timeoutSeconds))
    firstTimeouts.set(runId, first)
    return first
  }

  async function wake(turn: Turn, signal: AbortSignal): Promise<TurnResult> {
    const warnings: string[] = []
    for (const event of turn.events) {
      if (takenEvents.has(event.id)) continue
      if (await handOn(event, turn.runId, signal)) {
        warnings.push(`OpenClaw took only the beginning of the event ${event.id}, which is too large for it.`)
      }
      takenEvents.set(event.id, true)
    }
    const count = turn.events.length
    return { reply: '', handedOver: `OpenClaw, ${count} ${count === 1 ? 'event' : 'events'}`, warnings }
  }

  /** Hands an event over, and returns whether it had to be cut. */
  async function handOn(event: TurnEvent, runId: string, signal: AbortSignal): Promise<boolean> {
    const { id, mode } = event
    const text = event.prompt ?? event.text
    const message = { runId, key: id, signal }
    const expects = ({ status }: { status: number }) => status === 413 && text.length > shortenedTo
    const answer = await post('wake', { ...message, body: defined({ text, mode }), expects })
    if (!expects(answer)) return false
    const beginning = withEndMark(text.slice(0, shortenedTo).toWellFormed(), text)
    const note = `[cut: the event ${id} of Reveille holds all ${text.length} characters]`
    await post('wake', { ...message, body: defined({ text: `${beginning}\n${note}`, mode }) })
    return true
  }
}

/** Closes the boundary of cut data with its end mark, without which any following text would count as data too. */
function withEndMark(beginning: string, whole: string): string {
  const [, name, id] = [...beginning.matchAll(/^<([a-z-]{1,40}) id="([^"\n]{1,40})">$/gm)].at(-1) ?? []
  const end = `</${name} id="${id}">`
  return beginning.includes(end) || !whole.includes(end) ? beginning : `${beginning}\n${end}`
}

function bodyOf({ prompt, action, model, thinking }: Turn): Record<string, unknown> {
  const { name, wakeMode, deliver, channel, to } = action ?? {}
  return defined({ message: prompt, name, wakeMode, deliver, channel, to, model, thinking })
}

/** Leaves out what is absent, so that OpenClaw's own defaults apply. */
function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Returns where the run can be followed. */
function nameOf(runId: unknown): string {
  const isName = typeof runId === 'string' && /^[\x21-\x7e]{1,100}$/.test(runId)
  return isName ? `OpenClaw run ${runId}` : 'OpenClaw'
}

/** Creates a function that posts to a hook, and throws a PluginError unless OpenClaw takes the message or the caller expects the refusal. */
function createPost({ config, fetch, now }: VendorContext<OpenClawConfig>): Post {
  return async function post(hook, { runId, key, body, signal, expects }) {
    if (signal.aborted) throw abortError()
    const late = AbortSignal.timeout(timeoutMsOf(config))
    const either = AbortSignal.any([signal, late])
    const headers = {
      authorization: `Bearer ${config.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': key,
      'x-reveille-run': runId,
    }
    let answer: Answer
    let response: Response
    try {
      const request = { method: 'POST', headers, body: JSON.stringify(body), signal: either }
      response = await fetch(addressOf(config, hook), request)
      answer = await readAnswer(response, signal)
    } catch (error) {
      throw noAnswer(error, { signal, late, timeout: config.timeout })
    }
    if (response.ok && answer.isForeign) throw foreignAnswer(answer)
    if ((response.ok && answer.object['ok'] !== false) || expects?.(answer)) return answer
    const retryAfter = readRetryAfter(response.headers.get('retry-after'), now())
    throw errorFrom(answer, { config, hook, retryAfter })
  }
}
