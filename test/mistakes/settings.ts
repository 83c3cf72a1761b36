/** Mistakes in `reveille.yaml` and `.env`: the code of what `check` reports, and what an operator wrote. */

export interface SeededMistake {
  /** A few words about the mistake. They name the test. */
  readonly name: string
  /** Other files, and `reveille.yaml` as text, or as bytes for encodings. */
  readonly files: Readonly<Record<string, string | Buffer>>
  /** The code of an error or a warning, or `ok`. */
  readonly code: string
  /** Reason why `check` accepts it without a word. */
  readonly why?: string
}

const token = '6c1f0a52d98b4e7f93a1c6d0be5a4f27'
const other = '0b7d8e5f4a3c2d1e9f8a7b6c5d4e3f2a'
const goodLines = 'channels: { terminal: {} }'
const goodHooks = `hooks: { enabled: true, token: ${token} }`
const mapping = 'mappings: [{ match: { path: a }, message: hello }]'

/**
 * Reads a table: a code, the name, the lines of a configuration with `⏎` for line breaks, and perhaps another file or, after
 * `ok`, the reason. `whole` makes the configuration of the lines.
 */
function mistakes(whole: (lines: string) => string, table: string): SeededMistake[] {
  return table
    .trim()
    .split('\n')
    .map((row) => {
      const [, code = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(row) ?? []
      const [name = '', lines = '', more = ''] = rest.split(' | ').map((text) => text.replaceAll('⏎', '\n'))
      const configuration = { 'reveille.yaml': `${whole(lines)}\n` }
      if (code === 'ok') return { name, code, files: configuration, why: more }
      const [, file, content = ''] = /^([\w./]+): ?([\s\S]*)$/.exec(more) ?? []
      return { name, code, files: { ...(file && { [file]: `${content}\n` }), ...configuration } }
    })
}

const inHooks = (lines: string) =>
  `hooks:\n  enabled: true\n  token: ${token}\n${lines.replaceAll(/^/gm, '  ')}\n${goodLines}`

export const settings: readonly SeededMistake[] = [
  ...mistakes(
    inHooks,
    `
CHALLENGE_UNANSWERED a challenge that is never answered | endpoints: { a: { auth: none, verify: { challenge: { method: POST, field: challenge } } } }
INVALID_VALUE        a switch as NO | allowQueryToken: NO
INVALID_VALUE        a switch as off | allowQueryToken: off
INVALID_VALUE        a switch as a number | allowQueryToken: 0
INVALID_VALUE        a duration without a unit | bodyTimeout: 10
INVALID_VALUE        a duration in words | bodyTimeout: 10 seconds
INVALID_VALUE        a size with a unit where bytes are expected | maxBodyBytes: 1MB
INVALID_VALUE        a size in quotes | maxBodyBytes: "1048576"
INVALID_VALUE        a number with a point | maxActions: 1.5
INVALID_VALUE        a number of zero | maxActions: 0
INVALID_VALUE        a size above the limit | maxBodyBytes: 209715200
UNKNOWN_KEY          a misspelt key | mapingsDir: ./m
UNKNOWN_KEY          a key in snake case | mappings_dir: ./m
UNKNOWN_KEY          a port under hooks | port: 8787
FILE_NOT_FOUND       a folder of mappings that is missing | mappingsDir: ./nowhere
FILE_NOT_FOUND       a file as the folder of mappings | mappingsDir: ./a.yaml | a.yaml: mappings: []
INVALID_VALUE        a path of hooks with a host | path: https://example.com/hooks
HOOK_PATH_ROOT       a path of hooks as the root | path: /
HOOK_PATH_TAKEN      a path of hooks over the API | path: /api
INVALID_VALUE        a path of hooks with a query | path: /hooks?token=1
UNKNOWN_PRESET       a preset that is unknown | presets: [gihub]
INVALID_VALUE        presets as a text | presets: github
DUPLICATE_PRESET     a preset twice | presets: [github, github]
UNUSED_FIELD         limits for a transform that nothing calls | transforms: { modules: { review.ts: { timeout: 5s } } }
UNUSED_FIELD         a policy for an endpoint that no mapping has | endpoints: { builds: { rate: { endpoint: 10/1m } } }⏎${mapping}
INVALID_VALUE        a rate without a period | endpoints: { a: { rate: { endpoint: 10 } } }⏎${mapping}
INVALID_VALUE        a rate of the form of nginx | endpoints: { a: { rate: { endpoint: 10r/s } } }⏎${mapping}
AUTH_UNVERIFIABLE    a signature without a secret | endpoints: { a: { auth: signature, verify: { provider: github } } }⏎${mapping}
UNKNOWN_PROVIDER     a provider that is unknown | endpoints: { a: { verify: { provider: githb, secret: ${other} } } }⏎${mapping}
INVALID_VALUE        a way of authentication that is unknown | endpoints: { a: { auth: bearer } }⏎${mapping}
PLUGIN_CONFIG        Gmail without an account | gmail: { label: Work }
PLUGIN_CONFIG        Gmail with an account that is none | gmail: { account: me }
INVALID_VALUE        the action of a mapping as OpenClaw has none | mappings: [{ match: { path: a }, action: notify, message: x }]
ok                   an octal number | maxActions: 010 | YAML 1.2 reads 10, which is also what a person reads
ok                   an endpoint without authentication | endpoints: { a: { auth: none } }⏎${mapping} | it was written on purpose; \`doctor\` reports OPEN_ENDPOINT
UNUSED_FIELD         a misspelt endpoint, whose signature nothing would verify | endpoints: { githb: { verify: { provider: github, secret: ${other} } } }⏎mappings: [{ match: { path: github }, message: x }]
UNUSED_FIELD         policies of an endpoint that no mapping has, beside two that are served | endpoints: { a/push: { maxBodyBytes: 10 }, agent: { maxBodyBytes: 10 }, orders: { maxBodyBytes: 10 } }⏎mappings: [{ match: { path: "a/:event" }, message: x }]
UNKNOWN_KEY          the secret of an endpoint beside its provider | endpoints: { github: { signature: x } }
`,
  ),
  ...mistakes(
    (lines) => `${goodHooks}\n${lines}`,
    `
INVALID_VALUE        a port out of range | gateway: { port: 87870 }
INVALID_VALUE        a host with a port | gateway: { host: "0.0.0.0:8787" }
INVALID_VALUE        a host as an address with a scheme | gateway: { host: "http://localhost" }
INVALID_VALUE        a retention of all bodies as a switch | history: { bodies: true }
INVALID_VALUE        a room for bodies in bytes | history: { maxBodyBytes: 1000000 }
INVALID_VALUE        a room for bodies in a wrong unit | history: { maxBodyBytes: 1Gb }
UNKNOWN_KEY          a key of the gateway at the top | port: 8787
UNKNOWN_KEY          a host at the top | host: 0.0.0.0
UNKNOWN_KEY          the token of the gateway one level too high | gateway: { token: ${other} }
UNKNOWN_KEY          a log level one level too high | gateway: { logLevel: debug }
INVALID_VALUE        a level of another logger | gateway: { log: { level: verbose } }
INVALID_VALUE        a format of the log that is unknown | gateway: { log: { format: text } }
TOKEN_SHARED         one token for hooks and the gateway | gateway: { auth: { token: ${token} } }
QUERY_TOKEN_PUBLIC   an exposed host that takes tokens in addresses | gateway: { host: 0.0.0.0 }
PLUGIN_MISSING       a channel that is unknown | channels: { slak: { botToken: x } }
INVALID_VALUE        a channel as a list | channels: [slack]
PLUGIN_CONFIG        a channel without its credential | channels: { slack: {} }
UNKNOWN_CHANNEL      a route to a channel that is not configured | channels: { terminal: {} }⏎agents: { route: { channel: slack, to: "#a" } }
PLUGIN_MISSING       a runner that is unknown | agents: { defaults: { runner: claud } }
PLUGIN_MISSING       a runner of an unknown kind | agents: { runners: { mine: { kind: shell } } }
PLUGIN_CONFIG        a runner without a command | agents: { runners: { mine: { kind: command } } }
PLUGIN_CONFIG        a preset of a runner that is unknown | agents: { runners: { mine: { kind: command, preset: cluade } } }
INVALID_MODEL        a model without its provider | agents: { defaults: { model: gpt-5 } }
INVALID_VALUE        a model in the form of OpenClaw | agents: { defaults: { model: { primary: openai/gpt-5 } } }
INVALID_VALUE        a level of thinking that is unknown | agents: { defaults: { thinking: max } }
INVALID_VALUE        a heartbeat as a text | agents: { defaults: { heartbeat: 30m } }
INVALID_VALUE        hours of rest in a wrong form | agents: { defaults: { heartbeat: { quietHours: 22-7 } } }
INVALID_VALUE        a budget in words | agents: { budget: { usd: five } }
INVALID_VALUE        a budget as a number | agents: { budget: 5 }
INVALID_VALUE        a price that is negative | agents: { prices: { openai/gpt-5: { input: -1, output: 1 } } }
PLUGIN_MISSING       a plugin that is missing | plugins: [./no-such-plugin]
PLUGIN_MISSING       a plugin that is not installed | plugins: ["@acme/no-such-plugin"]
INVALID_VALUE        plugins as a text | plugins: ./mine
INVALID_VALUE        a proxy as a name | gateway: { trustedProxies: [proxy.example.com] }
INVALID_VALUE        a proxy with a prefix too long | gateway: { trustedProxies: [10.0.0.0/33] }
INVALID_VALUE        proxies as a switch | gateway: { trustedProxies: true }
EVERYONE_TRUSTED     all addresses as proxies | gateway: { trustedProxies: [0.0.0.0/0] }
INVALID_VALUE        a store that is unknown | gateway: { store: mysql://localhost/x }
INVALID_VALUE        a store as a file | gateway: { store: ./data/reveille.db }
UNKNOWN_KEY          an agent list of OpenClaw | agents: { list: [{ id: main }] }
UNKNOWN_KEY          cron of OpenClaw | cron: { enabled: true }
ok                   a route without an address | channels: { slack: { botToken: xoxb-1234567890-abcdef } }⏎agents: { route: { channel: slack } } | mappings may name the address; a reply without one is parked, and DELIVERIES_PARKED names it
UNKNOWN_KEY          \`server\` for the gateway | server: { port: 8080 }
UNKNOWN_KEY          a channel at the top | slack: { botToken: x }
UNKNOWN_KEY          \`secrets\` | secrets: { a: b }
UNKNOWN_KEY          \`webhooks\` for hooks | webhooks: { enabled: true }
MISSING_KEY          an expected value under another name | ${goodLines} | mappings/a.yaml: tests: [{ name: t, request: { endpoint: a, payload: {} }, then: { action: agent } }]
UNKNOWN_KEY          a key of a test that is like nothing | ${goodLines} | mappings/a.yaml: tests: [{ name: t, request: { endpoint: a, body: {} }, expect: { foo: 1 } }]
FOREIGN_OPERATOR     mistakes of shape, pattern, expression and template, all reported at once | ${goodLines} | mappings/a.yaml: mappings:⏎  - { id: a, match: { path: a }, acton: wake, message: x }⏎  - { id: b, match: { path: b, body: { n: { gt: 1 } } }, message: x }⏎  - { id: c, match: { path: c, when: "a == 'x'" }, message: x }⏎  - { id: d, match: { path: d }, message: "{{#if a}}x" }
`,
  ),
  ...mistakes(
    (lines) => lines,
    `
HOOK_TOKEN_MISSING   no token | hooks: { enabled: true }
TOKEN_EMPTY          an empty token | hooks: { enabled: true, token: "" }
TOKEN_WEAK           a short token | hooks: { enabled: true, token: secret }
TOKEN_SHORT          a token from an example | hooks: { enabled: true, token: change-me-please-now }
INVALID_VALUE        a token as a number | hooks: { enabled: true, token: 123456789012345678 }
TOKEN_SHARED         one variable for hooks and the gateway | hooks: { enabled: true, token: "\${T}" }⏎gateway: { auth: { token: "\${T}" } } | .env: T=${token}
UNRESOLVED_REFERENCE a variable that is not set | hooks: { enabled: true, token: "\${NO_SUCH_TOKEN}" }
TOKEN_EMPTY          a variable that is empty | hooks: { enabled: true, token: "\${T}" } | .env: T=
REFERENCE_SYNTAX     a variable in the form of a shell | hooks: { enabled: true, token: $REVEILLE_HOOK_TOKEN } | .env: REVEILLE_HOOK_TOKEN=${token}
TOKEN_WEAK           a variable in double braces | hooks: { enabled: true, token: "{{REVEILLE_HOOK_TOKEN}}" }
REFERENCE_SYNTAX     a variable of a pipeline | hooks: { enabled: true, token: "\${{ secrets.HOOK_TOKEN }}" }
REFERENCE_SYNTAX     a variable with process.env | hooks: { enabled: true, token: "process.env.HOOK_TOKEN" }
REFERENCE_SYNTAX     a variable without its closing brace | hooks: { enabled: true, token: "\${REVEILLE_HOOK_TOKEN" }
YAML_SYNTAX          a reference of YAML | hooks: { enabled: true, token: !env REVEILLE_HOOK_TOKEN }
UNRESOLVED_REFERENCE a secret file that is missing | hooks: { enabled: true, token: "\${file:./no-such-token}" }
TOKEN_INVALID        a token with spaces around it | hooks: { enabled: true, token: " ${token} " }
TOKEN_INVALID        a token with a bearer before it | hooks: { enabled: true, token: "Bearer ${token}" }
YAML_SYNTAX          a tab as indentation | hooks:⏎\tenabled: true⏎\ttoken: ${token}
DUPLICATE_KEY        a key twice | hooks:⏎  enabled: true⏎  token: ${token}⏎  token: ${other}
DUPLICATE_KEY        a block twice | ${goodHooks}⏎${goodHooks}
YAML_SYNTAX          a colon without a space | hooks:⏎  enabled:true⏎  token: ${token}
YAML_SYNTAX          a key that is indented too far | hooks:⏎  enabled: true⏎    token: ${token}
YAML_SYNTAX          a key that is indented too little | hooks:⏎  enabled: true⏎ token: ${token}
UNKNOWN_KEY          keys that lost their indentation | hooks:⏎enabled: true⏎token: ${token}
INVALID_VALUE        a list where keys belong | hooks:⏎  - enabled: true⏎  - token: ${token}
YAML_SYNTAX          a quote without an end | hooks:⏎  enabled: true⏎  token: "${token}
YAML_SYNTAX          a brace without an end | hooks: { enabled: true, token: ${token}
YAML_SYNTAX          an alias that has no anchor | hooks: *base
UNKNOWN_KEY          a merge key | x: &x { enabled: true }⏎hooks:⏎  <<: *x⏎  token: ${token}
YAML_SYNTAX          two documents | ${goodHooks}⏎---⏎channels: {}
YAML_SYNTAX          a text that begins with an at sign | gateway: { host: @local }
YAML_SYNTAX          a text that begins with a star | gateway: { host: *.example.com }
YAML_SYNTAX          JSON with a comma too many | { "hooks": { "enabled": true, "token": "${token}",, } }
INVALID_VALUE        a configuration that is a list | - hooks: {}
INVALID_VALUE        a configuration that is a word | reveille
FILE_EMPTY           an empty configuration
MERGE_CONFLICT       a conflict of git | <<<<<<< HEAD⏎${goodHooks}⏎=======⏎${goodHooks}⏎>>>>>>> other
YAML_SYNTAX          a fence of Markdown around it | \`\`\`yaml⏎${goodHooks}⏎\`\`\`
YAML_SYNTAX          a space that does not break | hooks:⏎\u00a0 enabled: true⏎  token: ${token}
ENV_LINE             a .env with a line that is none | hooks: { enabled: true, token: "\${T}" } | .env: export T ${token}
ENV_LINE             a .env with YAML in it | hooks: { enabled: true, token: "\${T}" } | .env: T: ${token}
ENV_QUOTE            a .env with quotes that do not end | hooks: { enabled: true, token: "\${T}" } | .env: T="${token}
TOKEN_INVALID        a .env with spaces around the value | hooks: { enabled: true, token: "\${T}" } | .env: T=" ${token} "
UNRESOLVED_REFERENCE a .env beside another folder | hooks: { enabled: true, token: "\${T}" } | sub/.env: T=${token}
YAML_SYNTAX          a reference without quotes between braces | hooks: { token: \${REVEILLE_HOOK_TOKEN} }
`,
  ),
  {
    name: 'a configuration in UTF-16',
    code: 'FILE_NOT_TEXT',
    files: { 'reveille.yaml': Buffer.from(`\ufeff${goodHooks}\n`, 'utf16le') },
  },
  {
    name: 'a configuration in Latin-1',
    code: 'FILE_NOT_TEXT',
    files: { 'reveille.yaml': Buffer.from(`# für\n${goodHooks}\n`, 'latin1') },
  },
]
