/** What nobody configured is not there: of the eight channels, and of what they render with, a gateway loads what it uses. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openVendor } from '../../plugins/slack/stand-in/index.ts'
import { builtIn } from '../../runtime/plugin/built-in.ts'
import { atEnd } from '../at-end.ts'
import { createFolder, gatewayToken, hookToken } from '../installation.ts'
import { build, limit, startReveille } from '../process/reveille-process.ts'

before(build)

/** Runs before the gateway, in each of its threads: every module that Node.js loads becomes a line. */
const watch = `import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, url + '\\n')
    return next(url, context)
  },
})
`

/** A gateway with these channels, and which of ours it loads. */
async function start(t: TestContext, channels: object, route: object) {
  const folder = await createFolder(t, {
    'watch.mjs': watch,
    'reveille.yaml': JSON.stringify({
      gateway: { port: 0, auth: { token: gatewayToken } },
      hooks: { enabled: true, token: hookToken },
      channels,
      agents: { route },
    }),
  })
  const list = path.join(folder, 'loaded')
  const gateway = await startReveille(t, folder, {
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(path.join(folder, 'watch.mjs'))}`,
      LOADED_MODULES: list,
    },
  })
  return {
    async reply(message: string) {
      const { status } = await fetch(`${gateway.address}/hooks/agent`, {
        method: 'POST',
        headers: { authorization: `Bearer ${hookToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message }),
      })
      assert.equal(status, 202)
      await gateway.line('delivery-delivered')
    },
    /** Channels, and packages of others that only channels use, by name and once each. */
    async loaded(): Promise<string[]> {
      const urls = (await readFile(list, 'utf8')).split('\n')
      const names = urls.flatMap((url) => {
        const [, plugin] = /\/plugins\/([^/]+)\//.exec(url) ?? []
        const [, library] = /\/node_modules\/(marked)\//.exec(url) ?? []
        return [plugin, library].filter((name) => name !== undefined)
      })
      return [...new Set(names)].filter((name) => watched.has(name)).sort()
    },
  }
}

const watched = new Set<string>([...builtIn.channels, 'marked'])

test(
  'a gateway that writes to its terminal loads none of the eight, and no parser of Markdown',
  limit,
  async (t) => {
    const gateway = await start(t, { terminal: {} }, { channel: 'terminal', to: 'stdout' })
    await gateway.reply('**Tea** is ready.')
    assert.deepEqual(await gateway.loaded(), ['terminal'])
  },
)

test('a gateway that writes to Slack loads Slack’s, and none of the other seven', limit, async (t) => {
  const slack = await openVendor()
  atEnd(t, () => slack.close())
  const gateway = await start(t, { slack: slack.config }, { channel: 'slack', to: slack.to })
  await gateway.reply('**Tea** is ready.')
  assert.equal(slack.messages.length, 1)
  assert.ok(slack.messages[0]?.text.includes('Tea is ready.'))
  assert.deepEqual(await gateway.loaded(), ['marked', 'slack'])
})

test('the program itself holds none of them', async () => {
  const program = await readFile(await build(), 'utf8')
  for (const name of builtIn.channels) {
    const { description } = JSON.parse(
      await readFile(new URL(`../../plugins/${name}/package.json`, import.meta.url), 'utf8'),
    )
    assert.ok(!program.includes(`plugins/${name}/`), description)
  }
  assert.ok(!program.includes('node_modules/marked/'))
  assert.ok(program.includes('plugins/kit/'), 'it would be seen')
})
