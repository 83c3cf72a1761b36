/** Tests the exact text that the command line prints after typical mistakes of the first minutes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'

type Files = Readonly<Record<string, string>>

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
  'Not set, and so not checked: /run/secrets/discord, BOT_TOKEN, GITHUB_SECRET, PORT, REVEILE_HOOK_TOKEN.⏎'

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
const fixed = { ...long, 'mappings/a.yaml': long['mappings/a.yaml'].replace(' {{#if x}}', '') }

/** In the notation of the table: `⏎` is a line break, and `¦` a bar. */
const underCaret =
  `mappings/a.yaml:5:99: error: \`text\` of mapping "a-mapping-with-a-rather-long-name-for-pull-requests": the template ends before a mustache or block is closed [TEMPLATE_SYNTAX]
  5 ¦ …ry.full_name}} by {{pull_request.user.login}} and {{#if x}}"
    ¦                                                    ^
  hint: Close every {{ with }} and every {{#if}} or {{#each}} with {{/if}} or {{/each}}.

reveille.yaml: 1 error.
`.replaceAll('\n', '⏎')

/**
 * The exit code, what was run, and in which files, as `name: text` or the name of a set; below it what a success has on standard
 * output or a failure on standard error, and after ` | ` what the other of the two has. Between slashes it is a pattern.
 */
const mistakes = `
# the one local/reveille.yaml is found without being named
0 check | local/reveille.yaml: {}
local/reveille.yaml is good: 0 mappings.⏎

# a configuration that is good, while its hooks are off
0 check | reveille.yaml: hooks: { mappings: [{ match: { path: a }, message: x }] }
reveille.yaml is good: 1 mapping.⏎ | Hooks are off, and every request is answered 404. Write \`enabled: true\` under \`hooks:\`.⏎

# the configuration of this folder goes before that in local
0 check | reveille.yaml: {} | local/reveille.yaml: nonsense: 1
reveille.yaml is good: 0 mappings.⏎

# REVEILLE_CONFIG names a configuration
0 REVEILLE_CONFIG=etc/gateway.yaml check | etc/gateway.yaml: {} | reveille.yaml: nonsense: 1
etc/gateway.yaml is good: 0 mappings.⏎

# REVEILLE_CONFIG names a file that is not there
2 REVEILLE_CONFIG=etc/gateway.yaml check
There is no etc/gateway.yaml, which REVEILLE_CONFIG names.⏎

# --config names the folder of a configuration
0 check --config etc | etc/reveille.yaml: {}
etc/reveille.yaml is good: 0 mappings.⏎

# --config names a folder without a configuration
2 check --config etc | etc/other.yaml: {}
There is no reveille.yaml in etc. Write a first one: reveille init etc⏎

# there is no configuration anywhere
2 check
There is no reveille.yaml in this folder, nor in local.⏎Name one with --config FILE or REVEILLE_CONFIG, or write a first one: reveille init⏎

# --port is no port
2 start --port 80000 | reveille.yaml: {}
--port must be a whole number from 0 to 65535; 0 takes a free port.⏎

# REVEILLE_PORT is no port
2 REVEILLE_PORT=http start | reveille.yaml: {}
REVEILLE_PORT must be a whole number from 0 to 65535; 0 takes a free port.⏎

# init mapping takes the name of a file that the scaffold wrote
1 COLUMNS=80 init mapping github | local/reveille.yaml: {} | local/mappings/github.yaml: mappings: []
local/mappings/github.yaml is there, and is another text than the preset; nothing was written.⏎To have the preset beside it, list it under \`hooks.presets\`: your mappings replace its own of the same id.⏎For a copy, which must not have ids of yours: \`reveille init mapping github --as my-github\`⏎

# init mapping without a name lists the presets
0 init mapping
/^There are .*, github, .*\\.\\n\\nCopy one, to edit: reveille init mapping \\w+\\n$/

# tests run where no secret is set
0 test | secretless
/2 passed/ | ${notSet}

# lint without the secrets of the configuration
0 lint | secretless
reveille.yaml: no findings.⏎ | ${notSet}

# a request is tried where no secret is set, and its signature is said not to be checked
0 try github --payload body.json | secretless
/^\\/github {2}200 {2}accepted {2}by .*\\nsignature {2}not checked; \`reveille doctor signature\` checks that of a recorded request\\n/ | ${notSet}

# a request is explained where no secret is set
0 explain github --payload body.json | secretless
/accepted/ | ${notSet}

# no signature is verified with a secret that is not set
1 doctor signature --endpoint github --request sent.http | secretless
${notSet}Not checked: what /github is verified with is not set.⏎

# check stays strict, and knows the name in .env that was meant
1 check | secretless
/reveille\\.yaml:4:10: error: \`hooks\\.token\` refers to the variable REVEILE_HOOK_TOKEN, which is not set \\[UNRESOLVED_REFERENCE\\]\\n.*\\n.*\\n {2}hint: Did you mean \`REVEILLE_HOOK_TOKEN\`, which is in \`\\.env\`\\? Set REVEILE_HOOK_TOKEN in the environment or in \`\\.env\` beside the configuration, or write \\$\\{REVEILE_HOOK_TOKEN:-default\\}\\.\\n[\\s\\S]*\\nreveille\\.yaml: 5 errors\\.\\n$/

# check without secrets warns of what is not set
0 check --without-secrets | secretless
reveille.yaml is good: 2 mappings.⏎ | /^reveille\\.yaml:1:18: warning: \`gateway\\.port\` refers to the variable PORT, which is not set \\[UNRESOLVED_REFERENCE\\]\\n.*\\n.*\\n {2}hint: Settings that need it are not checked\\.\\n[\\s\\S]*hint: Did you mean \`REVEILLE_HOOK_TOKEN\`, which is in \`\\.env\`\\? Settings that need it are not checked\\.\\n/

# an error on a terminal of 80 columns, with the caret below the mistake
1 COLUMNS=80 check | long
${underCaret}

# an explanation has a line for each mapping
0 COLUMNS=80 explain /hooks/github --payload opened.http --header x-github-event:pull_request | fixed
/\\n- github-pull-request-opened {27}preset github:\\d+:\\d+ {2}not reached: an earlier mapping matched\\n/

# a path is tried in place of the name of an endpoint, and an HTTP message in place of a payload
0 try /hooks/github --payload opened.http | fixed
/^\\/github {2}200 {2}ignored {2}no mapping of endpoint "github" matched/

# the address of an endpoint that there is not is tried
1 try http://127.0.0.1:8787/hooks/githb --payload opened.http | fixed
 | /^\\/githb {2}404 .*\\n\\nDid you mean github\\?\\nEndpoints: github, wake, agent\\n$/

# lint takes HTTP messages as samples
2 lint --samples samples | fixed | samples/github/opened.http: POST /hooks/github HTTP/1.1⏎⏎{"action":
The body of github/opened.http is no JSON.⏎
`

const sets: Readonly<Record<string, Files>> = { secretless, long, fixed }
const lines = (text: string) => text.replaceAll('⏎', '\n').replaceAll(' ¦ ', ' | ')

for (const block of mistakes.trim().slice(2).split('\n\n# ')) {
  const [name, head = '', text = ''] = block.split('\n')
  const [ran = '', ...written] = head.split(' | ')
  const [code, ...words] = ran.split(' ')
  const set = words.filter((word) => /^[A-Z_]+=/.test(word))
  const args = words.slice(set.length)
  test(`the exact text is printed for: ${name}, \`reveille ${args.join(' ')}\``, async (t) => {
    const files = written.map((one) => {
      const [, file = '', content = ''] = /^(\S+): ?(.*)$/.exec(one) ?? []
      return sets[one] ?? { [file]: `${lines(content)}\n` }
    })
    const { COLUMNS, ...env } = Object.fromEntries(set.map((one) => one.split('=')))
    const world = {
      env: { NO_COLOR: '1', ...env },
      ...(COLUMNS !== undefined && { columns: Number(COLUMNS) }),
    }
    const line = await createCommandLine(t, Object.assign({}, ...files), world)
    const answer = await line.run(...args)
    const [own = '', other = ''] = text.split(' | ')
    const printed = code === '0' ? [answer.out, answer.err] : [answer.err, answer.out]
    for (const [index, expected] of [own, other].entries()) {
      const actual = printed[index]?.replaceAll(line.cwd, '{folder}') ?? ''
      if (expected.startsWith('/')) assert.match(actual, new RegExp(expected.slice(1, -1)))
      else assert.equal(actual, lines(expected))
    }
    assert.equal(answer.code, Number(code))
  })
}
