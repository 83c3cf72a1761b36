/** Tests the exact text that the command line prints after typical mistakes of the first minutes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Io } from '../../runtime/cli/io.ts'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'

interface Mistake {
  /** What the person did, as a sentence. */
  readonly name: string
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
  readonly args: readonly string[]
  readonly code: number
  /** A text is the whole output. */
  readonly out?: string | RegExp
  readonly err?: string | RegExp
}

const empty = '{}\n'

const mistakes: Mistake[] = [
  {
    name: 'the one local/reveille.yaml is found without being named',
    files: { 'local/reveille.yaml': empty },
    args: ['check'],
    code: 0,
    out: 'local/reveille.yaml is good: 0 mappings.\n',
  },
  {
    name: 'a configuration that is good, while its hooks are off',
    files: { 'reveille.yaml': 'hooks: { mappings: [{ match: { path: a }, message: x }] }\n' },
    args: ['check'],
    code: 0,
    out: 'reveille.yaml is good: 1 mapping.\n',
    err: 'Hooks are off, and every request is answered 404. Write `enabled: true` under `hooks:`.\n',
  },
  {
    name: 'the configuration of this folder goes before that in local',
    files: { 'reveille.yaml': empty, 'local/reveille.yaml': 'nonsense: 1\n' },
    args: ['check'],
    code: 0,
    out: 'reveille.yaml is good: 0 mappings.\n',
  },
  {
    name: 'REVEILLE_CONFIG names a configuration',
    files: { 'etc/gateway.yaml': empty, 'reveille.yaml': 'nonsense: 1\n' },
    env: { REVEILLE_CONFIG: 'etc/gateway.yaml' },
    args: ['check'],
    code: 0,
    out: 'etc/gateway.yaml is good: 0 mappings.\n',
  },
  {
    name: 'REVEILLE_CONFIG names a file that is not there',
    env: { REVEILLE_CONFIG: 'etc/gateway.yaml' },
    args: ['check'],
    code: 2,
    err: 'There is no etc/gateway.yaml, which REVEILLE_CONFIG names.\n',
  },
  {
    name: '--config names the folder of a configuration',
    files: { 'etc/reveille.yaml': empty },
    args: ['check', '--config', 'etc'],
    code: 0,
    out: 'etc/reveille.yaml is good: 0 mappings.\n',
  },
  {
    name: '--config names a folder without a configuration',
    files: { 'etc/other.yaml': empty },
    args: ['check', '--config', 'etc'],
    code: 2,
    err: 'There is no reveille.yaml in etc. Write a first one: reveille init etc\n',
  },
  {
    name: 'there is no configuration anywhere',
    args: ['check'],
    code: 2,
    err: 'There is no reveille.yaml in this folder, nor in local.\nName one with --config FILE or REVEILLE_CONFIG, or write a first one: reveille init\n',
  },
  {
    name: '--port is no port',
    files: { 'reveille.yaml': empty },
    args: ['start', '--port', '80000'],
    code: 2,
    err: '--port must be a whole number from 0 to 65535; 0 takes a free port.\n',
  },
  {
    name: 'REVEILLE_PORT is no port',
    files: { 'reveille.yaml': empty },
    env: { REVEILLE_PORT: 'http' },
    args: ['start'],
    code: 2,
    err: 'REVEILLE_PORT must be a whole number from 0 to 65535; 0 takes a free port.\n',
  },
  {
    name: 'init mapping takes the name of a file that the scaffold wrote',
    files: { 'local/reveille.yaml': empty, 'local/mappings/github.yaml': 'mappings: []\n' },
    columns: 80,
    args: ['init', 'mapping', 'github'],
    code: 1,
    err:
      'local/mappings/github.yaml is there, and is another text than the preset;\n' +
      'nothing was written.\n' +
      'To have the preset beside it, list it under `hooks.presets`: your mappings\n' +
      'replace its own of the same id.\n' +
      'For a copy, which must not have ids of yours:\n' +
      '`reveille init mapping github --as my-github`\n',
  },
  {
    name: 'init mapping without a name lists the presets',
    args: ['init', 'mapping'],
    code: 0,
    out: /^There are .*, github, .*\.\n\nCopy one, to edit: reveille init mapping \w+\n$/,
  },
]

/** A repository of mappings as it is checked out, without the secrets. */
const secretless = {
  'reveille.yaml': `gateway: { port: "\${PORT}" }
hooks:
  enabled: true
  token: "\${REVEILE_HOOK_TOKEN}"
  endpoints:
    github: { verify: { provider: github, secret: "\${GITHUB_SECRET}" } }
    bell: { auth: signature, verify: { provider: discord, publicKey: "\${file:/run/secrets/discord}" } }
channels: { telegram: { botToken: "\${BOT_TOKEN}" } }
`,
  '.env': 'REVEILLE_HOOK_TOKEN=4fK29sLq0ZpVx81mWnB7cRtY\n',
  'mappings/a.yaml': `mappings: [{ match: { path: github }, action: wake, text: hi }, { match: { path: bell }, action: wake, text: hi }]
tests:
  - { name: it wakes, request: { endpoint: github, body: {} }, expect: { action: wake } }
  - { name: it rings, request: { endpoint: bell, body: {} }, expect: { action: wake } }
`,
  'body.json': '{}',
  'sent.http': 'POST /hooks/github HTTP/1.1\r\nx-hub-signature-256: sha256=00\r\n\r\n{}',
}
const notSet =
  'Not set, and so not checked: /run/secrets/discord, BOT_TOKEN, GITHUB_SECRET, PORT, REVEILE_HOOK_TOKEN.\n'

mistakes.push(
  {
    name: 'tests run where no secret is set',
    files: secretless,
    args: ['test'],
    code: 0,
    out: /2 passed/,
    err: notSet,
  },
  {
    name: 'lint without the secrets of the configuration',
    files: secretless,
    args: ['lint'],
    code: 0,
    out: 'reveille.yaml: no findings.\n',
    err: notSet,
  },
  {
    name: 'a request is tried where no secret is set, and its signature is said not to be checked',
    files: secretless,
    args: ['try', 'github', '--payload', 'body.json'],
    code: 0,
    out: /^\/github {2}200 {2}accepted {2}by .*\nsignature {2}not checked; `reveille doctor signature` checks that of a recorded request\n/,
    err: notSet,
  },
  {
    name: 'a request is explained where no secret is set',
    files: secretless,
    args: ['explain', 'github', '--payload', 'body.json'],
    code: 0,
    out: /accepted/,
    err: notSet,
  },
  {
    name: 'no signature is verified with a secret that is not set',
    files: secretless,
    args: ['doctor', 'signature', '--endpoint', 'github', '--request', 'sent.http'],
    code: 1,
    err: `${notSet}Not checked: what /github is verified with is not set.\n`,
  },
  {
    name: 'check stays strict, and knows the name in `.env` that was meant',
    files: secretless,
    args: ['check'],
    code: 1,
    err: /reveille\.yaml:4:10: error: `hooks\.token` refers to the variable REVEILE_HOOK_TOKEN, which is not set \[UNRESOLVED_REFERENCE\]\n.*\n.*\n {2}hint: Did you mean `REVEILLE_HOOK_TOKEN`, which is in `\.env`\? Set REVEILE_HOOK_TOKEN in the environment or in `\.env` beside the configuration, or write \$\{REVEILE_HOOK_TOKEN:-default\}\.\n[\s\S]*\nreveille\.yaml: 5 errors\.\n$/,
  },
  {
    name: 'check without secrets warns of what is not set',
    files: secretless,
    args: ['check', '--without-secrets'],
    code: 0,
    out: 'reveille.yaml is good: 2 mappings.\n',
    err: /^reveille\.yaml:1:18: warning: `gateway\.port` refers to the variable PORT, which is not set \[UNRESOLVED_REFERENCE\]\n.*\n.*\n {2}hint: What needs it is not checked\.\n[\s\S]*hint: Did you mean `REVEILLE_HOOK_TOKEN`, which is in `\.env`\? What needs it is not checked\.\n/,
  },
)

const long = {
  'reveille.yaml': 'hooks: { enabled: true, token: 4fK29sLq0ZpVx81mWnB7cRtY, presets: [github] }\n',
  'mappings/a.yaml': `mappings:
  - id: a-mapping-with-a-rather-long-name-for-pull-requests
    match: { path: github, headers: { x-github-event: pull_request } }
    action: wake
    text: "Pull request {{number}} of {{repository.full_name}} by {{pull_request.user.login}} and {{#if x}}"
`,
  'opened.http':
    'POST /hooks/github?a=1 HTTP/1.1\r\nX-GitHub-Event: ping\r\nContent-Type: application/json\r\n\r\n{"action":"opened"}',
}
const mended = { ...long, 'mappings/a.yaml': long['mappings/a.yaml'].replace(' {{#if x}}', '') }

mistakes.push(
  {
    name: 'an error on a terminal of 80 columns, with the caret below the mistake',
    files: long,
    columns: 80,
    args: ['check'],
    code: 1,
    err: `mappings/a.yaml:5:99: error: \`text\` of mapping
"a-mapping-with-a-rather-long-name-for-pull-requests": the template ends before
a mustache or block is closed [TEMPLATE_SYNTAX]
  5 | …ry.full_name}} by {{pull_request.user.login}} and {{#if x}}"
    |                                                    ^
  hint: Close every {{ with }} and every {{#if}} or {{#each}} with {{/if}} or
        {{/each}}.

reveille.yaml: 1 error.
`,
  },
  {
    name: 'an explanation fits a terminal of 80 columns, a note that has no room below its mapping',
    files: mended,
    columns: 80,
    args: [
      'explain',
      '/hooks/github',
      '--payload',
      'opened.http',
      '--header',
      'x-github-event: pull_request',
    ],
    code: 0,
    out: /^- github-pull-request-opened {27}preset github:\d+:\d+\n {4}not reached: an earlier mapping matched\n/m,
  },
  {
    name: 'a path is tried in place of the name of an endpoint, and an HTTP message in place of a payload',
    files: mended,
    args: ['try', '/hooks/github', '--payload', 'opened.http'],
    code: 0,
    out: /^\/github {2}200 {2}ignored {2}no mapping of endpoint "github" matched/,
  },
  {
    name: 'the address of an endpoint that there is not is tried',
    files: mended,
    args: ['try', 'http://127.0.0.1:8787/hooks/githb', '--payload', 'opened.http'],
    code: 1,
    out: /^\/githb {2}404 .*\n\nDid you mean github\?\nEndpoints: github, wake, agent\n$/,
  },
  {
    name: 'lint takes HTTP messages as samples',
    files: { ...mended, 'samples/github/opened.http': 'POST /hooks/github HTTP/1.1\r\n\r\n{"action":' },
    args: ['lint', '--samples', 'samples'],
    code: 2,
    err: 'The body of github/opened.http is no JSON.\n',
  },
)

for (const { name, files = {}, env = {}, columns, args, code, out = '', err = '' } of mistakes) {
  test(`the exact text is printed for: ${name}, \`reveille ${args.join(' ')}\``, async (t) => {
    const world: Partial<Io> = { env: { NO_COLOR: '1', ...env }, ...(columns !== undefined && { columns }) }
    const line = await createCommandLine(t, files, world)
    const answer = await line.run(...args)
    const shown = (text: string) => text.replaceAll(line.cwd, '{folder}')
    for (const [actual, expected] of [
      [shown(answer.out), out],
      [shown(answer.err), err],
    ] as const) {
      if (typeof expected === 'string') assert.equal(actual, expected)
      else assert.match(actual, expected)
    }
    assert.equal(answer.code, code)
  })
}
