/** Registers the commands that read what a running gateway holds: their names, options and help. */

import { InvalidArgumentError, Option } from 'commander'
import { deliveryStates, eventStates, runStates } from '../../store/records.ts'
import { type CliCommand, configOption, durationMs, type Run, whole } from '../command-parts.ts'
import type { RecordKind } from './record-views.ts'
import { requestFilterOptions } from './request-filters.ts'

const issuesHelp = `
Most issues end by themselves once their cause is gone; the rest ends by hand, or
after seven days in which it did not show. docs/reference/issues.md lists the codes.`

const forgetHelp = `
Texts, bodies and headers are erased from this gateway's store, replays included.
Not erased: the facts of the records, summaries that a long session was shortened
to, values that an issue names, backups, and what models, programs, channels and
other systems were given or have logged. docs/replay.md says where each stays.`

export function addReadingCommands(program: CliCommand, run: Run): void {
  program
    .command('status')
    .description(
      'whether a running gateway can accept, what waits in it, and how its channels and sources fare',
    )
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .gatewayExamples('reveille status', 'reveille status --json')
    .action(run(async () => (await import('./status.ts')).status))

  program
    .command('tail')
    .description('show each request when it comes, with why it did nothing, until it is stopped')
    .addOption(configOption())
    .option('--endpoint <name>', 'only those to /hooks/<name>')
    .option('--ignored', 'only those that no mapping matched')
    .option('--json', 'answer as JSON: one record a line')
    .gatewayExamples('reveille tail', 'reveille tail --endpoint github --ignored')
    .action(run(async () => (await import('./tail.ts')).tail))

  program
    .command('spend')
    .description('what turns have cost in US dollars, and what the month will come to')
    .addOption(configOption())
    .addOption(
      new Option('--by <group>', 'one line for each of these')
        .choices(['day', 'mapping', 'model', 'session'])
        .default('day'),
    )
    .option('--since <day>', 'from that day (UTC) on, such as 2026-01-31 (default: 30 days)', day)
    .option('--until <day>', 'up to that day (default: today)', day)
    .option('--limit <n>', 'how many, 1 to 500 (default: 50)', whole(1, 500))
    .option('--cursor <cursor>', 'go on where a list ended')
    .option('--json', 'answer as JSON: {items, next, today, month}')
    .gatewayExamples(
      'reveille spend',
      'reveille spend --by mapping --since 2026-01-01',
      'reveille spend --json',
    )
    .action(run(async () => (await import('./spend.ts')).spend))

  const requests = addRecords(
    'requests',
    'what was received and how it ended',
    [
      ...requestFilterOptions(),
      new Option('--body', 'with an id: write its body, known secrets struck out'),
      new Option('--raw', 'with an id: write the bytes of its body as they came, which the gateway logs'),
      new Option('--as-test', 'with an id: write an entry of `tests:` that expects what happened'),
    ],
    [
      'reveille requests --endpoint orders --outcome failed --since 8h',
      'reveille requests --delivery 72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'reveille requests 3f9a1c --body',
      'reveille requests 3f9a1c --as-test > mappings/orders.test.yaml',
    ],
  )
  const forget = requests
    .command('forget')
    .description('erase the body, headers and texts of requests for good; their records stay')
    .argument('[id...]', 'an id, or at least the last 4 characters of a recent one')
    .addOption(configOption())
  for (const filter of requestFilterOptions()) forget.addOption(filter)
  forget
    .option('--yes', 'do not ask first')
    .option('--json', 'answer as JSON: {forgotten, refused}')
    .addHelpText('after', forgetHelp)
    .gatewayExamples(
      'reveille requests forget 3f9a1c',
      'reveille requests forget --client 192.0.2.7 --yes',
      'reveille requests forget --endpoint orders --until 2026-01-31',
    )
    .action(run(async () => (await import('./forget.ts')).forgetRequests))

  const runs = addRecords('runs', 'agent turns: queued, running and ended', [
    new Option('--state <state>', 'only these').choices(runStates),
    new Option('--session-key <key>', 'only those of one session'),
    new Option('--endpoint <name>', 'only those of requests to /hooks/<name>'),
    new Option('--kind <kind>', 'only these').choices(['run', 'heartbeat']),
  ])
  runs
    .command('retry')
    .description('perform runs that failed or timed out again, from their stored prompts, the oldest first')
    .argument('[id...]', 'an id, or at least the last 4 characters of a recent one')
    .addOption(configOption())
    .addOption(new Option('--state <state>', 'only these').choices(['failed', 'timed-out']))
    .option('--since <when>', 'only those that ended since then: 8h, 30m, 7d, 2026-01-31 or 2026-01-31T08:00')
    .option('--until <when>', 'only those that ended before then')
    .option('--code <code>', 'only those that failed with this code')
    .option('--endpoint <name>', 'only those of requests to /hooks/<name>')
    .option('--mapping <id>', 'only those of this mapping')
    .option('--runner <name>', 'only those of this runner')
    .option('--dry-run', 'only say how many would be retried')
    .option('--json', 'answer as JSON: {items}, or {ok, done, refused} for many')
    .gatewayExamples(
      'reveille runs retry 3f9a1c',
      'reveille runs retry --state failed --since 8h --dry-run',
      'reveille runs retry --code exit --endpoint github',
    )
    .action(run(async () => (await import('../operating/run-orders.ts')).retry))
  addRecords('events', 'what the main session has read, or will read', [
    new Option('--state <state>', 'only these').choices(eventStates),
  ])
  addRecords('deliveries', 'replies on their way to a channel, or there', [
    new Option('--state <state>', 'only these').choices(deliveryStates),
    new Option('--channel <name>', 'only those to this channel'),
  ])

  const issues = program
    .command('issues')
    .description('list the open problems of a running gateway, each once, with its cause and the next step')
    .addOption(configOption())
    .option('--all', 'list those that are muted or resolved too')
    .option('--limit <n>', 'how many, 1 to 500 (default: 50)', whole(1, 500))
    .option('--cursor <cursor>', 'go on where a list ended')
    .option('--json', 'answer as JSON: {items, next}')
    .addHelpText('after', issuesHelp)
    .gatewayExamples('reveille issues', 'reveille issues --all --json')
    .action(run(async () => (await import('./issues.ts')).issues))
  const orderIssues = (name: 'resolve' | 'mute' | 'reopen', description: string) =>
    issues
      .command(name)
      .description(description)
      .argument('<key...>', 'the key of an issue, or its beginning where no other has it')
      .addOption(configOption())
      .option('--json', 'answer as JSON')
  orderIssues('resolve', 'end issues by hand; one that shows again is opened again')
    .gatewayExamples('reveille issues resolve TRANSFORM_FAILING:pr-opened')
    .action(run(async () => (await import('./issues.ts')).resolveIssues))
  orderIssues('mute', 'take issues off the list; they go on counting')
    .option('--for <duration>', 'such as 8h or 7d (default: for good)', durationMs)
    .gatewayExamples('reveille issues mute SILENCE:stripe --for 7d')
    .action(run(async () => (await import('./issues.ts')).muteIssues))
  orderIssues('reopen', 'put issues back on the list')
    .gatewayExamples('reveille issues reopen SILENCE:stripe')
    .action(run(async () => (await import('./issues.ts')).reopenIssues))

  program
    .command('sessions')
    .description('list the conversations that are kept, the latest first; with a key, show one whole')
    .argument('[key]', 'a session key, such as hook:github:42, or main')
    .addOption(configOption())
    .option('--limit <n>', 'how many, 1 to 500 (default: 50)', whole(1, 500))
    .option('--cursor <cursor>', 'go on where a list ended')
    .option('--json', 'answer as JSON: {items, next}, or {key, messages}')
    .gatewayExamples('reveille sessions', 'reveille sessions hook:github:42', 'reveille sessions main --json')
    .action(run(async () => (await import('./sessions.ts')).sessions))

  function addRecords(
    kind: RecordKind,
    description: string,
    filters: readonly Option[],
    examples = [`reveille ${kind} --limit 10`, `reveille ${kind} 3f9a1c`, `reveille ${kind} --json`],
  ): CliCommand {
    const command = program
      .command(kind)
      .description(`list ${description}, newest first; with an id, show one whole`)
      .argument('[id]', 'an id, or at least the last 4 characters of a recent one')
      .addOption(configOption())
      .option('--limit <n>', 'how many, 1 to 500 (default: 50)', whole(1, 500))
      .option('--cursor <cursor>', 'go on where a list ended')
    for (const filter of filters) command.addOption(filter)
    return command
      .option('--json', 'answer as JSON: {items, next}, or the record')
      .gatewayExamples(...examples)
      .action(run(async () => (await import('./records.ts')).showRecords.bind(undefined, kind)))
  }
}

function day(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new InvalidArgumentError('It must be a day such as 2026-01-31.')
}
