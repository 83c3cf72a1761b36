/** Owns one turn: which model is asked, what it is told, and that the turn ends when it is called off. */

import {
  type PluginContext,
  PluginError,
  type Runner,
  type Turn,
  type TurnCall,
  type TurnResult,
} from '@reveille/kit'
import { readAnswer } from './answer.ts'
import { conversationOf } from './conversation.ts'
import { failureOf } from './failure/failure.ts'
import { type FoundModel, findModel } from './model-name.ts'
import { loadModel, loadSdk, optionsOf } from './models.ts'
import { type AiConfig, parseProviders } from './providers.ts'
import { reasoningOf } from './thinking.ts'
import { createTraffic } from './traffic.ts'

export interface AiRunnerOptions extends Pick<PluginContext<AiConfig>, 'config' | 'fetch' | 'signal'> {
  /** Milliseconds since the Unix epoch. Default: the clock. */
  readonly now?: () => number
}

/** @throws PluginError `bad-config` with all that is missing in the configuration */
export function createAiRunner({ config, fetch, signal: closing, now = Date.now }: AiRunnerOptions): Runner {
  const providers = parseProviders(config)
  if (config.model !== undefined) {
    const found = findModel(config.model, providers)
    if ('reason' in found) throw new PluginError(found.reason, { code: 'bad-config', retryable: false })
  }

  return {
    id: 'ai',
    checkModel(model) {
      const found = findModel(model, providers)
      return 'reason' in found ? found.reason : undefined
    },
    async run(turn, call) {
      const found = findModel(turn.model ?? config.model, providers)
      if ('reason' in found) throw new PluginError(found.reason, { code: found.code, retryable: false })
      const { provider } = found
      const traffic = createTraffic(fetch)
      // Ended with the turn in any case: a stream that the SDK has given up half-read holds its socket open.
      const ended = new AbortController()
      const off = AbortSignal.any([call.signal, closing])
      const calledOff = Promise.withResolvers<never>()
      const callOff = () => calledOff.reject(off.reason)
      off.addEventListener('abort', callOff, { once: true })
      if (off.aborted) callOff()
      try {
        const abortSignal = AbortSignal.any([off, ended.signal])
        const asked = off.aborted ? calledOff.promise : ask(found, turn, call, traffic.fetch, abortSignal)
        // Loading, and whatever the SDK waits for, need not hear of the signal.
        return await Promise.race([calledOff.promise, asked])
      } catch (error) {
        if (off.aborted) throw aborted(off.reason)
        throw failureOf(error, { provider, answerType: traffic.answerType(), now: now() })
      } finally {
        off.removeEventListener('abort', callOff)
        ended.abort()
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
      // The run's own attempts decide, which know of Retry-After and of budgets.
      maxRetries: 0,
      abortSignal,
      telemetry: { isEnabled: false },
      include: { rawChunks: provider.kind === 'google' },
      // The stream carries the error; without this the SDK writes it to standard error.
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

function aborted(cause: unknown): PluginError {
  return new PluginError('The turn was called off.', { code: 'aborted', retryable: true, cause })
}
