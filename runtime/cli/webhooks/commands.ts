/** Registers the commands that connect sources and providers, as the packages of their plugins describe them. */

import { builtInSetups } from '../../plugin/index.ts'
import { type CliCommand, configOption, type Run } from '../command-parts.ts'
import type { Io } from '../io.ts'
import { describeConnect, describeDisconnect, describeSource } from './described-commands.ts'
import type { Given } from './task.ts'

const ownHelp = `
NAME is that of a plugin's own source or provider, whose options its page lists.`

export function addConnectCommands(program: CliCommand, run: Run): void {
  const providers = builtInSetups('provider')
  const connect = program
    .command('connect')
    .description('register a webhook at a provider, and write what the gateway needs for it')
    .examples(...providers.flatMap(([, setup]) => setup?.connect.examples[0] ?? []))
  const disconnect = program
    .command('disconnect')
    .description('remove a webhook that connect has registered')
    .examples(...providers.flatMap(([, setup]) => setup?.other?.examples[0] ?? []))
  for (const [name, setup] of providers) {
    if (setup === undefined) continue
    describeConnect(connect.command(name), { name, setup }, run)
    if (setup.other) describeDisconnect(disconnect.command(name), { name, setup }, run)
  }
  for (const command of [connect, disconnect]) addOwn(command, [command.name()], run)
}

export function addWebhookCommands(program: CliCommand, run: Run): void {
  const sources = builtInSetups('source')
  const examples = sources.flatMap(([name]) =>
    ['setup', 'run'].map((step) => `reveille webhooks ${name} ${step}`),
  )
  const webhooks = program
    .command('webhooks')
    .description('connect services that have to be asked for their events')
    .examples(...examples)
  for (const [name, setup] of sources) {
    const group = webhooks
      .command(name)
      .description('let new mail wake an agent')
      .examples(...examples)
    for (const step of ['setup', 'run'] as const) {
      const command = group.command(step)
      if (setup !== undefined) describeSource(command, { name, setup }, step, run)
      // Its package is beside the configuration, if anywhere.
      else addOwn(command.helpOption(false), ['webhooks', name, step], run)
    }
  }
  addOwn(webhooks, ['webhooks'], run)
}

/** Passes all words on, behind those of the command, to a command that is known once the configuration was read. */
function addOwn(command: CliCommand, path: readonly string[], run: Run): void {
  const perform = async (words: readonly string[], options: Given, io: Io): Promise<number> => {
    if (path.length + words.length > 1)
      return (await import('./own-plugin.ts')).runOwn([...path, ...words], options, io)
    command.outputHelp({ error: true })
    return 2
  }
  command
    .argument('[name...]')
    .allowUnknownOption()
    .addOption(configOption())
    .addHelpText('after', ownHelp)
    .action(run(async () => perform))
}
