/** Registers the commands by which authors write and test mappings: their names, options and help. */

import { Argument, InvalidArgumentError, Option } from 'commander'
import { type CliCommand, configOption, type Run } from '../command-parts.ts'
import { listCodes } from './lint/codes.ts'

/** `init`: the command that `init mapping` and its like are added to. */
export function addAuthoringCommands(program: CliCommand, init: CliCommand, run: Run): void {
  init
    .command('mapping')
    .description('copy a preset beside the configuration, to edit; never over a file')
    .argument('[name]', 'the preset; without one, all are listed')
    .argument('[dir]', "the configuration's folder (default: this one, or local)")
    .option('--config <file>', 'the configuration, instead of its folder')
    .option('--as <name>', 'what the copy is called, instead of as the preset')
    .option('--json', 'answer as JSON')
    .examples(
      'reveille init mapping',
      'reveille init mapping github --as my-github',
      'reveille init mapping stripe /etc/reveille',
    )
    .action(run(async () => (await import('./init/mapping.ts')).initMapping))

  init
    .command('channel')
    .description('add a channel to the configuration: asks for what it needs, tries it, keeps every comment')
    .argument('<name>', 'the channel: slack, telegram, discord, …')
    .argument('[dir]', "the configuration's folder (default: this one, or local)")
    .option('--config <file>', 'the configuration, instead of its folder')
    .option('--set <pair>', "a key of the channel, as 'key=value'; again for more", collect)
    .option('--no-check', 'do not ask the service whether the credential is good')
    .option('--json', 'answer as JSON, and ask nothing')
    .addHelpText('after', channelHelp)
    .examples(
      'reveille init channel slack',
      'SLACK_BOT_TOKEN=xoxb-… reveille init channel slack --set defaultTo=C0123456789',
      'reveille init channel signal --set account=+4915112345678 --no-check',
    )
    .action(run(async () => (await import('./init/channel.ts')).initChannel))

  init
    .command('transform')
    .description(
      'write a first transform, with a test beside it and the types for an editor; never over a file',
    )
    .argument('<name>', 'of the module: letters, digits and hyphens')
    .argument('[dir]', "the configuration's folder (default: this one, or local)")
    .option('--config <file>', 'the configuration, instead of its folder')
    .option('--json', 'answer as JSON')
    .examples('reveille init transform review', 'reveille init transform push-digest /etc/reveille')
    .action(run(async () => (await import('./init/transform.ts')).initTransform))

  init
    .command('plugin')
    .description('write a complete small plugin, with the tests that it passes; never over a file')
    .argument('<kind>', 'channel, runner or source')
    .argument('<name>', 'of the channel, runner or source: lower-case letters, digits and hyphens')
    .argument('[dir]', 'the folder to put it into (default: this one)')
    .option('--json', 'answer as JSON')
    .examples('reveille init plugin channel ntfy', 'reveille init plugin runner butler plugins')
    .action(run(async () => (await import('./init/plugin.ts')).initPlugin))

  program
    .command('check')
    .description('load and compile the configuration as the gateway would, and start nothing')
    .addOption(configOption())
    .option('--without-secrets', 'ignore missing variables and files')
    .addOption(new Option('--types').hideHelp())
    .option('--json', 'answer as JSON')
    .examples('reveille check', 'reveille check --config /etc/reveille --json')
    .action(run(async () => (await import('./check.ts')).check))

  program
    .command('lint')
    .description('find what a configuration that compiles probably does not mean')
    .addOption(configOption())
    .option('--samples <dir>', 'payloads to look fields up in, as <dir>/<endpoint>/<name>.json or .http')
    .option('--allow <code...>', 'let these findings be')
    .option('--json', 'answer as JSON')
    .addHelpText('after', lintHelp)
    .examples(
      'reveille lint',
      'reveille lint --samples payloads',
      'reveille lint --allow SHARED_SESSION MISSING_TESTS',
    )
    .action(run(async () => (await import('./lint/lint.ts')).lint))

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
    .examples('reveille schema mappings', 'reveille schema mappings --out .schemas/mappings.json')
    .action(run(async () => (await import('./schema.ts')).schema))

  program
    .command('test')
    .description('run the tests of mapping files, and of the presets in use')
    .argument('[pattern...]', 'files, folders or parts of names (default: every test)')
    .addOption(configOption())
    .option('--preset <name>', 'test a preset, without any configuration', collect)
    .addOption(new Option('--presets <which>', 'test every preset').choices(['all']))
    .option('--watch', 'run again when a file changes, until Ctrl-C')
    .option('--json', 'answer as JSON')
    .examples(
      'reveille test',
      'reveille test mappings/github.yaml --watch',
      'reveille test "pull request"',
      'reveille test --preset github --preset stripe',
      'reveille test --presets all --json',
    )
    .action(run(async () => (await import('./testing/test.ts')).test))

  addRequestCommand('try')
    .description('what a request would do; nothing is sent and nothing is stored')
    .argument('<endpoint>', 'the <name> of /hooks/<name>, or the id of a stored request')
    .addHelpText('after', tryHelp)
    .gatewayExamples(
      "reveille try github --payload pull-request.json --header 'x-github-event: pull_request'",
      'curl -s https://example.com/body.json | reveille try generic --payload -',
      'reveille try wake --payload wake.json --json',
      'reveille try eeb30a --generation 12',
    )
    .action(run(async () => (await import('./try/try.ts')).tryEndpoint))
  addRequestCommand('explain')
    .description('why each mapping does or does not match a request, and where each field comes from')
    .argument('<endpoint>', 'the <name> of /hooks/<name>, or the id of a request')
    .addHelpText('after', explainHelp)
    .gatewayExamples(
      "reveille explain github --payload pull-request.json --header 'x-github-event: pull_request'",
      'reveille explain eeb30a',
      'reveille explain eeb30a --generation live',
    )
    .action(run(async () => (await import('./try/explain.ts')).explain))

  function addRequestCommand(name: 'try' | 'explain'): CliCommand {
    return program
      .command(name)
      .option(
        '--payload <file>',
        'the body, JSON or (*.form) a form, or (*.http) a whole HTTP message; - reads standard input',
      )
      .option('--header <line>', "a header, as 'name: value'; again for more", collect)
      .option('--query <pair>', "a part of the query, as 'name=value'; again for more", collect)
      .option(
        '--generation <generation>',
        'with an id: the generation that decides, by its number or how its digest begins, or live',
        generationOf,
      )
      .option('--call-out', 'let transforms reach the network and other programs, which a dry run stops')
      .addOption(configOption())
      .option('--json', 'answer as JSON')
  }
}

const lintHelp = `
Besides the warnings of loading, it reports a mapping that
${listCodes()}

The bodies of tests are samples too. A comment lets one finding be:
  # reveille-lint-disable-next-line CODE`

const channelHelp = `
A credential goes into .env beside the configuration, which names it. One that is in
the environment or in .env already is used and not asked for; there it belongs where
no question is asked, because a list of processes shows what --set says.`

const tryHelp = `
With the id of a stored request whose body is kept, a running gateway tries it again.`

const explainHelp = `
With the id of a stored request, a running gateway is asked. It noted why a request was
ignored or failed; with its body kept, it also says what is live, or a generation, makes of it.`

function generationOf(text: string): string {
  if (/^(live|[1-9]\d{0,8}|[\da-f]{8,64})$/.test(text)) return text
  throw new InvalidArgumentError(
    'A generation is a number, at least the first 8 digits of its digest, or `live`.',
  )
}

/** Collects the values of an option that may be given several times. */
function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
