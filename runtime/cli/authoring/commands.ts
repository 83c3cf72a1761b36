/** Registers the commands by which authors write and test mappings: their names, options and help. */

import { Argument, type Command, Option } from 'commander'
import { type CommandContext, configOption, examples, reachHelp } from '../command-parts.ts'
import { listCodes } from './lint/codes.ts'

/** `init`: the command that `init mapping` and its like are added to. */
export function addAuthoringCommands(program: Command, init: Command, { io, finish }: CommandContext): void {
  init
    .command('mapping')
    .description('copy a preset beside the configuration, to edit; never over a file')
    .argument('[name]', 'the preset; without one, all are listed')
    .argument('[dir]', "the configuration's folder (default: this one, or local)")
    .option('--config <file>', 'the configuration, instead of its folder')
    .option('--as <name>', 'what the copy is called, instead of as the preset')
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      examples(
        'reveille init mapping',
        'reveille init mapping github --as my-github',
        'reveille init mapping stripe /etc/reveille',
      ),
    )
    // `init` has the option too, and takes its value.
    .action((name, dir, { config }, command: Command) =>
      finish(
        import('./init/mapping.ts').then(({ initMapping }) =>
          initMapping(name, config ?? dir, command.optsWithGlobals(), io),
        ),
      ),
    )

  init
    .command('channel')
    .description('add a channel to the configuration: asks for what it needs, tries it, keeps every comment')
    .argument('<name>', 'the channel: slack, telegram, discord, …')
    .argument('[dir]', "the configuration's folder (default: this one, or local)")
    .option('--config <file>', 'the configuration, instead of its folder')
    .addOption(
      new Option('--set <pair>', "a key of the channel, as 'key=value'; again for more").argParser(collect),
    )
    .option('--no-check', 'do not ask the service whether the credential is good')
    .option('--json', 'answer as JSON, and ask nothing')
    .addHelpText(
      'after',
      `
A credential goes into .env beside the configuration, which names it. One that is in
the environment or in .env already is used and not asked for; there it belongs where
no question is asked, because a list of processes shows what --set says.
${examples(
  'reveille init channel slack',
  'SLACK_BOT_TOKEN=xoxb-… reveille init channel slack --set defaultTo=C0123456789',
  'reveille init channel signal --set account=+4915112345678 --no-check',
)}`,
    )
    .action((name, dir, { config }, command: Command) =>
      finish(
        import('./init/channel.ts').then(({ initChannel }) =>
          initChannel(name, config ?? dir, command.optsWithGlobals(), io),
        ),
      ),
    )

  init
    .command('transform')
    .description(
      'write a first transform, with a test beside it and the types for an editor; never over a file',
    )
    .argument('<name>', 'of the module: letters, digits and hyphens')
    .argument('[dir]', "the configuration's folder (default: this one, or local)")
    .option('--config <file>', 'the configuration, instead of its folder')
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      examples('reveille init transform review', 'reveille init transform push-digest /etc/reveille'),
    )
    .action((name, dir, { config }, command: Command) =>
      finish(
        import('./init/transform.ts').then(({ initTransform }) =>
          initTransform(name, config ?? dir, command.optsWithGlobals(), io),
        ),
      ),
    )

  init
    .command('plugin')
    .description('write a complete small plugin, with the tests that it passes; never over a file')
    .argument('<kind>', 'channel, runner or source')
    .argument('<name>', 'of the channel, runner or source: lower-case letters, digits and hyphens')
    .argument('[dir]', 'the folder to put it into (default: this one)')
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      examples('reveille init plugin channel ntfy', 'reveille init plugin runner butler plugins'),
    )
    .action((kind, name, dir, _options, command: Command) =>
      finish(
        import('./init/plugin.ts').then(({ initPlugin }) =>
          initPlugin(kind, name, dir, command.optsWithGlobals(), io),
        ),
      ),
    )

  program
    .command('check')
    .description('load and compile the configuration as the gateway would, and start nothing')
    .addOption(configOption())
    .option('--without-secrets', 'let variables and files be that references name and that are not there')
    .addOption(new Option('--types').hideHelp())
    .option('--json', 'answer as JSON')
    .addHelpText('after', examples('reveille check', 'reveille check --config /etc/reveille --json'))
    .action((options) => finish(import('./check.ts').then(({ check }) => check(options, io))))

  program
    .command('lint')
    .description('find what a configuration that compiles probably does not mean')
    .addOption(configOption())
    .option('--samples <dir>', 'payloads to look fields up in, as <dir>/<endpoint>/<name>.json or .http')
    .option('--allow <code...>', 'let these findings be')
    .option('--json', 'answer as JSON')
    .addHelpText('after', lintHelp)
    .action((options) => finish(import('./lint/lint.ts').then(({ lint }) => lint(options, io))))

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
        'reveille test "pull request"',
        'reveille test --preset github --preset stripe',
        'reveille test --presets all --json',
      ),
    )
    .action((patterns, options) =>
      finish(import('./testing/test.ts').then(({ test }) => test(patterns, options, io))),
    )

  addRequestCommand('try', 'what a request would do; nothing is sent and nothing is stored')
  addRequestCommand(
    'explain',
    'why each mapping does or does not match a request, and where each field comes from',
  )

  function addRequestCommand(name: 'try' | 'explain', description: string): void {
    const command = program.command(name).description(description)
    if (name === 'explain')
      command.argument('<endpoint>', 'the <name> of /hooks/<name>, or the id of a request')
    else command.argument('<endpoint>', 'the <name> of /hooks/<name>')
    command
      .option(
        '--payload <file>',
        'the body, JSON or (*.form) a form, or (*.http) a whole HTTP message; - reads standard input',
      )
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
      .addHelpText('after', requestExamples[name])
      .action((endpoint, options) =>
        finish(
          name === 'try'
            ? import('./try/try.ts').then(({ tryEndpoint }) => tryEndpoint(endpoint, options, io))
            : import('./try/explain.ts').then(({ explain }) => explain(endpoint, options, io)),
        ),
      )
  }
}

const lintHelp = `
Besides the warnings of loading, it reports a mapping that
${listCodes()}

The bodies of tests are samples too. A comment lets one finding be:
  # reveille-lint-disable-next-line CODE
${examples('reveille lint', 'reveille lint --samples payloads', 'reveille lint --allow SHARED_SESSION MISSING_TESTS')}`

const requestExamples = {
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

/** Collects the values of an option that may be given several times. */
function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
