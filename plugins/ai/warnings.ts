/** Owns saying what a vendor could not do of what was asked, in sentences for the operator. */

import type { CallWarning } from 'ai'

/** Each once, however often the SDK says it. */
export function sentencesOf(warnings: readonly CallWarning[], provider: string): string[] {
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

/** The setting by the name that our configuration gives it. */
function ours(feature: string): string {
  return feature === 'reasoning' ? 'thinking' : feature
}

function ended(details: string | undefined): string {
  if (details === undefined || details.trim() === '') return '.'
  return `: ${details.trim().replace(/\.?$/, '.')}`
}
