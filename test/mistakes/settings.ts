/** Mistakes in `reveille.yaml` and `.env`: what an operator wrote, and the code of what `check` reports. */

export interface SeededMistake {
  /** What was written, in a few words. It names the test. */
  readonly name: string
  /** The whole of `reveille.yaml`. */
  readonly whole: string
  /** Bytes in place of text, for encodings. */
  readonly bytes?: Buffer
  /** Other files. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** The code of an error or a warning. */
  readonly code: string
}

const token = '6c1f0a52d98b4e7f93a1c6d0be5a4f27'
const other = '0b7d8e5f4a3c2d1e9f8a7b6c5d4e3f2a'
const goodLines = `channels: { terminal: {} }\n`
const goodHooks = `hooks: { enabled: true, token: ${token} }\n`
const hooks = (lines: string) =>
  `hooks:\n  enabled: true\n  token: ${token}\n${lines.replaceAll(/^/gm, '  ')}\n`
const mapping = 'mappings: [{ match: { path: a }, message: hello }]'

function inHooks(
  name: string,
  lines: string,
  code: string,
  more: Partial<SeededMistake> = {},
): SeededMistake {
  return { name, whole: `${hooks(lines)}${goodLines}`, code, ...more }
}
function beside(
  name: string,
  more: string,
  code: string,
  others: Partial<SeededMistake> = {},
): SeededMistake {
  return { name, whole: `${goodHooks}${more}\n`, code, ...others }
}
function alone(
  name: string,
  whole: string,
  code: string,
  others: Partial<SeededMistake> = {},
): SeededMistake {
  return { name, whole, code, ...others }
}

export const settings: readonly SeededMistake[] = [
  inHooks(
    'a challenge that is never answered',
    'endpoints: { a: { auth: none, verify: { challenge: { method: POST, field: challenge } } } }',
    'CHALLENGE_UNANSWERED',
  ),
  // Types, units and ranges.
  beside('a port as a word', 'gateway: { port: http }', 'INVALID_VALUE'),
  beside('a port out of range', 'gateway: { port: 87870 }', 'INVALID_VALUE'),
  beside('a negative port', 'gateway: { port: -1 }', 'INVALID_VALUE'),
  beside('a port with a host before it', 'gateway: { port: "0.0.0.0:8787" }', 'INVALID_VALUE'),
  beside('a host with a port', 'gateway: { host: "0.0.0.0:8787" }', 'INVALID_VALUE'),
  beside('a host as an address with a scheme', 'gateway: { host: "http://localhost" }', 'INVALID_VALUE'),
  beside('a list as a host', 'gateway: { host: [127.0.0.1] }', 'INVALID_VALUE'),
  inHooks('a switch as NO', 'allowQueryToken: NO', 'INVALID_VALUE'),
  inHooks('a switch as off', 'allowQueryToken: off', 'INVALID_VALUE'),
  inHooks('a switch as a number', 'allowQueryToken: 0', 'INVALID_VALUE'),
  inHooks('a switch in quotes', 'allowQueryToken: "false"', 'INVALID_VALUE'),
  inHooks('a duration without a unit', 'bodyTimeout: 10', 'INVALID_VALUE'),
  inHooks('a duration in words', 'bodyTimeout: 10 seconds', 'INVALID_VALUE'),
  inHooks('a duration in two units', 'bodyTimeout: 1m30s', 'INVALID_VALUE'),
  inHooks('a duration of nothing', 'bodyTimeout: 0s', 'INVALID_VALUE'),
  inHooks('a duration that is negative', 'bodyTimeout: -5s', 'INVALID_VALUE'),
  inHooks('a size with a unit where bytes are expected', 'maxBodyBytes: 1MB', 'INVALID_VALUE'),
  inHooks('a size in quotes', 'maxBodyBytes: "1048576"', 'INVALID_VALUE'),
  inHooks('a size with separators', 'maxBodyBytes: 1_048_576', 'INVALID_VALUE'),
  inHooks('a number with a point', 'maxActions: 1.5', 'INVALID_VALUE'),
  inHooks('a number of zero', 'maxActions: 0', 'INVALID_VALUE'),
  inHooks('a size above the limit', 'maxBodyBytes: 209715200', 'INVALID_VALUE'),
  beside('a time to keep history without a unit', 'history: { keep: 30 }', 'INVALID_VALUE'),
  beside('a time to keep history in months', 'history: { keep: 1M }', 'INVALID_VALUE'),
  beside('a retention of all bodies as a switch', 'history: { bodies: true }', 'INVALID_VALUE'),
  beside('a room for bodies in bytes', 'history: { maxBodyBytes: 1000000 }', 'INVALID_VALUE'),
  beside('a room for bodies in a wrong unit', 'history: { maxBodyBytes: 1Gb }', 'INVALID_VALUE'),
  // Keys.
  beside('a misspelt key at the top', 'agent: { defaults: {} }', 'UNKNOWN_KEY'),
  alone('hooks in the singular', `hook: { enabled: true, token: ${token} }\n`, 'UNKNOWN_KEY'),
  inHooks('a misspelt key', 'mapingsDir: ./m', 'UNKNOWN_KEY'),
  inHooks('a key in snake case', 'mappings_dir: ./m', 'UNKNOWN_KEY'),
  inHooks('a key in kebab case', 'mappings-dir: ./m', 'UNKNOWN_KEY'),
  inHooks('a key in capitals', 'MappingsDir: ./m', 'UNKNOWN_KEY'),
  beside('a key of the gateway at the top', 'port: 8787', 'UNKNOWN_KEY'),
  beside('a host at the top', 'host: 0.0.0.0', 'UNKNOWN_KEY'),
  beside('the token of hooks at the top', `token: ${other}`, 'UNKNOWN_KEY'),
  beside('mappings at the top', mapping, 'UNKNOWN_KEY'),
  beside('endpoints at the top', 'endpoints: { a: { auth: none } }', 'UNKNOWN_KEY'),
  beside('presets at the top', 'presets: [github]', 'UNKNOWN_KEY'),
  inHooks('a port under hooks', 'port: 8787', 'UNKNOWN_KEY'),
  beside('the token of the gateway one level too high', `gateway: { token: ${other} }`, 'UNKNOWN_KEY'),
  beside('a log level one level too high', 'gateway: { logLevel: debug }', 'UNKNOWN_KEY'),
  beside('a level of another logger', 'gateway: { log: { level: verbose } }', 'INVALID_VALUE'),
  beside('a format of the log that is unknown', 'gateway: { log: { format: text } }', 'INVALID_VALUE'),
  beside('a route outside of agents', 'route: { channel: terminal }', 'UNKNOWN_KEY'),
  beside('a model outside of the defaults', 'agents: { model: openai/gpt-5 }', 'UNKNOWN_KEY'),
  beside('a budget outside of agents', 'budget: { runs: 5 }', 'UNKNOWN_KEY'),
  // Secrets.
  alone('no token', 'hooks: { enabled: true }\n', 'HOOK_TOKEN_MISSING'),
  alone('an empty token', 'hooks: { enabled: true, token: "" }\n', 'TOKEN_EMPTY'),
  alone('a short token', 'hooks: { enabled: true, token: secret }\n', 'TOKEN_WEAK'),
  alone('a token from an example', 'hooks: { enabled: true, token: change-me-please-now }\n', 'TOKEN_SHORT'),
  alone('a token as a number', 'hooks: { enabled: true, token: 123456789012345678 }\n', 'INVALID_VALUE'),
  alone(
    'one token for hooks and the gateway',
    `hooks: { enabled: true, token: ${token} }\ngateway: { auth: { token: ${token} } }\n`,
    'TOKEN_SHARED',
  ),
  alone(
    'one variable for hooks and the gateway',
    'hooks: { enabled: true, token: "${T}" }\ngateway: { auth: { token: "${T}" } }\n',
    'TOKEN_SHARED',
    { env: { T: token } },
  ),
  alone(
    'a variable that is not set',
    'hooks: { enabled: true, token: "${NO_SUCH_TOKEN}" }\n',
    'UNRESOLVED_REFERENCE',
  ),
  alone('a variable that is empty', 'hooks: { enabled: true, token: "${T}" }\n', 'TOKEN_EMPTY', {
    env: { T: '' },
  }),
  alone(
    'a variable in the form of a shell',
    'hooks: { enabled: true, token: $REVEILLE_HOOK_TOKEN }\n',
    'REFERENCE_SYNTAX',
    {
      env: { REVEILLE_HOOK_TOKEN: token },
    },
  ),
  alone(
    'a variable in double braces',
    'hooks: { enabled: true, token: "{{REVEILLE_HOOK_TOKEN}}" }\n',
    'TOKEN_WEAK',
  ),
  alone(
    'a variable of a pipeline',
    'hooks: { enabled: true, token: "${{ secrets.HOOK_TOKEN }}" }\n',
    'REFERENCE_SYNTAX',
  ),
  alone(
    'a variable with process.env',
    'hooks: { enabled: true, token: "process.env.HOOK_TOKEN" }\n',
    'REFERENCE_SYNTAX',
  ),
  alone(
    'a variable without its closing brace',
    'hooks: { enabled: true, token: "${REVEILLE_HOOK_TOKEN" }\n',
    'REFERENCE_SYNTAX',
  ),
  alone('a reference of YAML', 'hooks: { enabled: true, token: !env REVEILLE_HOOK_TOKEN }\n', 'YAML_SYNTAX'),
  alone(
    'a secret file that is missing',
    'hooks: { enabled: true, token: "${file:./no-such-token}" }\n',
    'UNRESOLVED_REFERENCE',
  ),
  alone(
    'a secret file that is empty',
    'hooks: { enabled: true, token: "${file:./token}" }\n',
    'TOKEN_EMPTY',
    {
      files: { token: '' },
    },
  ),
  alone('a token with spaces around it', `hooks: { enabled: true, token: " ${token} " }\n`, 'TOKEN_INVALID'),
  alone(
    'a token with a bearer before it',
    `hooks: { enabled: true, token: "Bearer ${token}" }\n`,
    'TOKEN_INVALID',
  ),
  beside(
    'an exposed host that takes tokens in addresses',
    'gateway: { host: 0.0.0.0 }',
    'QUERY_TOKEN_PUBLIC',
  ),
  // YAML.
  alone('a tab as indentation', `hooks:\n\tenabled: true\n\ttoken: ${token}\n`, 'YAML_SYNTAX'),
  alone('a key twice', `hooks:\n  enabled: true\n  token: ${token}\n  token: ${other}\n`, 'DUPLICATE_KEY'),
  alone('a block twice', `${goodHooks}${goodHooks}`, 'DUPLICATE_KEY'),
  alone('a colon without a space', `hooks:\n  enabled:true\n  token: ${token}\n`, 'YAML_SYNTAX'),
  alone('a key that is indented too far', `hooks:\n  enabled: true\n    token: ${token}\n`, 'YAML_SYNTAX'),
  alone('a key that is indented too little', `hooks:\n  enabled: true\n token: ${token}\n`, 'YAML_SYNTAX'),
  alone('keys that lost their indentation', `hooks:\nenabled: true\ntoken: ${token}\n`, 'UNKNOWN_KEY'),
  alone('a list where keys belong', `hooks:\n  - enabled: true\n  - token: ${token}\n`, 'INVALID_VALUE'),
  alone('a quote without an end', `hooks:\n  enabled: true\n  token: "${token}\n`, 'YAML_SYNTAX'),
  alone('a brace without an end', `hooks: { enabled: true, token: ${token}\n`, 'YAML_SYNTAX'),
  alone('an alias that has no anchor', `hooks: *base\n`, 'YAML_SYNTAX'),
  alone('a merge key', `x: &x { enabled: true }\nhooks:\n  <<: *x\n  token: ${token}\n`, 'UNKNOWN_KEY'),
  alone('two documents', `${goodHooks}---\nchannels: {}\n`, 'YAML_SYNTAX'),
  alone('a text that begins with an at sign', 'gateway: { host: @local }\n', 'YAML_SYNTAX'),
  alone('a text that begins with a star', 'gateway: { host: *.example.com }\n', 'YAML_SYNTAX'),
  alone(
    'JSON with a comma too many',
    `{ "hooks": { "enabled": true, "token": "${token}",, } }\n`,
    'YAML_SYNTAX',
  ),
  alone('a configuration that is a list', '- hooks: {}\n', 'INVALID_VALUE'),
  alone('a configuration that is a word', 'reveille\n', 'INVALID_VALUE'),
  alone('an empty configuration', '\n', 'FILE_EMPTY'),
  alone('a configuration in UTF-16', '', 'FILE_NOT_TEXT', {
    bytes: Buffer.from(`\ufeff${goodHooks}`, 'utf16le'),
  }),
  alone('a configuration in Latin-1', '', 'FILE_NOT_TEXT', {
    bytes: Buffer.from(`# für\n${goodHooks}`, 'latin1'),
  }),
  alone(
    'a conflict of git',
    `<<<<<<< HEAD\n${goodHooks}=======\n${goodHooks}>>>>>>> other\n`,
    'MERGE_CONFLICT',
  ),
  alone('a fence of Markdown around it', `\`\`\`yaml\n${goodHooks}\`\`\`\n`, 'YAML_SYNTAX'),
  alone('quotes of a word processor', 'gateway: { host: “0.0.0.0” }\n', 'INVALID_VALUE'),
  alone('a space that does not break', `hooks:\n\u00a0 enabled: true\n  token: ${token}\n`, 'YAML_SYNTAX'),
  // Paths.
  inHooks('a folder of mappings that is missing', 'mappingsDir: ./nowhere', 'FILE_NOT_FOUND'),
  inHooks('a file as the folder of mappings', 'mappingsDir: ./a.yaml', 'FILE_NOT_FOUND', {
    files: { 'a.yaml': 'mappings: []\n' },
  }),
  inHooks('a path of hooks with a host', 'path: https://example.com/hooks', 'INVALID_VALUE'),
  inHooks('a path of hooks as the root', 'path: /', 'HOOK_PATH_ROOT'),
  inHooks('a path of hooks over the API', 'path: /api', 'HOOK_PATH_TAKEN'),
  inHooks('a path of hooks with a query', 'path: /hooks?token=1', 'INVALID_VALUE'),
  inHooks('a path of hooks with a parameter', 'path: /hooks/:team', 'INVALID_VALUE'),
  inHooks('a preset that is unknown', 'presets: [gihub]', 'UNKNOWN_PRESET'),
  inHooks('presets as a text', 'presets: github', 'INVALID_VALUE'),
  inHooks('a preset twice', 'presets: [github, github]', 'DUPLICATE_PRESET'),
  inHooks(
    'limits for a transform that nothing calls',
    'transforms: { modules: { review.ts: { timeout: 5s } } }',
    'UNUSED_FIELD',
  ),
  inHooks(
    'a policy for an endpoint that no mapping has',
    `endpoints: { builds: { rate: { endpoint: 10/1m } } }\n${mapping}`,
    'UNUSED_FIELD',
  ),
  inHooks(
    'a rate without a period',
    `endpoints: { a: { rate: { endpoint: 10 } } }\n${mapping}`,
    'INVALID_VALUE',
  ),
  inHooks(
    'a rate of the form of nginx',
    `endpoints: { a: { rate: { endpoint: 10r/s } } }\n${mapping}`,
    'INVALID_VALUE',
  ),
  inHooks(
    'a signature without a secret',
    `endpoints: { a: { auth: signature, verify: { provider: github } } }\n${mapping}`,
    'AUTH_UNVERIFIABLE',
  ),
  inHooks(
    'a provider that is unknown',
    `endpoints: { a: { verify: { provider: githb, secret: ${other} } } }\n${mapping}`,
    'UNKNOWN_PROVIDER',
  ),
  inHooks(
    'a way of authentication that is unknown',
    `endpoints: { a: { auth: bearer } }\n${mapping}`,
    'INVALID_VALUE',
  ),
  // Channels, runners and models.
  beside('a channel that is unknown', 'channels: { slak: { botToken: x } }', 'PLUGIN_MISSING'),
  beside('a channel as a list', 'channels: [slack]', 'INVALID_VALUE'),
  beside('a channel without its credential', 'channels: { slack: {} }', 'PLUGIN_CONFIG'),
  beside(
    'a route to a channel that is not configured',
    'channels: { terminal: {} }\nagents: { route: { channel: slack, to: "#a" } }',
    'UNKNOWN_CHANNEL',
  ),
  beside('a runner that is unknown', 'agents: { defaults: { runner: claud } }', 'PLUGIN_MISSING'),
  beside('a runner of an unknown kind', 'agents: { runners: { mine: { kind: shell } } }', 'PLUGIN_MISSING'),
  beside('a runner without a command', 'agents: { runners: { mine: { kind: command } } }', 'PLUGIN_CONFIG'),
  beside(
    'a preset of a runner that is unknown',
    'agents: { runners: { mine: { kind: command, preset: cluade } } }',
    'PLUGIN_CONFIG',
  ),
  beside('a model without its provider', 'agents: { defaults: { model: gpt-5 } }', 'INVALID_MODEL'),
  beside(
    'a model in the form of OpenClaw',
    'agents: { defaults: { model: { primary: openai/gpt-5 } } }',
    'INVALID_VALUE',
  ),
  beside('a level of thinking that is unknown', 'agents: { defaults: { thinking: max } }', 'INVALID_VALUE'),
  beside('a heartbeat as a number', 'agents: { defaults: { heartbeat: { every: 30 } } }', 'INVALID_VALUE'),
  beside('a heartbeat as a text', 'agents: { defaults: { heartbeat: 30m } }', 'INVALID_VALUE'),
  beside(
    'hours of rest in a wrong form',
    'agents: { defaults: { heartbeat: { quietHours: 22-7 } } }',
    'INVALID_VALUE',
  ),
  beside('a budget in words', 'agents: { budget: { usd: five } }', 'INVALID_VALUE'),
  beside('a budget of nothing', 'agents: { budget: { runs: 0 } }', 'INVALID_VALUE'),
  beside('a budget as a number', 'agents: { budget: 5 }', 'INVALID_VALUE'),
  beside(
    'a price that is negative',
    'agents: { prices: { openai/gpt-5: { input: -1, output: 1 } } }',
    'INVALID_VALUE',
  ),
  beside('a plugin that is missing', 'plugins: [./no-such-plugin]', 'PLUGIN_MISSING'),
  beside('a plugin that is not installed', 'plugins: ["@acme/no-such-plugin"]', 'PLUGIN_MISSING'),
  beside('plugins as a text', 'plugins: ./mine', 'INVALID_VALUE'),
  // Proxies, the store and Gmail.
  beside('a proxy as a name', 'gateway: { trustedProxies: [proxy.example.com] }', 'INVALID_VALUE'),
  beside('a proxy with a prefix too long', 'gateway: { trustedProxies: [10.0.0.0/33] }', 'INVALID_VALUE'),
  beside('proxies as a switch', 'gateway: { trustedProxies: true }', 'INVALID_VALUE'),
  beside('all addresses as proxies', 'gateway: { trustedProxies: [0.0.0.0/0] }', 'EVERYONE_TRUSTED'),
  beside('a store that is unknown', 'gateway: { store: mysql://localhost/x }', 'INVALID_VALUE'),
  beside('a store as a file', 'gateway: { store: ./data/reveille.db }', 'INVALID_VALUE'),
  inHooks('Gmail without a source', 'gmail: { account: me@example.com }', 'PLUGIN_CONFIG'),
  inHooks(
    'Gmail with an account that is none',
    'gmail: { account: me, topic: projects/p/topics/t }',
    'PLUGIN_CONFIG',
  ),
  // OpenClaw.
  inHooks(
    'the action of a mapping as OpenClaw has none',
    'mappings: [{ match: { path: a }, action: notify, message: x }]',
    'INVALID_VALUE',
  ),
  beside('the port of OpenClaw in the wrong block', 'gateway: { bind: lan }', 'UNKNOWN_KEY'),
  beside('an agent list of OpenClaw', 'agents: { list: [{ id: main }] }', 'UNKNOWN_KEY'),
  beside('cron of OpenClaw', 'cron: { enabled: true }', 'UNKNOWN_KEY'),
  // The environment file.
  alone('a .env with a line that is none', 'hooks: { enabled: true, token: "${T}" }\n', 'ENV_LINE', {
    files: { '.env': `export T ${token}\n` },
  }),
  alone('a .env with YAML in it', 'hooks: { enabled: true, token: "${T}" }\n', 'ENV_LINE', {
    files: { '.env': `T: ${token}\n` },
  }),
  alone('a .env with quotes that do not end', 'hooks: { enabled: true, token: "${T}" }\n', 'ENV_QUOTE', {
    files: { '.env': `T="${token}\n` },
  }),
  alone('a .env with spaces around the value', 'hooks: { enabled: true, token: "${T}" }\n', 'TOKEN_INVALID', {
    files: { '.env': `T=" ${token} "\n` },
  }),
  alone('a .env beside another folder', 'hooks: { enabled: true, token: "${T}" }\n', 'UNRESOLVED_REFERENCE', {
    files: { 'sub/.env': `T=${token}\n` },
  }),
]

/** What `check` accepts without a word, and why that is right. */
export const silent: readonly (Omit<SeededMistake, 'code'> & { readonly why: string })[] = [
  {
    ...inHooks('an octal number', 'maxActions: 010', ''),
    why: 'YAML 1.2 reads 10, which is also what a person reads',
  },
  {
    ...inHooks('an endpoint without authentication', `endpoints: { a: { auth: none } }\n${mapping}`, ''),
    why: 'it was written on purpose; `doctor` reports OPEN_ENDPOINT',
  },
  {
    ...beside(
      'a route without an address',
      'channels: { slack: { botToken: xoxb-1234567890-abcdef } }\nagents: { route: { channel: slack } }',
      '',
    ),
    why: 'mappings may name the address; a reply without one is parked, and DELIVERIES_PARKED names it',
  },
]
