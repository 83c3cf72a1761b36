/** `reveille init channel`: asks for what a channel needs, tries it, and adds it to the configuration. */

import { readFile } from 'node:fs/promises'
import type { Settings } from '@reveille/engine'
import type { ChannelHealth } from '@reveille/kit'
import { offerOf, type PluginProblem, PluginSetupError, tryChannel } from '../../../plugin/index.ts'
import { addToEnvFile, readEnvFile } from '../../../scaffold/add-to-env-file.ts'
import { addToConfiguration, escapeReferences } from '../../../scaffold/edit-configuration.ts'
import { replaceFile } from '../../../scaffold/replace-file.ts'
import { badUsage } from '../../command-failure.ts'
import { configWords, findConfiguration, load, shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { editOrFail, envFileOf } from '../../webhooks/connection-file.ts'
import { type Gathered, gather, isMissing, parseAssignments } from './channel-questions.ts'

/** @returns 1 where the service refuses the credential; then nothing was written */
export async function initChannel(
  name: string,
  folder: string | undefined,
  io: Io,
  options: CommandOptions,
): Promise<number> {
  const file = findConfiguration(io, io.config ?? folder)
  const settings = await settingsOf(file, io)
  const offer = await orFailure(async () => offerOf(name, settings))
  const text = await readFile(file, 'utf8')
  const shown = shownPath(file, io)
  const withChannel = (entry: Readonly<Record<string, unknown>>) =>
    editOrFail(text, (before) => addToConfiguration(before, 'channels', name, entry), shown)
  // This fails before a person types a credential for nothing.
  withChannel({})

  const envFile = envFileOf(file)
  const kept = readEnvFile(envFile)
  const assignments = parseAssignments(options.set ?? [], offer)
  const existing = { ...kept, ...io.env }
  // With `--set` only required values that are missing are asked for.
  const isAsked = options.set === undefined || isMissing(offer, { assignments, existing })
  const prompts = io.json || !isAsked ? undefined : await io.prompts?.()
  prompts?.begin(`Channel ${name}`)
  const sources = { assignments, existing, prompts, asksUsual: options.set === undefined }
  const examine = await orFailure(() => offer.configurationCheck())
  let gathered: Gathered
  let check: ChannelHealth | undefined
  for (;;) {
    gathered = await gather(offer, examine, sources, io)
    const { config } = gathered
    const trying = () => orFailure(() => tryChannel(name, config, settings, { fetch: io.fetch }))
    if (options.check === false) break
    check = await (prompts?.during('Asking the service whether this is good', trying, healthText) ?? trying())
    if (check?.ok !== false) break
    // A credential that was not asked for cannot be asked for again.
    const again = gathered.found.length === 0 ? ['Ask me again'] : []
    const ways = [...again, 'Write nothing', 'Write it all the same']
    const chosen = prompts === undefined ? 'Write nothing' : await prompts.choose('What now?', ways)
    if (chosen === 'Write it all the same') break
    if (chosen === again[0]) continue
    const lines = [
      `${name}: ${check.detail ?? 'the service cannot be used'}`,
      'Nothing was written. To write it all the same: --no-check',
    ]
    if (io.json) io.out(`${JSON.stringify({ channel: name, written: false, check }, null, 2)}\n`)
    else io.err(`${lines.join('\n')}\n`)
    return 1
  }

  const added = withChannel(entryOf(gathered))
  // The variables come first, so that a gateway that watches both files finds what the configuration names.
  await addToEnvFile(envFile, secretsOf(gathered), file)
  await replaceFile(file, added)
  const summary = summaryLines(name, gathered, shown, { shown: shownPath(envFile, io), kept }, io)
  const variables = [...gathered.variables.values()]
  const facts = { channel: name, written: true, file: shown, variables, ...(check && { check }) }
  const good = check?.detail === undefined ? [] : [`${name}: ${check.detail}`]
  if (prompts !== undefined) {
    prompts.note(summary.join('\n'))
    prompts.end('Done.')
  } else if (io.json) io.out(`${JSON.stringify(facts, null, 2)}\n`)
  else io.out(`${[...good, ...summary].join('\n')}\n`)
  return 0
}

/**
 * Variables may be unset, since none is needed to know the plugins. Where the configuration does not load for another reason,
 * the settings are those of an empty one, since the channel may be what it lacks.
 */
async function settingsOf(file: string, io: Io): Promise<Pick<Settings, 'agents' | 'plugins'>> {
  const loaded = await load(io, { file, allowsUnset: true })
  if (loaded.ok) return loaded.configuration.settings
  return { plugins: [], agents: { providers: {} } } as unknown as Settings
}

async function orFailure<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof PluginSetupError)) throw error
    throw badUsage(error.problems.map(sentence).join('\n'), { cause: error })
  }
}

function sentence({ key, message, hint }: PluginProblem): string {
  const text = `${key} ${message}${hint === undefined ? '' : `: ${hint}`}`
  return /[.?!]$/.test(text) ? text : `${text}.`
}

function healthText(health: ChannelHealth | undefined): string {
  if (health === undefined) return 'The channel cannot be tried without sending.'
  const { ok, detail } = health
  return `${ok ? 'It works' : 'It does not work'}${detail === undefined ? '.' : `: ${detail}`}`
}

/** The entry for the configuration, with references in the place of secrets. */
function entryOf({ config, variables }: Gathered): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      const variable = variables.get(key)
      return [key, variable === undefined ? escapeReferences(value) : `\${${variable}}`]
    }),
  )
}

/** The secrets that were not in a variable before. */
function secretsOf({ config, variables, found }: Gathered): Record<string, string> {
  const secrets = [...variables].map(([key, variable]) => [variable, String(config[key])] as const)
  return Object.fromEntries(secrets.filter(([variable]) => !found.includes(variable)))
}

function summaryLines(
  name: string,
  { config, variables, found }: Gathered,
  file: string,
  /** `kept`: the variables in it before anything was added. */
  envFile: { readonly shown: string; readonly kept: Readonly<Record<string, string | undefined>> },
  io: Io,
): string[] {
  const options = configWords(file, io)
  const [to, more] = config['defaultTo'] === undefined ? [' --to …', ' …'] : ['', '']
  const added = [...variables.values()].filter((variable) => !found.includes(variable))
  const secrets = added.length === 0 ? '' : `, ${added.join(' and ')} in ${envFile.shown}`
  const foreign = found.filter((variable) => !envFile.kept[variable])
  const needed =
    foreign.length === 0
      ? ['A running gateway takes it up by itself. Try it:']
      : [
          `${foreign.join(' and ')} ${foreign.length === 1 ? 'comes' : 'come'} from the environment, and a gateway that was started without`,
          `refuses the change: write it into ${envFile.shown}, or restart the gateway where it is set.`,
          '',
          'Then try it:',
        ]
  return [
    `wrote channels.${name} in ${file}${secrets}`,
    '',
    ...needed,
    `  reveille send --channel ${name}${to}${options} 'Good morning'`,
    'Where replies go when nothing else says:',
    `  reveille route set ${name}${more}${options}`,
  ]
}
