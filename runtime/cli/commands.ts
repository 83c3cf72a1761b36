/** The table of commands: names, arguments, options, help and examples. The code of a command is loaded when it runs. */

import { lintCodes } from '@reveille/engine/text'
import { InvalidArgumentError, type Option } from 'commander'
import { routes } from '../api/routes/index.ts'
import { type CommandRow, type CommandRows, option, whole } from './command-parts.ts'
import type { CommandOptions, Io } from './io.ts'
import {
  allFilters,
  filterOptions,
  filtersOf,
  generation,
  requestFilters,
  unitMs,
} from './records/filters.ts'
import { type Kind, type KindName, kinds } from './records/kinds.ts'

const besideConfig = { config: option('--config <file>', 'the configuration, instead of its folder') }
const dir = ['[dir]', "the configuration's folder (default: this one, or local)"] as const
const id = 'an id, or at least the last 4 characters of one'
const pages = [
  option('--limit <n>', 'how many, 1 to 500 (default: 50)', whole(1, 500)),
  option('--cursor <cursor>', 'go on where a list ended'),
]
const ofRequest = [
  option('--body', 'of a request: write its body, known secrets redacted'),
  option('--raw', 'of a request: write the bytes of its body as they came, which the gateway logs'),
  option('--as-test', 'of a request: write an entry of `tests:` that expects what happened'),
]
const withOther = option('--with <generation>', 'of a generation: the one to compare with', wholeGeneration)
const allIssues = option('--all', 'of issues: those that are muted or resolved too')
const callOut = option('--call-out', 'let transforms reach the network, which a dry run stops')
const dryRun = [
  option('--dry-run', 'only say what would change, for requests that are stored too'),
  option('--limit <n>', 'how many stored requests a dry run looks at (default: 100)', whole(1, 10_000)),
  callOut,
]

const settingUp: CommandRows = {
  start: {
    about: 'run the gateway until it is stopped',
    json: false,
    options: [
      option('--inspect [port]', 'let a debugger of this machine attach; transforms then have no deadline'),
      option('--init', "scaffold the configuration's folder first, if it has no configuration"),
      option('--yes', 'write a first configuration here if there is none, beside other files too'),
      option('--first', '', 'hidden'),
      option('--host <address>', 'listen there instead of at `gateway.host` (default: REVEILLE_HOST)'),
      option('--port <n>', 'listen there instead of at `gateway.port` (default: REVEILLE_PORT)'),
      option('--tunnel', 'let the internet reach hooks, and nothing else, through `cloudflared`'),
      option('--tunnel-port <n>', 'where hooks are served for another tunnel, on the loopback address'),
      option('--poll', 'look at the files regularly, for file systems that report no changes'),
      option('--last-good', 'serve the last generation if the configuration does not load, settings and all'),
      option('--role <role>', 'what this process does: all of it, or only accept (default: all)', [
        'all',
        'ingress',
      ]),
      option(
        '--node <name>',
        'what other nodes call it (default: REVEILLE_NODE, else the name of the machine)',
      ),
      option('--no-watch', 'read changed files only on `reveille reload` or SIGHUP'),
    ],
    help: `
\`reveille\` alone writes a first configuration where this folder and its folder
local have none, at once into an empty folder, otherwise after a yes, and starts.
Changed files go live by themselves, but for --no-watch; SIGHUP reads them again
at once.`,
    examples: ['reveille start', 'reveille start --port 21000'],
    run: async () => (await import('./operating/start.ts')).start,
  },
  init: {
    about: 'write a first configuration; never over a file',
    config: false,
    args: [['[dir]', 'the folder to write (default: this one)']],
    examples: ['reveille init', 'reveille init /etc/reveille', 'reveille init mapping github'],
    run: async () => (await import('./operating/init.ts')).init,
  },
  'init mapping': {
    about: 'copy a preset beside the configuration, to edit; never over a file',
    args: [['[name]', 'the preset; without one, all are listed'], dir],
    ...besideConfig,
    options: [option('--as <name>', 'what the copy is called, instead of as the preset')],
    examples: ['reveille init mapping', 'reveille init mapping github --as my-github'],
    run: async () => (await import('./authoring/init/mapping.ts')).initMapping,
  },
  'init channel': {
    about: 'add a channel to the configuration: asks for what it needs, tries it, keeps every comment',
    args: [['<name>', 'the channel: slack, telegram, discord, …'], dir],
    ...besideConfig,
    options: [
      option('--set <pair>', "a key of the channel, as 'key=value'; again for more", collect),
      option('--no-check', 'do not ask the service whether the credential is good'),
    ],
    json: 'answer as JSON, and ask nothing',
    help: `
A credential goes into .env beside the configuration, which names it. One that is in
the environment or in .env already is used and not asked for; there it belongs where
no question is asked, because a list of processes shows what --set says.`,
    examples: [
      'reveille init channel slack',
      'SLACK_BOT_TOKEN=xoxb-… reveille init channel slack --set defaultTo=C0123456789',
    ],
    run: async () => (await import('./authoring/init/channel.ts')).initChannel,
  },
  'init transform': {
    about: 'write a first transform, with a test beside it and the types for an editor; never over a file',
    args: [['<name>', 'of the module: letters, digits and hyphens'], dir],
    ...besideConfig,
    examples: ['reveille init transform review', 'reveille init transform push-digest /etc/reveille'],
    run: async () => (await import('./authoring/init/transform.ts')).initTransform,
  },
  'init plugin': {
    about: 'write a complete small plugin, with the tests that it passes; never over a file',
    config: false,
    args: [
      ['<kind>', 'of plugin', ['channel', 'runner', 'source']],
      ['<name>', 'of the channel, runner or source: lower-case letters, digits and hyphens'],
      ['[dir]', 'the folder to put it into (default: this one)'],
    ],
    examples: ['reveille init plugin channel ntfy', 'reveille init plugin runner butler plugins'],
    run: async () => (await import('./authoring/init/plugin.ts')).initPlugin,
  },
}

const tried = [
  option('--payload <file>', 'the body as JSON, *.form or a whole *.http message; - reads standard input'),
  option('--header <line>', "a header, as 'name: value'; again for more", collect),
  option('--query <pair>', "a part of the query, as 'name=value'; again for more", collect),
  option(
    '--generation <generation>',
    'with an id: the generation that decides, by its number or the beginning of its digest, or live',
    (text) => generation(text, true),
  ),
  callOut,
]

const authoring: CommandRows = {
  check: {
    about: 'load and compile the configuration as the gateway would, and start nothing',
    options: [option('--without-secrets', 'ignore missing variables and files')],
    examples: ['reveille check', 'reveille check --config /etc/reveille --json'],
    run: async () => (await import('./authoring/check.ts')).check,
  },
  lint: {
    about: 'find what a configuration that compiles probably does not mean',
    options: [
      option('--samples <dir>', 'payloads to look fields up in, as <dir>/<endpoint>/<name>.json or .http'),
      option('--allow <code...>', 'let these findings be'),
    ],
    help: `
Besides the warnings of loading, it reports a mapping that
${described(lintCodes)}

The bodies of tests are samples too. A comment lets one finding be:
  # reveille-lint-disable-next-line CODE`,
    examples: ['reveille lint', 'reveille lint --samples payloads'],
    run: async () => (await import('./authoring/lint/lint.ts')).lint,
  },
  schema: {
    about: 'print the JSON Schema by which an editor completes and checks a file',
    config: false,
    args: [['[which]', 'the file it is for (default: "configuration")', ['configuration', 'mappings']]],
    options: [option('--out <file>', 'write it there, over an older one')],
    json: 'answer as JSON; the schema is that anyway',
    examples: ['reveille schema mappings', 'reveille schema mappings --out .schemas/mappings.json'],
    run: async () => (await import('./authoring/schema.ts')).schema,
  },
  test: {
    about: 'run the tests of mapping files, and of the presets in use',
    args: [['[pattern...]', 'files, folders or parts of names (default: every test)']],
    options: [
      option('--preset <name>', 'test a preset, without any configuration', collect),
      option('--presets <which>', 'test every preset', ['all']),
      option('--watch', 'run again when a file changes, until Ctrl-C'),
    ],
    examples: ['reveille test', 'reveille test mappings/github.yaml --watch'],
    run: async () => (await import('./authoring/testing/test.ts')).test,
  },
  try: {
    about: 'what a request would do; nothing is sent and nothing is stored',
    args: [['<endpoint>', 'the <name> of /hooks/<name>, or the id of a stored request']],
    options: tried,
    gateway: true,
    help: `
With the id of a stored request whose body is kept, a running gateway tries it again.`,
    examples: [
      "reveille try github --payload pull-request.json --header 'x-github-event: pull_request'",
      'curl -s https://example.com/body.json | reveille try generic --payload -',
    ],
    run: async () => (await import('./authoring/try/try.ts')).tryEndpoint,
  },
  explain: {
    about: 'why each mapping does or does not match a request, and where each field comes from',
    args: [['<endpoint>', 'the <name> of /hooks/<name>, or the id of a request']],
    options: tried,
    gateway: true,
    help: `
With the id of a stored request, a running gateway is asked. It noted why a request was
ignored or failed; with its body kept, it also says what is live, or a generation, makes of it.`,
    examples: [
      "reveille explain github --payload pull-request.json --header 'x-github-event: pull_request'",
      'reveille explain eeb30a',
    ],
    run: async () => (await import('./authoring/try/try.ts')).explain,
  },
}

/** `runs` is `list runs`, and `runs ID` is `show ID`. */
function kindRow(name: KindName, more: Partial<CommandRow> = {}): CommandRow {
  const { about, filters, read }: Kind = kinds[name]
  const isShown = read !== undefined || name === 'generations'
  return {
    about: `list ${about}${isShown ? '; with an id, show one whole' : ''}`,
    ...(isShown && { args: [['[id]', id]] }),
    gateway: true,
    json: `answer as JSON: {items, next}${isShown ? ', or the record' : ''}`,
    examples: [
      `reveille ${name} --limit 10`,
      ...(isShown ? [`reveille ${name} 3f9a1c`] : []),
      `reveille ${name} --json`,
    ],
    run: async () => {
      const { list, show } = await import('./records/records.ts')
      if (!isShown) return (io: Io, options: CommandOptions) => list(name, io, options)
      return (id: string | undefined, io: Io, options: CommandOptions) =>
        id === undefined ? list(name, io, options) : show(id, io, options, name)
    },
    ...more,
    options: [...pages, ...filterOptions(filters), ...(more.options ?? [])],
  }
}

const reading: CommandRows = {
  status: {
    about: 'whether a running gateway can accept, what waits in it, and how its channels and sources fare',
    examples: ['reveille status', 'reveille status --json'],
    run: async () => (await import('./operating/status.ts')).status,
  },
  tail: {
    about: 'show each request when it comes, with why it did nothing, until it is stopped',
    options: [
      option('--endpoint <name>', 'only those to /hooks/<name>'),
      option('--ignored', 'only those that no mapping matched'),
    ],
    json: 'answer as JSON: one record a line',
    examples: ['reveille tail', 'reveille tail --endpoint github --ignored'],
    run: async () => (await import('./operating/tail.ts')).tail,
  },
  spend: {
    about: 'what turns have cost in US dollars, and what the month will come to',
    options: [
      option('--by <group>', 'one line for each of these', ['day', 'mapping', 'model', 'session'], 'day'),
      option('--since <day>', 'from that day (UTC) on, such as 2026-01-31 (default: 30 days)', day),
      option('--until <day>', 'up to that day (default: today)', day),
      ...pages,
    ],
    json: 'answer as JSON: {items, next, today, month}',
    examples: ['reveille spend', 'reveille spend --by mapping --since 2026-01-01', 'reveille spend --json'],
    run: async () => (await import('./operating/spend.ts')).spend,
  },
  list: {
    about: 'list records of a kind, newest first',
    args: [['<kind>', 'of which kind', Object.keys(kinds)]],
    options: [...pages, ...filterOptions(allFilters), allIssues],
    json: 'answer as JSON: {items, next}',
    help: `
Each kind has filters of its own: \`reveille runs --help\` names those of runs.
${described(Object.fromEntries(Object.entries(kinds).map(([name, { about }]) => [name, about])))}`,
    examples: ['reveille list runs --state failed', 'reveille list mappings'],
    run: async () => (await import('./records/records.ts')).list,
  },
  show: {
    about: 'show one record whole, of whatever kind',
    args: [
      [
        '<id>',
        'an id or at least its last 4 characters, a session key, a generation, or a delivery id of a sender',
      ],
    ],
    options: [...ofRequest, withOther],
    json: 'answer as JSON: the record',
    examples: ['reveille show 3f9a1c', 'reveille show 3f9a1c --body'],
    run: async () => (await import('./records/records.ts')).show,
  },
  requests: kindRow('requests', {
    options: ofRequest,
    examples: [
      'reveille requests --endpoint orders --outcome failed --since 8h',
      'reveille requests --delivery 72d3162e-cc78-11e3-81ab-4c9367dc0958',
    ],
  }),
  runs: kindRow('runs'),
  events: kindRow('events'),
  deliveries: kindRow('deliveries'),
  sessions: kindRow('sessions', {
    args: [['[key]', 'a session key, such as hook:github:42, or main']],
    examples: ['reveille sessions', 'reveille sessions hook:github:42', 'reveille sessions main --json'],
  }),
  issues: kindRow('issues', {
    options: [allIssues],
    help: `
Most issues end by themselves once their cause is gone; the rest ends by hand, or
after seven days in which it did not show. docs/reference/issues.md lists the codes.`,
    examples: ['reveille issues', 'reveille issues --all --json'],
  }),
  generations: kindRow('generations', {
    about: `list ${kinds.generations.about}, newest first, or what one changed in the files`,
    args: [
      ['[generation]', 'a number: shows how its files differ from those of the one before', wholeGeneration],
    ],
    options: [withOther],
    json: 'answer as JSON: {items, next}, or for one generation {from, to, files}',
    examples: ['reveille generations', 'reveille generations 12', 'reveille generations 12 --with 9'],
  }),
}

function issueRow(
  name: 'resolve' | 'mute' | 'reopen',
  about: string,
  example: string,
  options: Option[] = [],
): CommandRow {
  return {
    about,
    args: [['<key...>', 'the key of an issue, or its beginning where no other has it']],
    options: [...options],
    json: 'answer as JSON: {items}',
    examples: [example],
    run: async () => (await import('./operating/orders.ts')).changeIssues.bind(undefined, name),
  }
}

const operating: CommandRows = {
  reload: {
    about: 'have a running gateway read its files again; changed files go live by themselves',
    options: [...dryRun],
    examples: ['reveille reload', 'reveille reload --dry-run --limit 500', 'reveille reload --json'],
    run: async () => (await import('./operating/reload.ts')).reload,
  },
  rollback: {
    about: 'have a running gateway serve an earlier generation, until the files change',
    args: [['<generation>', 'its number; `reveille generations` lists them', wholeGeneration]],
    options: [...dryRun],
    examples: ['reveille rollback 12 --dry-run', 'reveille rollback 12'],
    run: async () => (await import('./operating/reload.ts')).rollback,
  },
  cancel: {
    about: 'end runs that are queued, parked or running',
    args: [['<run...>', id]],
    json: 'answer as JSON: {items}',
    examples: ['reveille cancel 3f9a1c', 'reveille cancel 3f9a1c 07be42'],
    run: async () => (await import('./operating/orders.ts')).cancel,
  },
  resume: {
    about: 'queue runs again that a budget or the loop guard has parked',
    args: [['[run...]', id]],
    options: [
      option('--all', 'every run that is parked'),
      option('--code <code>', 'with --all: only those parked with this code: BUDGET, LOOP, NO_PRICE'),
    ],
    json: 'answer as JSON: {items}, or {ok, done, refused} for all',
    examples: ['reveille resume 3f9a1c', 'reveille resume --all --code BUDGET'],
    run: async () => (await import('./operating/orders.ts')).resume,
  },
  retry: {
    about: 'perform runs that failed or timed out again, from their stored prompts, the oldest first',
    args: [['[run...]', id]],
    options: [
      option('--failed', 'every run that failed; the same as --state failed'),
      ...filterOptions(filtersOf(routes.retryRuns.body.properties)),
      option('--dry-run', 'only say how many would be retried'),
    ],
    json: 'answer as JSON: {items}, or {ok, done, refused} for many',
    examples: ['reveille retry 3f9a1c', 'reveille retry --failed --since 8h --dry-run'],
    run: async () => (await import('./operating/orders.ts')).retry,
  },
  resolve: issueRow(
    'resolve',
    'end issues by hand; one that shows again is opened again',
    'reveille resolve DISK_LOST_WRITES',
  ),
  mute: issueRow(
    'mute',
    'take issues off the list; they go on counting',
    'reveille mute SILENCE:billing --for 7d',
    [option('--for <duration>', 'such as 8h or 7d (default: for good)', durationMs)],
  ),
  reopen: issueRow('reopen', 'put issues back on the list', 'reveille reopen SILENCE:billing'),
  forget: {
    about: 'erase the body, headers and texts of requests for good; their records stay',
    args: [['[id...]', id]],
    options: [...filterOptions(requestFilters), option('--yes', 'do not ask first')],
    json: 'answer as JSON: {forgotten, refused}',
    help: `
Texts, bodies and headers are erased from this gateway's store, replays included.
Not erased: the facts of the records, summaries that a long session was shortened
to, values that an issue names, backups, and what models, programs, channels and
other systems were given or have logged.`,
    examples: ['reveille forget 3f9a1c', 'reveille forget --client 192.0.2.7 --yes'],
    run: async () => (await import('./records/forget.ts')).forget,
  },
  send: {
    about: 'send a text to a channel, and wait for what becomes of it',
    args: [['<text>', 'Markdown; - for standard input']],
    options: [
      option('--channel <name>', 'a configured channel, or last: the last route', undefined, 'last'),
      option('--to <recipient>', "as the channel writes it (default: the last route's, else the channel's)"),
      option(
        '--timeout <seconds>',
        'how long to wait, 1 to 86400',
        whole(1, 86_400, 'whole number of seconds'),
        60,
      ),
      option('--no-wait', 'only store it, and do not wait for its end'),
    ],
    json: 'answer as JSON: the delivery',
    help: `
The text is Markdown, and goes the same way as every reply: kept, paced, tried
again. Exit code 0: it is delivered. What is not by --timeout goes on in the
gateway.`,
    examples: [
      'reveille send "The deployment is **done**."',
      'reveille send --channel slack --to C0123456789 "Good morning"',
    ],
    run: async () => (await import('./operating/send.ts')).send,
  },
  replay: {
    about: 'do requests again with the mappings of now, or send parked deliveries again',
    args: [['[id...]', 'a request or a delivery: its id, or at least the last 4 characters']],
    options: [
      option('--failed', 'every request that failed; the same as --outcome failed'),
      ...filterOptions(requestFilters),
      option('--deliver-again', 'deliver replies although an earlier one was delivered, or may have been'),
      option('--payload <file>', 'with one request: the body in the place of its own; - for standard input'),
      option('--dry-run', 'only say what would be done'),
      option('--call-out', 'with --dry-run: transforms may use the network'),
      option('--no-wait', 'begin, and do not wait for the end'),
      option('--job <id>', 'show how far an earlier replay of many requests is, and wait for its end'),
      option('--cancel <id>', 'end an earlier replay of many requests; what was replayed stays'),
      option('--parked', 'every delivery that is parked'),
      option('--channel <name>', 'with --parked: only those to this channel'),
    ],
    json: 'answer as JSON: {items}, or the job',
    help: `
A request is done again with its own headers and body, as if it came now; its
record stays, and the new one names it. A reply goes out once: a replay of a
request whose reply was delivered, or may be yet, delivers none, unless
--deliver-again says so. Requests that are chosen by filters are done by the
gateway, each once, and it goes on when this command is ended or the gateway is
restarted.`,
    examples: ['reveille replay 3f9a1c', 'reveille replay --failed --endpoint orders --since 8h --dry-run'],
    run: async () => (await import('./operating/replay.ts')).replay,
  },
  route: {
    about: 'show the last route of the main session: where replies to `last` go',
    json: 'answer as JSON: {route}',
    examples: ['reveille route', 'reveille route set slack C0123456789'],
    run: async () => (await import('./operating/route.ts')).showRoute,
  },
  'route set': {
    about: 'set it; holds over restarts and wins over agents.route',
    args: [
      ['<channel>', 'a configured channel'],
      ['[to]', "as the channel writes it (default: the channel's defaultTo)"],
    ],
    json: 'answer as JSON: {route}',
    examples: ['reveille route set slack C0123456789', 'reveille route set terminal stderr'],
    run: async () => (await import('./operating/route.ts')).setRoute,
  },
}

const storing: CommandRows = {
  store: { about: 'look after the data of a gateway', config: false, json: false, examples: [] },
  'store backup': {
    about: 'copy the store to a new file, whether or not the gateway runs',
    args: [['<file>', 'the copy; must not exist']],
    help: `
What sources keep, such as consents and how far they have read, is in plain files
of the data folder, in sources/: copy those as they are.`,
    examples: ['reveille store backup /var/backups/reveille.db'],
    run: async () => (await import('./operating/store.ts')).storeBackup,
  },
  'store export': {
    about: 'write the store to a file of lines of JSON, to move it to another database',
    args: [['<file>', 'the file; must not exist. `-` is standard output']],
    json: 'answer as JSON: {file, counts}',
    help: `
No gateway may use the store meanwhile. The file has one line of JSON for each row,
and fits any database: with another \`gateway.store\`, \`reveille store import\` reads
it. What sources keep goes along; generations stay in the data folder.`,
    examples: [
      'reveille store export reveille.ndjson',
      'reveille store export - | gzip > reveille.ndjson.gz',
    ],
    run: async () => (await import('./operating/store.ts')).storeExport,
  },
  'store import': {
    about: 'read what `reveille store export` wrote into an empty store',
    args: [['<file>', 'the file. `-` is standard input']],
    json: 'answer as JSON: {file, counts}',
    help: `
The store that the configuration names must be empty, and no gateway may use it. All
of the file is imported, in one transaction, or nothing.`,
    examples: ['reveille store import reveille.ndjson', 'zcat reveille.ndjson.gz | reveille store import -'],
    run: async () => (await import('./operating/store.ts')).storeImport,
  },
}

const examining: CommandRows = {
  doctor: {
    about: 'look for what is unsafe, broken or forgotten, and say what to do about it',
    options: [
      option('--strict', 'let a warning count as a problem'),
      option('--online', 'ask a public server for the time, to compare the clock with'),
    ],
    help: `
It looks at the configuration, at who may read its files, and at the gateway of
that configuration, whether or not it runs. It changes nothing.
Exit code: 1 where there is a problem, and with --strict where there is a warning.`,
    examples: ['reveille doctor', 'reveille doctor --config /etc/reveille/reveille.yaml --strict'],
    run: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  'doctor signature': {
    about: 'say whether a request would be taken for one of its sender, and if not, what differs',
    options: [
      option('--endpoint <name>', 'the <name> of /hooks/<name>').makeOptionMandatory(),
      option('--request <file>', 'the request that was sent; - reads standard input').makeOptionMandatory(),
      option('--now <time>', 'when it arrived (default: now)'),
      option('--offline', 'fetch no keys'),
    ],
    help: `
The file holds what was sent, as an HTTP message: the request line, the headers, a
blank line, and the body as it came.

It is tried with the secrets of the other endpoints, with other addresses and with
the body as other programs would have written it. Nothing is sent, and neither a
secret nor anything of the request is shown. Where a provider signs with keys that
it publishes, they are fetched, unless --offline.
Exit code: 0 where the request would be taken, 1 where it would not.`,
    examples: [
      'reveille doctor signature --endpoint github --request sent.http',
      'reveille doctor signature --endpoint billing --request sent.http --now 2026-01-31T12:00:00Z',
    ],
    run: async () => (await import('./doctor/signature.ts')).doctorSignature,
  },
  docs: {
    about: 'list the pages that come with this version, or print one',
    config: false,
    args: [['[page]', 'its name; `skill` is the page for coding agents']],
    json: 'answer as JSON: {pages}, or {name, title, file, text}',
    examples: ['reveille docs', 'reveille docs mappings', 'reveille docs reference/http'],
    run: async () => (await import('./docs.ts')).docs,
  },
  completion: {
    about: 'print what completes the commands in a shell; it says where to put it',
    config: false,
    args: [['<shell>', 'the shell', ['bash', 'zsh', 'fish']]],
    json: 'answer as JSON: {shell, script}',
    examples: ['reveille completion bash >> ~/.bashrc', 'reveille completion fish'],
    run: async () => (await import('./completion.ts')).completion,
  },
}

/** The help lists the commands in this order. `connecting`: the commands that connect, which packages describe. */
export const commands = (connecting: CommandRows): CommandRows => ({
  ...settingUp,
  ...authoring,
  ...asking(reading),
  ...asking(operating),
  ...connecting,
  ...storing,
  ...examining,
})

function asking(rows: CommandRows): CommandRows {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, gateway: true }]))
}

/** A line of help for each name. */
function described(names: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(names).map((name) => name.length))
  return Object.entries(names)
    .map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)
    .join('\n')
}

/** Collects the values of an option that may be given several times. */
function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}

function wholeGeneration(text: string): string {
  if (/^[1-9]\d{0,14}$/.test(text)) return text
  throw new InvalidArgumentError('It must be a number that `reveille generations` lists.')
}

function day(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new InvalidArgumentError('It must be a day such as 2026-01-31.')
}

/** Parses a duration such as `30m`, `8h` or `7d` to milliseconds. */
function durationMs(text: string): number {
  const [, number = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It must be a duration such as 30m, 8h or 7d.')
  return Number(number) * (unitMs[unit] ?? 0)
}
