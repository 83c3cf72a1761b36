/** Tests the commands by which an admin changes what is live, against a running gateway. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { configuration, gatewayToken, install, until } from '../../../test/installation.ts'
import { createCommandLine, testTranscript } from '../io-fixture.ts'

const mapping = (id: string, text = 'hello') =>
  `  - { id: ${id}, match: { path: ${id} }, action: wake, text: "${text}" }\n`
const mappings = (...lines: string[]) => `mappings:\n${lines.join('')}`
const limit = { timeout: 20_000 }

async function open(t: TestContext) {
  const installed = await install(t, {
    'reveille.yaml': `${configuration}history: { bodies: all }\n`,
    'mappings/a.yaml': mappings(mapping('bell'), mapping('door')),
  })
  const { folder, gateway, write } = installed
  const url = await gateway.listen()
  const env = { REVEILLE_URL: url, REVEILLE_GATEWAY_TOKEN: gatewayToken }
  const world = { env, fetch, cwd: folder, now: Date.now, columns: 80 }
  return {
    ...installed,
    ...(await createCommandLine(t, {}, world)),
    write,
    url,
    world,
    edit: (...lines: string[]) => write('mappings/a.yaml', mappings(...lines)),
    breakFiles: () => write('mappings/a.yaml', 'mappings:\n  - acton: wake\n  - mesage: x\n'),
  }
}

test(
  'reload says what is live and what changed; again, that there is nothing to change',
  limit,
  async (t) => {
    const { play, edit, write } = await open(t)
    await edit(mapping('bell', 'other'), mapping('one'), mapping('two'))
    await write('reveille.yaml', configuration.replace('port: 0', 'port: 1'))
    await play(`
$ reload
Generation 2 is live (…s).
  +2 mappings (one, two), 1 changed (bell), 1 removed (door)
  settings: gateway.port, history.bodies
  restart needed for gateway.port
$ reload
Nothing to change: generation 2 stays live.
`)
  },
)

test('a refused reload says where and why, and exits with 1', limit, async (t) => {
  const { play, breakFiles } = await open(t)
  await breakFiles()
  await play(`
1 $ reload
! mappings/a.yaml:2:5: error: …
! …\`action\`?
! mappings/a.yaml:3:5: error: …
!
! Refused: 2 errors; generation 1 stays live.
1 $ reload --json
  "outcome": "rejected",
  "ok": false,
  "generation": 1,
`)
})

test(
  'a dry run says what would go live and which requests would end otherwise, and changes nothing',
  limit,
  async (t) => {
    const { play, run, edit, post, read, gateway, breakFiles } = await open(t)
    for (const path of ['bell', 'door', 'door']) await post(`/hooks/${path}`, { n: 1 })
    await until(async () => {
      const { items } = await read<{ items: unknown[] }>('/api/requests')
      return items.length === 3 || undefined
    }, 'three requests')
    await edit(mapping('bell'))
    await play(`
$ reload --dry-run
This would go live; generation 1 stays live:
  1 mapping removed (door)

Of 3 stored requests 2 would end otherwise:
  2 would …

TIME …ID …ENDPOINT …CHANGE
… door …would …
… door …would …
`)
    const limited = JSON.parse((await run('reload', '--dry-run', '--limit', '1', '--json')).out)
    assert.equal(limited.shadow.compared, 1)
    await breakFiles()
    await play('1 $ reload --dry-run\n! This would be refused: 2 errors; generation 1 stays live.')
    assert.equal(gateway.current().generation, 1)
  },
)

test('rollback serves an earlier generation, and every command says that it holds', limit, async (t) => {
  const { play, run, edit, gateway } = await open(t)
  await edit(mapping('bell'))
  await run('reload')
  await play(`
$ rollback 1 --dry-run
This would go live; generation 2 stays live:
  +1 mapping (door)
$ rollback 1
Generation 1 serves again, in the place of the files until they change or \`reveille reload\` ends it (…s).
  +1 mapping (door)
$ rollback 1
Generation 1 serves already.
! warning: Generation 1 serves in the place of the files, …
$ status
generation …1, mappings 2, at …rolledBack yes…
$ generations

Generation 1 serves in the place of the files until they change or \`reveille reload\` ends it.
`)
  assert.equal(gateway.current().generation, 1)
  await play(`
$ reload
Generation 2 is live (…
$ status
files …watched no, readAt …
$ rollback 1
Generation 1 serves again…
$ rollback 2
Generation 2 serves again, as the files have it (…
`)
  assert.doesNotMatch((await run('status')).out, /rolledBack/)
})

test('the changes of a generation are shown as a patch', limit, async (t) => {
  const { play, run, edit } = await open(t)
  await edit(mapping('bell'))
  await run('reload')
  await play(`
$ generations 2
--- mappings/a.yaml\tgeneration 1
+++ mappings/a.yaml\tgeneration 2
@@ -1,3 +1,2 @@
 mappings:
   - { id: bell, match: { path: bell }, action: wake, text: "hello" }
-  - { id: door, match: { path: door }, action: wake, text: "hello" }
$ generations 1 --with 1
The files of generations 1 and 1 are the same.
1 $ generations 1
! No generation before 1 is kept…
1 $ generations 9
! Generation 9 is not kept; kept are 2, 1…
1 $ rollback 7
! Generation 7 is not kept; kept are 2, 1.
`)
})

test(
  'generations are a table of what went live and what was refused, within the terminal',
  limit,
  async (t) => {
    const { play, run, runIn, edit, breakFiles } = await open(t)
    await edit(...['bell', 'door', 'window', 'gate'].map((id) => mapping(`${id}-of-the-house-by-the-sea`)))
    await run('reload')
    await breakFiles()
    await run('reload')
    await play(`
$ generations
NUMBER …STATE …TIME …BY …MAPPINGS …CHANGES
- …rejected …owner …2 errors: mappings/a.yaml:2:5…
2 …live …owner …4 …+4 mappings (bell……
1 …retired …2…

The files as they are now are refused; \`reveille reload\` says why.
$ status
refused …at …, errors 2,…
`)
    for (const line of (await run('generations')).out.split('\n')) assert.ok(line.length <= 80, line)
    const whole = await runIn({ columns: undefined as never }, 'generations')
    assert.match(whole.out, /UNKNOWN_KEY\n.*gate-of-the-house-by-the-sea\)/)
    const { items } = JSON.parse((await run('generations', '--json')).out)
    assert.deepEqual(
      items.map(({ state }: { state: string }) => state),
      ['rejected', 'live', 'retired'],
    )
  },
)

test('a broken configuration still leads to its gateway, whose answer is shown', limit, async (t) => {
  const { url, world, write } = await open(t)
  const { play } = await createCommandLine(t, {}, { ...world, env: { GATEWAY: gatewayToken } })
  const block = `gateway: { port: ${new URL(url).port}, auth: { token: "\${GATEWAY}" } }\n`
  await write('mappings/a.yaml', mappings(mapping('bell')))
  await play('$ reload\nGeneration 2 is live…')
  for (const broken of ['hoks: {}', 'hooks: { token: "${UNSET}" }', 'hooks: {']) {
    await write('reveille.yaml', `${block}${broken}\n`)
    await play(`
1 $ reload
! Refused: …error…; generation …stays live.
$ rollback 1
Generation 1 …
! The gateway runs at …: a restart is due.
`)
  }
  await write('reveille.yaml', 'gateway: { port: many }\n')
  // Without a gateway, what is wrong here is all there is to say.
  await play('1 $ reload\n! reveille.yaml:1:18: error: …')
})

testTranscript(
  {},
  `
# bad usage exits with 2 and names the expected usage
2 $ rollback
! …missing required argument 'generation'…
2 $ rollback one
! …a number that \`reveille generations\` lists…
2 $ rollback 0
! …a number that …
2 $ reload --limit 5
! …--limit is for --dry-run…
2 $ reload --dry-run --limit 0
! …whole number from 1 to 10000…
2 $ reload 1
! …too many arguments…
`,
)
