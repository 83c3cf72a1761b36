/** Gathers the configuration of a new channel from given values and from a person at a terminal. */

import { parseJson } from '@reveille/kit'
import type { ChannelOffer, Examiner, OfferedKey, PluginProblem } from '../../../plugin/index.ts'
import { badUsage } from '../../command-failure.ts'
import type { Io } from '../../io.ts'
import type { Prompts } from '../../prompts.ts'

/** Parses `--set key=value`; of several for one key the last counts. @throws CommandFailure (bad usage) */
export function parseAssignments(
  texts: readonly string[],
  offer: ChannelOffer,
): ReadonlyMap<string, unknown> {
  return new Map(
    texts.map((text) => {
      const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
      const found = offer.keys.find((each) => each.key === key)
      if (found !== undefined) return [key, readValue(found, value)]
      const names = offer.keys.map((each) => each.key).join(', ')
      const what = key === '' ? text : key
      throw badUsage(`--set ${what}: it takes key=value with one of these keys: ${names}.`)
    }),
  )
}

function readValue({ type }: OfferedKey, text: string): unknown {
  if (type === 'flag' && /^(true|false)$/.test(text)) return text === 'true'
  if (type === 'number' && text.trim() !== '' && !Number.isNaN(Number(text))) return Number(text)
  const parsed = type === 'other' ? parseJson(text) : undefined
  return parsed === undefined ? text : parsed
}

/** Where values come from. */
export interface Sources {
  /** The values of `--set`. */
  readonly assignments: ReadonlyMap<string, unknown>
  /** The variables of the environment and of `.env`. */
  readonly existing: Readonly<Record<string, string | undefined>>
  /** Absent: no questions are asked. */
  readonly prompts?: Prompts | undefined
  /** True if common optional values are asked for as well as required ones. */
  readonly asksUsual: boolean
}

/** The configuration with its secrets, and the variables that will hold those. */
export type Gathered = Awaited<ReturnType<typeof gather>>

/**
 * Takes what `--set` gives, then what the environment holds already, then what the person answers.
 * @throws CommandFailure (bad usage) where that is not a configuration
 */
export async function gather(
  offer: ChannelOffer,
  examine: Examiner,
  { assignments, existing, prompts, asksUsual }: Sources,
  io: Io,
) {
  const config: Record<string, unknown> = Object.fromEntries(assignments)
  /** Key -> the environment variable that holds its value. */
  const variables = new Map<string, string>()
  /** The variables that were there already. */
  const found: string[] = []
  for (const key of offer.keys) {
    const variable = key.isSecret ? (key.variable ?? customaryVariable(offer.name, key.key)) : undefined
    if (variable !== undefined && (key.isRequired || config[key.key] !== undefined))
      variables.set(key.key, variable)
    if (config[key.key] !== undefined) continue
    const kept = variable === undefined || !key.isRequired ? undefined : existing[variable]
    if (variable !== undefined && kept) {
      config[key.key] = kept
      found.push(variable)
      prompts?.note(`${variable} is set already, and is used for ${key.key}.`)
    } else if (prompts !== undefined && (key.isRequired || (asksUsual && key.isUsual))) {
      const value = await ask(key, config, offer, examine, prompts)
      if (value === undefined) continue
      config[key.key] = value
      if (variable !== undefined) variables.set(key.key, variable)
    }
  }
  const problems = examine(config)
  if (problems.length > 0) throw badUsage(problemsText(offer, problems, io))
  return { config: inOrder(config, offer), variables, found }
}

/** The keys in the order of the channel's schema, which is that of its page. */
function inOrder(config: Readonly<Record<string, unknown>>, { keys }: ChannelOffer): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap(({ key }) => (key in config ? [[key, config[key]]] : [])))
}

/** Resolves with undefined for a key that was left out. */
async function ask(
  key: OfferedKey,
  config: Readonly<Record<string, unknown>>,
  offer: ChannelOffer,
  examine: Examiner,
  prompts: Prompts,
): Promise<unknown> {
  const message = `${key.key}: ${key.description}${key.isRequired ? '' : ' (Enter to leave it out)'}`
  if (key.choices !== undefined && key.isRequired) return prompts.choose(message, key.choices)
  const question = {
    message,
    ...(key.default !== undefined && { placeholder: String(key.default) }),
    validate(text: string) {
      if (text.trim() === '') return key.isRequired ? 'It is required.' : undefined
      const own = `channels.${offer.name}.${key.key}`
      const found = examine({ ...config, [key.key]: readValue(key, text.trim()) }).find(
        (problem) => problem.key === own,
      )
      return found && `It ${found.message}${found.hint === undefined ? '' : `: ${found.hint}`}.`
    },
  }
  const text = (await (key.isSecret ? prompts.secret(question) : prompts.text(question))).trim()
  return text === '' ? undefined : readValue(key, text)
}

/** The usual variable of a key: `SLACK_BOT_TOKEN` for `slack` and `botToken`. */
export function customaryVariable(channel: string, key: string): string {
  return `${channel}_${key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')}`.replaceAll(/\W/g, '_').toUpperCase()
}

/** Lists the problems, each with its hint and the way to give the value. */
function problemsText(offer: ChannelOffer, problems: readonly PluginProblem[], io: Io): string {
  const lines = problems.flatMap((problem) => {
    const key = offer.keys.find((each) => problem.key === `channels.${offer.name}.${each.key}`)
    return [
      `${problem.key} ${problem.message}`,
      ...(problem.hint === undefined ? [] : [`  ${problem.hint}`]),
      ...(key === undefined ? [] : [`  ${wayToGive(key, offer)}`]),
    ]
  })
  const reason = io.prompts === undefined ? 'There is no terminal to ask questions at. ' : ''
  return [...lines, `${reason}Nothing was written.`].join('\n')
}

function wayToGive({ key, isSecret, variable }: OfferedKey, { name }: ChannelOffer): string {
  if (!isSecret) return `--set ${key}=…`
  return `${variable ?? customaryVariable(name, key)}=… in the environment, or in .env beside the configuration`
}
