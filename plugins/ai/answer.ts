/** Reads an answer as it streams: the reply, its cost, the model, and whether it is complete. */

import type { Progress, Usage } from '@reveille/kit'
import type { CallWarning, LanguageModelUsage, TextStreamPart, ToolSet } from 'ai'
import { dropped, problem } from './errors.ts'
import type { Provider } from './providers.ts'

type Finish = Extract<TextStreamPart<ToolSet>, { type: 'finish' }>

/** Reads an answer. @throws PluginError if the answer is incomplete, or the error in the stream */
export async function readAnswer(
  parts: AsyncIterable<TextStreamPart<ToolSet>>,
  provider: Provider,
  onProgress: (progress: Progress) => void = () => {},
) {
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
  warnings.push(...checkFinish(finish, reply, provider))
  // The model has the vendor's own name.
  return { reply, usage: usageOf(finish.totalUsage), model: version ?? model, warnings }
}

/** Returns warnings about the end of the answer. @throws PluginError if it is not an answer */
function checkFinish({ finishReason, rawFinishReason }: Finish, reply: string, provider: Provider): string[] {
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

/** Reads Gemini's version of the model, which its provider package does not pass on. */
function versionOf(chunk: unknown): string | undefined {
  const version = (chunk as { modelVersion?: unknown } | null)?.modelVersion
  return typeof version === 'string' && version !== '' ? version : undefined
}

/** Returns a sentence for each warning about what the vendor could not do, without repetitions. */
function sentencesOf(warnings: readonly CallWarning[], provider: string): string[] {
  return [...new Set(warnings.map((warning) => sentenceOf(warning, provider)))]
}

function sentenceOf(warning: CallWarning, provider: string): string {
  switch (warning.type) {
    case 'unsupported':
      return `${provider} ignored the setting \`${ours(warning.feature)}\`${ended(warning.details)}`
    case 'compatibility':
      return `${provider} took the setting \`${ours(warning.feature)}\` in another way${ended(warning.details)}`
    case 'deprecated':
      return `${provider} is about to drop the setting \`${warning.setting}\`${ended(warning.message)}`
    case 'other':
      return `${provider} warns${ended(warning.message)}`
  }
}

/** Returns the name that a setting has in the configuration. */
function ours(feature: string): string {
  return feature === 'reasoning' ? 'thinking' : feature
}

function ended(details: string | undefined): string {
  if (details === undefined || details.trim() === '') return '.'
  return `: ${details.trim().replace(/\.?$/, '.')}`
}
