/** Registers the commands that send, send again, and set where replies go: their names, options and help. */

import { type CliCommand, configOption, type Run, whole } from '../command-parts.ts'
import { requestFilterOptions } from '../reading/request-filters.ts'

const sendHelp = `
The text is Markdown, and goes the same way as every reply: kept, paced, tried
again. Exit code 0: it is delivered. What is not by --timeout goes on in the
gateway.`

const replayHelp = `
A request is done again with its own headers and body, as if it came now; its
record stays, and the new one names it. A reply goes out once: a replay of a
request whose reply was delivered, or may be yet, delivers none, unless
--deliver-again says so. Requests that are chosen by filters are done by the
gateway, each once, and it goes on when this command is ended or the gateway is
restarted.`

export function addDeliveryCommands(program: CliCommand, run: Run): void {
  program
    .command('send')
    .description('send a text to a channel, and wait for what becomes of it')
    .argument('<text>', 'Markdown; - for standard input')
    .option('--channel <name>', 'a configured channel, or last: where the last route leads', 'last')
    .option('--to <recipient>', "as the channel writes it (default: the last route's, else the channel's)")
    .addOption(configOption())
    .option(
      '--timeout <seconds>',
      'how long to wait, 1 to 86400',
      whole(1, 86_400, 'whole number of seconds'),
      60,
    )
    .option('--no-wait', 'only store it, and do not wait for its end')
    .option('--json', 'answer as JSON: the delivery')
    .addHelpText('after', sendHelp)
    .gatewayExamples(
      'reveille send "The deployment is **done**."',
      'reveille send --channel slack --to C0123456789 "Good morning"',
      'git log -1 --format=%B | reveille send --channel telegram -',
    )
    .action(run(async () => (await import('./send.ts')).send))

  const replay = program
    .command('replay')
    .description('do requests again with the mappings of now, or send parked deliveries again')
    .argument('[id...]', 'a request or a delivery: its id, or at least the last 4 characters')
    .option('--failed', 'every request that failed; the same as --outcome failed')
  for (const filter of requestFilterOptions()) replay.addOption(filter)
  replay
    .option('--deliver-again', 'deliver replies although an earlier one was delivered, or may have been')
    .option('--payload <file>', 'with one request: the body in the place of its own; - for standard input')
    .option('--dry-run', 'only say what would be done')
    .option('--call-out', 'with --dry-run: transforms may use the network')
    .option('--no-wait', 'begin, and do not wait for the end')
    .option('--job <id>', 'show how far an earlier replay of many requests is, and wait for its end')
    .option('--cancel <id>', 'end an earlier replay of many requests; what was replayed stays')
    .option('--parked', 'every delivery that is parked')
    .option('--channel <name>', 'with --parked: only those to this channel')
    .addOption(configOption())
    .option('--json', 'answer as JSON: {items}, or the job')
    .addHelpText('after', replayHelp)
    .gatewayExamples(
      'reveille replay 3f9a1c',
      'reveille replay --failed --endpoint orders --since 8h --dry-run',
      'reveille replay --failed --endpoint orders --since 8h',
      'reveille replay --parked --channel slack',
    )
    .action(run(async () => (await import('./replay.ts')).replay))

  program
    .command('route')
    .description('show the last route of the main session: where replies to `last` go')
    .addOption(configOption())
    .option('--json', 'answer as JSON: {route}')
    .gatewayExamples('reveille route', 'reveille route set slack C0123456789')
    .action(run(async () => (await import('./route.ts')).showRoute))
    .command('set')
    .description('set it; holds over restarts and wins over agents.route')
    .argument('<channel>', 'a configured channel')
    .argument('[to]', "as the channel writes it (default: the channel's defaultTo)")
    .addOption(configOption())
    .option('--json', 'answer as JSON: {route}')
    .examples('reveille route set slack C0123456789', 'reveille route set terminal stderr')
    .action(run(async () => (await import('./route.ts')).setRoute))
}
