/** Checks literal fields at load with the checks for requests. */

import type { MappingSource } from '../../config/configuration.ts'
import type { FieldName } from '../../config/values/fields.ts'
import { thinkingLevels } from '../../config/values/fields.ts'
import { nearestName } from '../../config/values/nearest.ts'
import type { Path } from '../../config/values/path.ts'
import {
  type Checked,
  checkChannel,
  checkContent,
  checkDeliver,
  checkMode,
  checkModel,
  checkSessionKey,
  checkThinking,
  checkTimeout,
  isProblem,
  type Rules,
  wakeModes,
} from '../../resolve/admit/rules.ts'
import type { RefusalCode } from '../../resolve/model/refusal.ts'
import type { Report } from './report.ts'

/** `path` leads to the field, which may stand in `deliverTo`. */
export function checkLiteral(
  name: FieldName,
  path: Path,
  value: unknown,
  source: MappingSource,
  rules: Rules,
  report: Report,
): void {
  const checked = literalCheck(name, value, source, rules)
  if (checked === undefined || !isProblem(checked)) return
  const hint = literalHint(name, value, checked.code, rules)
  report.error({ code: checked.code, path, message: checked.message, hint })
}

function literalCheck(
  name: FieldName,
  value: unknown,
  source: MappingSource,
  rules: Rules,
): Checked<unknown> | undefined {
  // A blank field counts as absent, except the text.
  const blank = typeof value === 'string' && value.trim() === ''
  if (blank && name !== 'text' && name !== 'message') return undefined
  switch (name) {
    case 'text':
    case 'message':
      return checkContent(value)
    case 'mode':
    case 'wakeMode':
      return checkMode(value)
    case 'deliver':
      return checkDeliver(value)
    case 'channel':
      // Whether it is delivered may be known only at run time; admission checks again.
      return checkChannel(value, source.deliver === undefined || source.deliver === true, rules)
    case 'model':
      return checkModel(value, rules)
    case 'thinking':
      return checkThinking(value)
    case 'timeoutSeconds':
      return checkTimeout(value)
    case 'sessionKey':
      return checkSessionKey(value, rules)
    default:
      return undefined
  }
}

function literalHint(name: FieldName, value: unknown, code: RefusalCode, rules: Rules): string | undefined {
  if (typeof value !== 'string') return undefined
  if (name === 'deliver') return 'Write true or false, without quotes.'
  if (name === 'timeoutSeconds')
    return 'Write a number without quotes and without a unit: 600 for ten minutes.'
  const nearest = nearestName(value, knownNames(name, rules))
  if (nearest !== undefined && nearest !== value) return `Did you mean ${nearest}?`
  if (code === 'CHANNEL_NOT_CONFIGURED') return 'Configure it under channels, or write last.'
  if (name === 'channel') return 'There is no such channel; a plugin of your own may bring it.'
  if (name === 'model' && !value.includes('/'))
    return `Write it like openai/gpt-5, or name an alias of \`agents.defaults.models.aliases\`, ${aliasesOf(rules)}.`
  return undefined
}

function aliasesOf({ models }: Rules): string {
  const names = Object.keys(models?.aliases ?? {})
  return names.length === 0 ? 'where there is none yet' : `which are ${names.join(', ')}`
}

function knownNames(name: FieldName, rules: Rules): readonly string[] {
  if (name === 'channel') return ['last', ...rules.channels]
  if (name === 'thinking') return thinkingLevels
  if (name === 'mode' || name === 'wakeMode') return wakeModes
  if (name === 'model') return [...(rules.models?.allowed ?? []), ...Object.keys(rules.models?.aliases ?? {})]
  return []
}
