/** Owns reading an answer as it streams: the reply, what it cost, who gave it, and whether it is whole. */

import type { Progress, Usage } from '@reveille/kit'
import type { FinishReason, LanguageModelUsage, TextStreamPart, ToolSet } from 'ai'
import { dropped, problem } from './failure/failure.ts'
import type { Provider } from './providers.ts'
import { sentencesOf } from './warnings.ts'

export interface Answer {
  readonly reply: string
  readonly usage?: Usage
  /** As the vendor calls it. */
  readonly model?: string
  readonly warnings: readonly string[]
}

interface Finish {
  readonly finishReason: FinishReason
  /** In the vendor's own word. */
  readonly rawFinishReason: string | undefined
  readonly totalUsage: LanguageModelUsage
}

/** @throws PluginError when the answer is not whole, and whatever error the stream carries */
export async function readAnswer(
  parts: AsyncIterable<TextStreamPart<ToolSet>>,
  provider: Provider,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Answer> {
  const warnings: string[] = []
  let reply = ''
  let model: string | undefined
  let version: string | undefined
  let finish: Finish | undefined
  for await (const part of parts) {
    switch (part.type) {
      case 'start-step':
        warnings.push(...sentencesOf(part.warnings, provider.name))
        break
      case 'reasoning-start':
        onProgress({ note: 'thinking' })
        break
      case 'text-delta':
        reply += part.text
        if (part.text !== '') onProgress({ text: part.text })
        break
      case 'raw':
        version ??= versionOf(part.rawValue)
        break
      case 'finish-step':
        model = part.response.modelId
        break
      case 'finish':
        finish = part
        break
      case 'error':
        throw part.error
    }
  }
  if (finish === undefined) throw dropped(provider)
  warnings.push(...judgeFinish(finish, reply, provider))
  return { reply, usage: usageOf(finish.totalUsage), model: version ?? model, warnings }
}

/** What the operator should know of how the answer ended. @throws PluginError where it is none */
function judgeFinish({ finishReason, rawFinishReason }: Finish, reply: string, provider: Provider): string[] {
  const { name } = provider
  const reason = rawFinishReason === undefined ? '' : ` (${rawFinishReason})`
  const isBlank = reply.trim() === ''
  switch (finishReason) {
    case 'stop':
      return []
    case 'length':
      return [`${name} cut the answer off at its longest length${reason}.`]
    case 'content-filter': {
      const text = `${name} refused to answer${reason}`
      if (isBlank) throw problem(provider, text, { code: 'refused', retryable: false })
      return [`${name} ended the answer because of its content${reason}.`]
    }
    case 'error': {
      const text = `${name} ended its answer with an error${reason}`
      throw problem(provider, text, { code: 'unavailable', retryable: true })
    }
    case 'tool-calls':
    case 'other':
      if (finishReason === 'other' && rawFinishReason === undefined) throw dropped(provider)
      if (isBlank) {
        const text = `${name} ended without an answer${reason}`
        throw problem(provider, text, { code: 'malformed', retryable: true })
      }
      return [`${name} ended the answer in an unusual way${reason}.`]
    default:
      throw dropped(provider)
  }
}

function usageOf({
  inputTokens,
  outputTokens,
  inputTokenDetails,
  outputTokenDetails,
}: LanguageModelUsage): Usage | undefined {
  const counts = Object.entries({
    inputTokens,
    outputTokens,
    cachedInputTokens: inputTokenDetails.cacheReadTokens,
    reasoningTokens: outputTokenDetails.reasoningTokens,
  }).filter(([, count]) => Number.isSafeInteger(count))
  return counts.length === 0 ? undefined : Object.fromEntries(counts)
}

/** Gemini says which version answered, and its provider package does not pass it on. */
function versionOf(chunk: unknown): string | undefined {
  const version = (chunk as { modelVersion?: unknown } | null)?.modelVersion
  return typeof version === 'string' && version !== '' ? version : undefined
}
