/** Runs one turn: chooses the model, sends the conversation, and ends the turn when it is aborted. */

import {
  type Message,
  type PluginContext,
  type PluginError,
  permanentError,
  type Runner,
  type Turn,
  type TurnCall,
  type TurnResult,
  transientError,
  unlessAborted,
} from '@reveille/kit'
import { readAnswer } from './answer.ts'
import { errorFrom } from './errors.ts'
import { loadModel, loadSdk, optionsOf } from './models.ts'
import { type AiConfig, type FoundModel, findModel, parseProviders } from './providers.ts'
import { createTraffic } from './traffic.ts'

interface AiRunnerOptions extends Pick<PluginContext<AiConfig>, 'config' | 'fetch' | 'signal'> {
  /** The time in milliseconds since the Unix epoch. Default: the system's clock. */
  readonly now?: () => number
}

/** @throws PluginError `bad-config` that lists everything that is missing in the configuration */
export function createAiRunner({ config, fetch, signal: closing, now = Date.now }: AiRunnerOptions): Runner {
  const providers = parseProviders(config)
  if (config.model !== undefined) {
    const found = findModel(config.model, providers)
    if ('reason' in found) throw permanentError('bad-config', found.reason)
  }

  return {
    id: 'ai',
    countsTokens: true,
    checkModel(model) {
      const found = findModel(model, providers)
      return 'reason' in found ? found.reason : undefined
    },
    async run(turn, call) {
      const found = findModel(turn.model ?? config.model, providers)
      if ('reason' in found) throw permanentError(found.code, found.reason)
      const { provider } = found
      const traffic = createTraffic(fetch)
      // The request is always aborted with the turn, because a stream that the SDK has left half-read holds its socket open.
      const turnEnd = new AbortController()
      const signal = AbortSignal.any([call.signal, closing])
      try {
        signal.throwIfAborted()
        const abortSignal = AbortSignal.any([signal, turnEnd.signal])
        // Loading the SDK, and some of its own waiting, does not observe the signal.
        return await unlessAborted(ask(found, turn, call, traffic.fetch, abortSignal), signal)
      } catch (error) {
        if (signal.aborted) throw abortError(signal.reason)
        throw errorFrom(error, { provider, answerType: traffic.answerType(), now: now() })
      } finally {
        turnEnd.abort()
      }
    },
  }

  async function ask(
    found: FoundModel,
    turn: Turn,
    { onProgress }: TurnCall,
    fetch: typeof globalThis.fetch,
    abortSignal: AbortSignal,
  ): Promise<TurnResult> {
    const { provider, id } = found
    const [{ streamText }, model] = await Promise.all([loadSdk(), loadModel(provider, id, fetch)])
    const { stream } = streamText({
      model,
      instructions: turn.systemPrompt,
      messages: conversationOf(turn),
      reasoning: reasoningOf(turn.thinking),
      maxOutputTokens: config.maxOutputTokens,
      temperature: config.temperature,
      providerOptions: optionsOf(provider),
      // The run retries by itself and knows Retry-After and budgets.
      maxRetries: 0,
      abortSignal,
      telemetry: { isEnabled: false },
      include: { rawChunks: provider.kind === 'google' },
      // The stream holds the error; without this the SDK also writes it to standard error.
      onError: () => {},
    })
    const answer = await readAnswer(stream, provider, onProgress)
    const { reply, usage, warnings } = answer
    return {
      reply,
      ...(usage && { usage }),
      model: `${provider.name}/${answer.model ?? id}`,
      ...(warnings.length > 0 && { warnings }),
    }
  }
}

function abortError(cause: unknown): PluginError {
  return transientError('aborted', 'The turn was called off.', { cause })
}

interface ShownMessage {
  readonly role: Message['role']
  readonly content: string
}

/** The question before an answer whose own question is no longer known. */
const unknownQuestion = '…'

/**
 * Returns the session's past and the prompt in a form that no vendor refuses. Anthropic refuses blank messages; Gemini and the
 * chat templates of many local models refuse two messages of one role in a row, and a conversation that does not begin with
 * the user.
 */
function conversationOf(turn: Pick<Turn, 'history' | 'prompt'>): ShownMessage[] {
  const messages: ShownMessage[] = []
  for (const { role, text } of [...turn.history, { role: 'user', text: turn.prompt } as const]) {
    if (text.trim() === '') continue
    const last = messages.at(-1)
    if (last?.role === role) messages[messages.length - 1] = { role, content: `${last.content}\n\n${text}` }
    else messages.push({ role, content: text })
  }
  if (messages[0]?.role === 'assistant') messages.unshift({ role: 'user', content: unknownQuestion })
  return messages
}

const levels = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const

/** Returns the SDK's word for a level of thinking, or undefined to leave it to the vendor, as for a level of a newer host. */
function reasoningOf(thinking: string | undefined): 'none' | (typeof levels)[number] | undefined {
  return thinking === 'off' ? 'none' : levels.find((level) => level === thinking)
}
