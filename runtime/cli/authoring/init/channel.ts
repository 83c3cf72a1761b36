/** `reveille init channel`: asks for what a channel needs, tries it, and adds it to the configuration. */

import { readFile } from 'node:fs/promises'
import type { Settings } from '@reveille/engine'
import type { ChannelHealth } from '@reveille/kit'
import { offerOf, tryChannel } from '../../../plugin/index.ts'
import { editConfiguration, escapeReferences } from '../../../scaffold/edit-configuration.ts'
import { readEnvFile, setInEnvFile } from '../../../scaffold/env-file.ts'
import { replaceFile } from '../../../scaffold/replace-file.ts'
import { failure } from '../../command-failure.ts'
import { configWords, load, shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { listed } from '../../print.ts'
import { editOrFail, envFileOf, valueAt } from '../../webhooks/connection-file.ts'
import { type Done, perform, type Task } from '../../webhooks/task.ts'
import { type Gathered, gather, parseAssignments } from './channel-questions.ts'

/** @returns 1 where the service refuses the credential; then nothing was written */
export function initChannel(
  name: string,
  folder: string | undefined,
  io: Io,
  options: CommandOptions,
): Promise<number> {
  const config = io.config ?? folder
  return perform(`Channel ${name}`, { ...io, ...(config !== undefined && { config }) }, (task) =>
    addChannel(name, task, options),
  )
}

async function addChannel(name: string, task: Task, options: CommandOptions): Promise<Done> {
  const { file, shown, prompts, steps, io } = task
  const settings = await settingsOf(file, io)
  const offer = offerOf(name, settings)
  const text = await readFile(file, 'utf8')
  const withChannel = (entry: object) =>
    editOrFail(text, (before) => editConfiguration(before, [{ set: ['channels', name], to: entry }]), shown)
  // These fail before a person types a credential for nothing.
  withChannel({})
  if (valueAt(text, ['channels', name]) !== undefined)
    throw failure(`${shown}: It has channels.${name} already. The file is unchanged.`)

  const envFile = envFileOf(file)
  const kept = readEnvFile(envFile)
  const sources = {
    assignments: parseAssignments(options.set ?? [], offer),
    existing: { ...kept, ...io.env },
    prompts,
    // With `--set` only required values that are missing are asked for.
    asksUsual: options.set === undefined,
  }
  const examine = await offer.configurationCheck()
  let gathered: Gathered
  let check: ChannelHealth | undefined
  do {
    gathered = await gather(offer, examine, sources, io)
    const { config } = gathered
    if (options.check === false) break
    prompts?.note('Asking the service whether this is good …')
    check = await tryChannel(name, config, settings, { fetch: io.fetch })
  } while (check?.ok === false && (await asksAgain(name, check, gathered, task)))
  if (options.check !== false && check?.ok !== false) {
    const detail = check === undefined ? 'The channel cannot be tried without sending.' : check.detail
    steps.report({ step: 'check', outcome: 'unchanged', detail: detail ?? 'It works.' })
  }

  const added = withChannel(entryOf(gathered))
  const secrets = secretsOf(gathered)
  // The variables come first, so that a gateway that watches both files finds what the configuration names.
  await setInEnvFile(envFile, secrets, file)
  await replaceFile(file, added)
  const names = Object.keys(secrets)
  const too = names.length === 0 ? '' : `, and ${listed(names)} in ${shownPath(envFile, io)}`
  steps.report({
    step: 'configuration',
    outcome: 'done',
    detail: `Wrote channels.${name} in ${shown}${too}.`,
  })
  const foreign = gathered.found.filter((variable) => !kept[variable])
  if (foreign.length > 0)
    steps.warn(
      `A gateway that was started without ${listed(foreign)} refuses the change: write it into ${shownPath(envFile, io)}, or restart the gateway where it is set.`,
    )
  const variables = [...gathered.variables.values()]
  return {
    facts: { channel: name, written: true, file: shown, variables, ...(check && { check }) },
    lines: nextSteps(name, gathered, task),
  }
}

/** @returns false where it is to be written although the service refuses it. @throws CommandFailure where nothing is */
async function asksAgain(
  name: string,
  { detail = 'the service cannot be used' }: ChannelHealth,
  { found }: Gathered,
  { prompts, steps }: Task,
): Promise<boolean> {
  const refused = `${name}: ${detail}\nNothing was written. To write it all the same: --no-check`
  if (prompts === undefined) throw failure(refused)
  steps.warn(`${name}: ${detail}`)
  // A credential that was not asked for cannot be asked for again.
  const again = found.length === 0 ? ['Ask me again'] : []
  const chosen = await prompts.choose('What now?', [...again, 'Write nothing', 'Write it all the same'])
  if (chosen === 'Write nothing') throw failure(refused)
  return chosen === again[0]
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

function nextSteps(name: string, { config }: Gathered, { file, io }: Task): string[] {
  const options = configWords(file, io)
  const [to, more] = config['defaultTo'] === undefined ? [' --to …', ' …'] : ['', '']
  return [
    'A running gateway takes it up by itself. Try it:',
    `  reveille send --channel ${name}${to}${options} 'Good morning'`,
    'Where replies go when nothing else says:',
    `  reveille route set ${name}${more}${options}`,
  ]
}
