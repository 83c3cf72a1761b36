/** Owns the command line: names, options and help. What a command does is loaded when it is asked for. */

import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { CommandFailure } from './command-failure.ts'
import { type Io, processIo } from './io.ts'
import { listCodes } from './lint-codes.ts'
import { packageVersion } from './package-folder.ts'
import type { RecordKind } from './record-views.ts'

const reachHelp = `
The gateway's address and token come from --config, else from REVEILLE_URL and
REVEILLE_GATEWAY_TOKEN, else from ./reveille.yaml.`

const lintHelp = `
Besides what loading warns of, it tells of a mapping that
${listCodes()}

The bodies of tests are samples too. A comment lets one finding be:
  # reveille-lint-disable-next-line CODE
${examples('reveille lint', 'reveille lint --samples payloads', 'reveille lint --allow SHARED_SESSION MISSING_TESTS')}`

const usageExit = 2

/** @returns the exit code: 0, 1 (found problems) or 2 (bad usage) */
export async function runCli(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const result = { exitCode: 0 }
  try {
    await createProgram(io, result).parseAsync(argv)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExit
    if (!(error instanceof CommandFailure)) throw error
    io.err(`${error.message}\n`)
    return error.exitCode
  }
  return result.exitCode
}

function createProgram(io: Io, result: { exitCode: number }): Command {
  /** Runs what an action loads and keeps its exit code. */
  async function finish(code: Promise<number>): Promise<void> {
    result.exitCode = await code
  }

  const program = new Command('reveille')
    .description('The webhook gateway that wakes AI agents and can prove what happened.')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('(--help says more)')
    .version(packageVersion(), '-V, --version', 'print the version')

  program
    .command('start')
    .description('run the gateway until it is told to stop')
    .addOption(configOption())
    .option('--init', "scaffold the configuration's folder first, if it has no configuration")
    .addHelpText('after', examples('reveille start', 'reveille start --config /etc/reveille/reveille.yaml'))
    .action((options) => finish(import('./start.ts').then(({ start }) => start(options, io))))

  program
    .command('init')
    .description('write a first configuration; never over a file')
    .argument('[dir]', 'the folder to write', 'local')
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      examples('reveille init', 'reveille init /etc/reveille', 'reveille init mapping github'),
    )
    .action((dir, options) => finish(import('./init.ts').then(({ init }) => init(dir, options, io))))
    .command('mapping')
    .description('copy a preset beside the configuration, to edit; never over a file')
    .argument('<name>', 'the preset')
    .argument('[dir]', "the configuration's folder (default: this one, or local)")
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      examples('reveille init mapping github', 'reveille init mapping stripe /etc/reveille'),
    )
    // The option is taken by `init`, which has it too.
    .action((name, dir, _options, command: Command) =>
      finish(
        import('./init-mapping.ts').then(({ initMapping }) =>
          initMapping(name, dir, command.optsWithGlobals(), io),
        ),
      ),
    )

  program
    .command('check')
    .description('load and compile the configuration as the gateway would, and start nothing')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', examples('reveille check', 'reveille check --config local/reveille.yaml --json'))
    .action((options) => finish(import('./check.ts').then(({ check }) => check(options, io))))

  program
    .command('lint')
    .description('what a configuration that compiles says without meaning it')
    .addOption(configOption())
    .option('--samples <dir>', 'payloads to look fields up in, as <dir>/<endpoint>/<name>.json')
    .option('--allow <code...>', 'let these findings be')
    .option('--json', 'answer as JSON')
    .addHelpText('after', lintHelp)
    .action((options) => finish(import('./lint.ts').then(({ lint }) => lint(options, io))))

  program
    .command('schema')
    .description('print the JSON Schema by which an editor completes and checks a file')
    .addArgument(
      new Argument('[which]', 'the file it is for')
        .choices(['configuration', 'mappings'])
        .default('configuration'),
    )
    .option('--out <file>', 'write it there, over an older one')
    .option('--json', 'answer as JSON; the schema is that anyway')
    .addHelpText(
      'after',
      examples('reveille schema mappings', 'reveille schema mappings --out .schemas/mappings.json'),
    )
    .action((which, options) =>
      finish(import('./schema.ts').then(({ schema }) => schema(which, options, io))),
    )

  program
    .command('test')
    .description('run the tests of mapping files, and of the presets in use')
    .argument('[pattern...]', 'files, folders or parts of names (default: every test)')
    .addOption(configOption())
    .addOption(new Option('--preset <name>', 'test a preset, without any configuration').argParser(collect))
    .addOption(new Option('--presets <which>', 'test every preset').choices(['all']))
    .option('--watch', 'run again when a file changes, until Ctrl-C')
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      examples(
        'reveille test',
        'reveille test mappings/github.yaml --watch',
        'reveille test "pull request" --config local/reveille.yaml',
        'reveille test --preset github --preset stripe',
        'reveille test --presets all --json',
      ),
    )
    .action((patterns, options) =>
      finish(import('./test.ts').then(({ test }) => test(patterns, options, io))),
    )

  addTrial('try', 'what a request would do; nothing is sent and nothing is stored')
  addTrial('explain', 'why each mapping does or does not match a request, and where each field comes from')

  function addTrial(name: 'try' | 'explain', description: string): void {
    const command = program.command(name).description(description)
    if (name === 'explain')
      command.argument('<endpoint>', 'the <name> of /hooks/<name>, or the id of a request')
    else command.argument('<endpoint>', 'the <name> of /hooks/<name>')
    command
      .option('--payload <file>', 'the body, JSON or (*.form) a form; - reads standard input')
      .addOption(
        new Option('--header <line>', "a header, as 'name: value'; again for more").argParser(collect),
      )
      .addOption(
        new Option('--query <pair>', "a part of the query, as 'name=value'; again for more").argParser(
          collect,
        ),
      )
      .addOption(configOption())
      .option('--json', 'answer as JSON')
      .addHelpText('after', trialExamples[name])
      .action((endpoint, options) =>
        finish(
          name === 'try'
            ? import('./try.ts').then(({ tryEndpoint }) => tryEndpoint(endpoint, options, io))
            : import('./explain.ts').then(({ explain }) => explain(endpoint, options, io)),
        ),
      )
  }

  program
    .command('status')
    .description('whether a running gateway can accept, and what waits in it')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', `${reachHelp}\n${examples('reveille status', 'reveille status --json')}`)
    .action((options) => finish(import('./status.ts').then(({ status }) => status(options, io))))

  addRecords('requests', 'what was received and how it ended', [
    new Option('--outcome <outcome>', 'only these').choices([
      'accepted',
      'ignored',
      'skipped',
      'duplicate',
      'handshake',
      'failed',
      'refused',
    ]),
    new Option('--endpoint <name>', 'only those to /hooks/<name>'),
  ])
  addRecords('runs', 'agent turns: queued, running and ended', [
    new Option('--state <state>', 'only these').choices([
      'queued',
      'running',
      'succeeded',
      'failed',
      'timed-out',
      'cancelled',
      'parked',
    ]),
    new Option('--session-key <key>', 'only those of one session'),
    new Option('--kind <kind>', 'only these').choices(['run', 'heartbeat']),
  ])
  addRecords('events', 'what the main session was told, or will be', [
    new Option('--state <state>', 'only these').choices(['pending', 'consumed']),
  ])
  addRecords('deliveries', 'replies on their way to a channel', [
    new Option('--state <state>', 'only these').choices(['pending', 'delivered', 'skipped', 'parked']),
  ])

  function addRecords(kind: RecordKind, description: string, filters: readonly Option[]): void {
    const command = program
      .command(kind)
      .description(`list ${description}, newest first; with an id, show one whole`)
      .argument('[id]', 'an id, or at least the last 4 characters of a recent one')
      .addOption(configOption())
      .option('--limit <n>', 'how many, 1 to 500 (default: 50)', parseLimit)
      .option('--cursor <cursor>', 'go on where a list ended')
    for (const filter of filters) command.addOption(filter)
    command
      .option('--json', 'answer as JSON: {items, next}, or the record')
      .addHelpText(
        'after',
        `${reachHelp}\n${examples(`reveille ${kind} --limit 10`, `reveille ${kind} 3f9a1c`, `reveille ${kind} --json`)}`,
      )
      .action((id, options) =>
        finish(import('./records.ts').then(({ showRecords }) => showRecords(kind, id, options, io))),
      )
  }

  const store = program.command('store').description('look after the data of a gateway')
  store
    .command('backup')
    .description('copy the store to a new file while the gateway runs')
    .argument('<file>', 'the copy; must not exist')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', examples('reveille store backup /var/backups/reveille.db'))
    .action((file, options) =>
      finish(import('./store-backup.ts').then(({ storeBackup }) => storeBackup(file, options, io))),
    )

  return program
}

const trialExamples = {
  try: examples(
    "reveille try github --payload pull-request.json --header 'x-github-event: pull_request'",
    'curl -s https://example.com/body.json | reveille try generic --payload -',
    'reveille try wake --payload wake.json --json',
  ),
  explain: `
With the id of a request, a running gateway is asked why it was ignored; it keeps
that for the last 20 ignored requests of each endpoint.
${reachHelp}
${examples(
  "reveille explain github --payload pull-request.json --header 'x-github-event: pull_request'",
  'reveille explain eeb30a',
)}`,
}

/** An option that may stand several times. */
function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}

function configOption(): Option {
  return new Option('--config <file>', 'the configuration (default: ./reveille.yaml)')
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

function parseLimit(text: string): string {
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 500) return text
  throw new InvalidArgumentError('It must be a whole number from 1 to 500.')
}
