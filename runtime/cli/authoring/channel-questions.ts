/** Owns what a person says of a new channel: asked for at a terminal, or given beforehand. */

import type { ChannelOffer, OfferedKey } from '../../plugin/index.ts'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import type { Prompts } from '../prompts.ts'

/** What was gathered: the configuration with its secrets, and where each of those will be kept. */
export interface Gathered {
  readonly config: Readonly<Record<string, unknown>>
  /** Key -> the environment variable that holds it. */
  readonly variables: ReadonlyMap<string, string>
}

/** Of `--set key=value`. @throws CommandFailure (bad usage) */
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
      throw new CommandFailure(2, `--set takes key=value with one of these keys: ${names}.`)
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

/** What `--set` gives, then what the environment holds already, then what the person says. */
export async function gather(
  offer: ChannelOffer,
  given: ReadonlyMap<string, unknown>,
  known: Readonly<Record<string, string | undefined>>,
  prompts: Prompts | undefined,
  io: Io,
): Promise<Gathered> {
  const config: Record<string, unknown> = Object.fromEntries(given)
  const variables = new Map<string, string>()
  for (const key of offer.keys) {
    const variable = key.isSecret ? (key.variable ?? customaryVariable(offer.name, key.key)) : undefined
    if (variable !== undefined && (key.isRequired || config[key.key] !== undefined))
      variables.set(key.key, variable)
    if (config[key.key] !== undefined) continue
    const kept = variable === undefined || !key.isRequired ? undefined : known[variable]
    if (kept) {
      config[key.key] = kept
      prompts?.note(`${variable} is set already, and is used for ${key.key}.`)
    } else if (prompts !== undefined && (key.isRequired || key.isUsual)) {
      const value = await ask(key, config, offer, prompts)
      if (value === undefined) continue
      config[key.key] = value
      if (variable !== undefined) variables.set(key.key, variable)
    }
  }
  const problems = offer.problems(config)
  if (problems.length > 0) throw new CommandFailure(2, complaint(offer, problems, io))
  return { config, variables }
}

/** Undefined for a key that was left out. */
async function ask(
  key: OfferedKey,
  config: Readonly<Record<string, unknown>>,
  offer: ChannelOffer,
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
      const found = offer
        .problems({ ...config, [key.key]: readValue(key, text.trim()) })
        .find((problem) => problem.key === own)
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

function complaint(offer: ChannelOffer, problems: ReturnType<ChannelOffer['problems']>, io: Io): string {
  const lines = problems.map(
    ({ key, message, hint }) => `${key} ${message}${hint === undefined ? '' : ` (${hint})`}`,
  )
  const ways = offer.keys
    .filter(({ key }) => problems.some((problem) => problem.key === `channels.${offer.name}.${key}`))
    .map(({ key, isSecret, variable, description }) =>
      isSecret
        ? `  ${variable ?? customaryVariable(offer.name, key)} in the environment or in .env: ${description}`
        : `  --set ${key}=…: ${description}`,
    )
  const where = io.prompts === undefined ? 'Nobody is at a terminal to be asked. ' : ''
  return [...lines, `${where}Give what is missing by:`, ...ways].join('\n')
}
