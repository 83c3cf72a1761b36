/** Owns what a person says of a new channel: asked for at a terminal, or given beforehand. */

import type { ChannelOffer, Examiner, OfferedKey, PluginProblem } from '../../../plugin/index.ts'
import { CommandFailure } from '../../command-failure.ts'
import type { Io } from '../../io.ts'
import type { Prompts } from '../../prompts.ts'

/** What was gathered: the configuration with its secrets, and where each of those will be kept. */
export interface Gathered {
  readonly config: Readonly<Record<string, unknown>>
  /** Key -> the environment variable that holds it. */
  readonly variables: ReadonlyMap<string, string>
  /** Those of the variables that were there already. */
  readonly found: readonly string[]
}

/** Of `--set key=value`; the last one of a key holds. @throws CommandFailure (bad usage) */
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
      throw new CommandFailure(2, `--set ${what}: it takes key=value with one of these keys: ${names}.`)
    }),
  )
}

function readValue({ type }: OfferedKey, text: string): unknown {
  if (type === 'flag' && /^(true|false)$/.test(text)) return text === 'true'
  if (type === 'number' && text.trim() !== '' && !Number.isNaN(Number(text))) return Number(text)
  return type === 'other' ? parseOr(text) : text
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Where answers come from. */
export interface Sources {
  /** By `--set`. */
  readonly given: ReadonlyMap<string, unknown>
  /** Variables of the environment and of `.env`. */
  readonly known: Readonly<Record<string, string | undefined>>
  /** Absent: nobody is asked. */
  readonly prompts?: Prompts | undefined
  /** Whether what most people set is asked for as well as what is required. */
  readonly asksUsual: boolean
}

/** Whether something is required that neither `--set` nor a variable gives. */
export function isMissing(
  { name, keys }: ChannelOffer,
  { given, known }: Pick<Sources, 'given' | 'known'>,
): boolean {
  return keys.some(
    ({ key, isRequired, isSecret, variable }) =>
      isRequired && !given.has(key) && !(isSecret && known[variable ?? customaryVariable(name, key)]),
  )
}

/**
 * What `--set` gives, then what the environment holds already, then what the person says.
 * @throws CommandFailure (bad usage) where that is not a configuration
 */
export async function gather(
  offer: ChannelOffer,
  examine: Examiner,
  { given, known, prompts, asksUsual }: Sources,
  io: Io,
): Promise<Gathered> {
  const config: Record<string, unknown> = Object.fromEntries(given)
  const variables = new Map<string, string>()
  const found: string[] = []
  for (const key of offer.keys) {
    const variable = key.isSecret ? (key.variable ?? customaryVariable(offer.name, key.key)) : undefined
    if (variable !== undefined && (key.isRequired || config[key.key] !== undefined))
      variables.set(key.key, variable)
    if (config[key.key] !== undefined) continue
    const kept = variable === undefined || !key.isRequired ? undefined : known[variable]
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
  if (problems.length > 0) throw new CommandFailure(2, complaint(offer, problems, io))
  return { config: inOrder(config, offer), variables, found }
}

/** As the channel's schema has them, which is how its page tells of them. */
function inOrder(config: Readonly<Record<string, unknown>>, { keys }: ChannelOffer): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap(({ key }) => (key in config ? [[key, config[key]]] : [])))
}

/** Undefined for a key that was left out. */
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

/** `SLACK_BOT_TOKEN` of `slack` and `botToken`. */
function customaryVariable(channel: string, key: string): string {
  return `${channel}_${key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')}`.replaceAll(/\W/g, '_').toUpperCase()
}

/** Each problem, what the key is for, and how it is given. */
function complaint(offer: ChannelOffer, problems: readonly PluginProblem[], io: Io): string {
  const lines = problems.flatMap((problem) => {
    const key = offer.keys.find((each) => problem.key === `channels.${offer.name}.${each.key}`)
    return [
      `${problem.key} ${problem.message}`,
      ...(problem.hint === undefined ? [] : [`  ${problem.hint}`]),
      ...(key === undefined ? [] : [`  ${wayToGive(key, offer)}`]),
    ]
  })
  const nobody = io.prompts === undefined ? 'There is no terminal at which somebody could be asked. ' : ''
  return [...lines, `${nobody}Nothing was written.`].join('\n')
}

function wayToGive({ key, isSecret, variable }: OfferedKey, { name }: ChannelOffer): string {
  if (!isSecret) return `--set ${key}=…`
  return `${variable ?? customaryVariable(name, key)}=… in the environment, or in .env beside the configuration`
}
