/** The rows of the commands that connect sources and providers, as the packages of their plugins describe them. */

import path from 'node:path'
import { parseArgs } from 'node:util'
import type { CommandDescription, OptionDescription, SetupDescription } from '@reveille/kit'
import { InvalidArgumentError, Option } from 'commander'
import { builtInSetups, PluginSetupError, setupOf } from '../../plugin/index.ts'
import { CommandFailure, failure } from '../command-failure.ts'
import { type CommandRow, type CommandRows, groups, option, whole } from '../command-parts.ts'
import { formatDiagnostics, load } from '../configuration.ts'
import type { Io } from '../io.ts'
import type { Connected, Given } from './task.ts'

const dryRun = option('--dry-run', 'say what would be done, and do nothing')
const answer = option('--json', 'answer as JSON, and ask nothing')
const endpoint = (name: string) => option('--endpoint <name>', `of the gateway (default: ${name})`)

/** Each step with the options that the command line adds to those of the package, and the function that performs it. */
const steps = {
  connect: {
    describe: ({ connect }: SetupDescription) => connect,
    options: ({ name, setup }: Connected) => [
      option('--url <url>', 'where the internet reaches the gateway (default: its tunnel)'),
      option('--events <names>', 'separated by commas (default: those that mappings ask for)', parseNames),
      endpoint(name),
      option('--no-catch-up', 'do not ask for what was missed, and keep no token'),
      dryRun,
      answer,
      ...(setup.howToTry === undefined
        ? [
            option(
              '--wait <seconds>',
              'how long the ping is waited for (default: 30; 0: not at all)',
              whole(0, 600),
            ),
          ]
        : []),
    ],
    load: async () => (await import('./provider.ts')).connectProvider,
  },
  disconnect: {
    describe: ({ connect, other }: SetupDescription) => other ?? connect,
    options: ({ name }: Connected) => [
      option('--url <url>', 'where a webhook sends that the configuration does not name'),
      endpoint(name),
      dryRun,
      answer,
    ],
    load: async () => (await import('./provider.ts')).disconnectProvider,
  },
  setup: {
    describe: ({ connect }: SetupDescription) => connect,
    options: () => [option('--no-browser', 'only show the address of the consent'), answer],
    load: async () => (await import('./source.ts')).connectSource,
  },
  run: {
    describe: ({ other }: SetupDescription) =>
      other ?? { description: 'run the source in this process, and post to a gateway', examples: [] },
    options: () => [option('--json', 'report its state as JSON lines')],
    load: async () => (await import('./run-source.ts')).runSource,
  },
}

type Step = keyof typeof steps

function stepRow(step: Step, connected: Connected): CommandRow {
  const { describe, options, load } = steps[step]
  const description: CommandDescription = describe(connected.setup)
  const { argument, help, examples } = description
  return {
    about: description.description,
    ...(argument && { args: [[argument.flags, argument.description]] }),
    options: [...(description.options ?? []).map(optionOf), ...options(connected)],
    json: false,
    ...(help !== undefined && { help }),
    examples,
    run: async () => {
      const perform = await load()
      return withOptions(description, (io, given) => perform(connected, io, given))
    },
  }
}

const examplesOf = (steps: readonly (CommandDescription | undefined)[]) =>
  steps.flatMap((each) => each?.examples[0] ?? [])

export function setupRows(): CommandRows {
  const named = (kind: 'provider' | 'source') =>
    builtInSetups(kind).flatMap(([name, setup]) => (setup === undefined ? [] : [{ name, setup }]))
  const providers = named('provider')
  const setups = providers.map(({ setup }) => setup)
  const sources = Object.assign({}, ...named('source').map(sourceRows)) as CommandRows
  const [group] = Object.values(sources)
  return {
    connect: { ...groups.connect, examples: examplesOf(setups.map(({ connect }) => connect)) },
    disconnect: { ...groups.disconnect, examples: examplesOf(setups.map(({ other }) => other)) },
    ...Object.assign({}, ...providers.map(providerRows)),
    webhooks: { ...groups.webhooks, examples: group?.examples ?? [] },
    ...sources,
  }
}

function providerRows(connected: Connected): CommandRows {
  return {
    [`connect ${connected.name}`]: stepRow('connect', connected),
    ...(connected.setup.other && { [`disconnect ${connected.name}`]: stepRow('disconnect', connected) }),
  }
}

function sourceRows(connected: Connected): CommandRows {
  const group = `webhooks ${connected.name}`
  const examples = [`reveille ${group} setup`, `reveille ${group} run`]
  return {
    [group]: { about: 'let new mail wake an agent', config: false, json: false, examples },
    [`${group} setup`]: stepRow('setup', connected),
    [`${group} run`]: stepRow('run', connected),
  }
}

const kinds = { connect: ['provider', 'source'], disconnect: ['provider'], webhooks: ['source'] } as const

/**
 * The rows for the plugin of the configuration that a command line names: `connect NAME`, `disconnect NAME`, `webhooks NAME`.
 * @throws CommandFailure where the configuration does not load, or no plugin has the name
 */
export async function ownRows(words: readonly string[], io: Io): Promise<CommandRows> {
  const [verb = ''] = words
  if (!Object.hasOwn(kinds, verb)) return {}
  const { values, positionals } = parseArgs({
    args: [...words],
    options: { config: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  })
  const [, name] = positionals
  const setups = [...builtInSetups('provider'), ...builtInSetups('source')]
  if (name === undefined || setups.some(([each, setup]) => each === name && setup)) return {}
  const config = values.config as string | undefined
  const loaded = await load(config === undefined ? io : { ...io, config }, { allowsUnset: true })
  if (!loaded.ok) throw failure(formatDiagnostics(loaded.diagnostics, io))
  let why: unknown
  for (const kind of kinds[verb as keyof typeof kinds]) {
    try {
      const setup = setupOf(kind, name, loaded.configuration.settings)
      if (verb === 'webhooks') return sourceRows({ name, setup })
      const step = kind === 'source' ? 'setup' : (verb as Step)
      return { [`${verb} ${name}`]: stepRow(step, { name, setup }) }
    } catch (error) {
      if (!(error instanceof PluginSetupError)) throw error
      why = new CommandFailure(error.code === 'PLUGIN_MISSING' ? 2 : 1, error.message, { cause: error })
    }
  }
  throw why
}

function optionOf({ flags, description, choices, range, pattern, problem }: OptionDescription): Option {
  const matching = (value: string) => {
    if (new RegExp(pattern ?? '').test(value)) return value
    throw new InvalidArgumentError(problem ?? `It must match ${pattern}.`)
  }
  return option(flags, description, choices ?? (range && whole(...range)) ?? (pattern ? matching : undefined))
}

/** Calls `perform` with the options and the argument under the names that the plugin has for them. */
function withOptions(
  { argument, options = [] }: CommandDescription,
  perform: (io: Io, options: Given) => Promise<number>,
): (...given: never[]) => Promise<number> {
  return async (...given: unknown[]) => {
    const [io, values] = given.slice(-2) as [Io, Given]
    const name = argument?.flags.replace(/[^\w-]/g, '') ?? ''
    const all: Record<string, unknown> = { ...values, ...(argument && { [name]: given[0] }) }
    for (const { flags, key, isPath } of options) {
      const attribute = new Option(flags).attributeName()
      if (all[attribute] === undefined) continue
      if (isPath) all[attribute] = path.resolve(io.cwd, String(all[attribute]))
      if (key !== undefined) all[key] = all[attribute]
      if (key !== undefined && key !== attribute) delete all[attribute]
    }
    return perform(io, all)
  }
}

function parseNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name) => /^(\*|[a-z][a-z0-9_.]*)$/.test(name))) return names
  throw new InvalidArgumentError('They must be names such as push,pull_request.')
}
