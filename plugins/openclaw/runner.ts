/** Owns how a turn becomes requests to OpenClaw: a run goes to `/hooks/agent`, each event of a heartbeat to `/hooks/wake`. */

import { PluginError, type Runner, type Turn, type TurnEvent, type TurnResult } from '@reveille/kit'
import { isAboutSessionKey } from './failure.ts'
import { createFirstTimes } from './first-times.ts'
import { createHandedEvents } from './handed-events.ts'
import { createPost, type PostOptions } from './post.ts'

/** A key that nobody chose: ours for a run of its own. OpenClaw makes up one like it. */
const madeUp = /^hook:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What is left of an event that OpenClaw calls too large: 64 KiB at most, a quarter of its default. Characters. */
const shortenedTo = 16_000

export function createOpenClawRunner(options: PostOptions): Runner {
  const { config } = options
  const post = createPost(options)
  const handed = createHandedEvents()
  const firstTimes = createFirstTimes()
  /** Known once it has refused one. */
  let takesKeys = config.sessionKey === 'pass'

  return {
    id: 'openclaw',
    keepsHistory: true,
    async run(turn, { signal }) {
      if (turn.kind === 'run') return handOver(turn, signal)
      if (turn.kind === 'heartbeat') return wake(turn, signal)
      throw new PluginError('OpenClaw keeps its own conversations, and sums up none of ours.', {
        code: 'unsupported',
        retryable: false,
      })
    },
  }

  async function handOver(turn: Turn, signal: AbortSignal): Promise<TurnResult> {
    const { runId, sessionKey } = turn
    const isMadeUp = madeUp.test(sessionKey)
    const message = { runId, key: runId, signal }
    const body = {
      ...bodyOf(turn),
      ...defined({ timeoutSeconds: firstTimes.of(runId, turn.timeoutSeconds) }),
    }
    const isPassed = config.sessionKey === 'pass' && (takesKeys || !isMadeUp)
    const first = await post('agent', {
      ...message,
      body: isPassed ? { ...body, sessionKey } : body,
      // A key that nobody chose is not worth a failure: OpenClaw chooses one then.
      ...(isPassed && isMadeUp && { expects: isAboutSessionKey }),
    })
    const isRefused = isPassed && isAboutSessionKey(first)
    const answer = isRefused ? await post('agent', { ...message, body }) : first
    if (isRefused) takesKeys = false
    firstTimes.forget(runId)
    const warnings = isRefused
      ? ['OpenClaw takes no session keys from requests, so it chooses its own for runs that were given none.']
      : []
    return { reply: '', handedOver: nameOf(answer.object['runId']), warnings }
  }

  async function wake(turn: Turn, signal: AbortSignal): Promise<TurnResult> {
    const warnings: string[] = []
    for (const event of turn.events) {
      if (handed.has(event.id)) continue
      if (await handOn(event, turn.runId, signal)) {
        warnings.push(`OpenClaw took only the beginning of the event ${event.id}, which is too large for it.`)
      }
      handed.add(event.id)
    }
    const count = turn.events.length
    return { reply: '', handedOver: `OpenClaw, ${count} ${count === 1 ? 'event' : 'events'}`, warnings }
  }

  /** Answers whether it had to be cut. */
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

/** Data from outside stands between marks with an id: without the second one, whatever follows would stand there too. */
function withEndMark(beginning: string, whole: string): string {
  const [, name, id] = [...beginning.matchAll(/^<([a-z-]{1,40}) id="([^"\n]{1,40})">$/gm)].at(-1) ?? []
  const end = `</${name} id="${id}">`
  return beginning.includes(end) || !whole.includes(end) ? beginning : `${beginning}\n${end}`
}

function bodyOf({ prompt, action, model, thinking }: Turn): Record<string, unknown> {
  const { name, wakeMode, deliver, channel, to } = action ?? {}
  return defined({ message: prompt, name, wakeMode, deliver, channel, to, model, thinking })
}

/** What is absent is left out, so that OpenClaw's own defaults hold. */
function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Where the run can be followed. */
function nameOf(runId: unknown): string {
  const isName = typeof runId === 'string' && /^[\x21-\x7e]{1,100}$/.test(runId)
  return isName ? `OpenClaw run ${runId}` : 'OpenClaw'
}
