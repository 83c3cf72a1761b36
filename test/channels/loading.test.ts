/** Tests that a gateway loads only those of the eight channels, and of the code for rendering, that it uses. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openVendor } from '../../plugins/slack/fake-server/index.ts'
import { builtIn } from '../../runtime/plugin/configuration/directory.ts'
import { bundle } from '../../tools/bundle.ts'
import { atEnd } from '../at-end.ts'
import { createFolder, gatewayToken, hookToken, until, writeInto } from '../installation.ts'
import { build, limit, startReveille } from '../process/reveille-process.ts'

const root = path.join(import.meta.dirname, '..', '..')

before(build)

/** A module that runs before the gateway in each of its threads, and writes a line for every loaded module. */
const watch = `import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, url + '\\n')
    return next(url, context)
  },
})
`

function configurationOf(channels: object): string {
  return JSON.stringify({
    gateway: { port: 0, auth: { token: gatewayToken } },
    hooks: { enabled: true, token: hookToken },
    channels,
  })
}

const watched = new Set<string>([...builtIn.channels, 'marked'])

/** Returns the channels, and the package that only channels use, of which a module is in the list. */
async function loaded(list: string): Promise<string[]> {
  const urls = (await readFile(list, 'utf8')).split('\n')
  const names = urls.flatMap((url) => {
    const [, plugin] = /\/plugins\/([^/]+)\//.exec(url) ?? []
    const [, library] = /\/node_modules\/(marked)\//.exec(url) ?? []
    return [plugin, library].filter((name) => name !== undefined)
  })
  return [...new Set(names)].filter((name) => watched.has(name)).sort()
}

test(
  'a gateway loads a channel, and the parser of Markdown, when a channel is configured that uses them',
  limit,
  async (t) => {
    const slack = await openVendor()
    atEnd(t, () => slack.close())
    const folder = await createFolder(t, {
      'watch.mjs': watch,
      'reveille.yaml': configurationOf({ terminal: {} }),
    })
    const list = path.join(folder, 'loaded')
    const gateway = await startReveille(t, folder, {
      env: {
        NODE_OPTIONS: `--import=${pathToFileURL(path.join(folder, 'watch.mjs'))}`,
        LOADED_MODULES: list,
      },
    })
    async function reply(channel: string, to: string, count: number) {
      const { status } = await fetch(`${gateway.address}/hooks/agent`, {
        method: 'POST',
        headers: { authorization: `Bearer ${hookToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: '**Tea** is ready.', channel, to }),
      })
      assert.equal(status, 202)
      await until(
        () => gateway.lines().filter(({ event }) => event === 'delivery-delivered')[count - 1],
        channel,
      )
    }

    await reply('terminal', 'stdout', 1)
    assert.deepEqual(await loaded(list), ['terminal'])

    await writeInto(folder, 'reveille.yaml', configurationOf({ terminal: {}, slack: slack.config }))
    await until(
      () => gateway.lines().filter(({ event }) => event === 'snapshot-swapped')[1],
      'the new snapshot',
    )
    await reply('slack', slack.to, 2)
    assert.ok(slack.messages[0]?.text.includes('Tea is ready.'))
    assert.deepEqual(await loaded(list), ['marked', 'slack', 'terminal'])
  },
)

test('the bundle of the program contains no channel', async () => {
  const { inputs } = await bundle(root, path.join(root, 'build'))
  const contains = (part: string) => inputs.some((source) => source.includes(part))
  for (const name of builtIn.channels) {
    const { description } = JSON.parse(
      await readFile(new URL(`../../plugins/${name}/package.json`, import.meta.url), 'utf8'),
    )
    assert.ok(!contains(`plugins/${name}/`), description)
  }
  assert.ok(contains('plugins/kit/'), 'it would be seen')
})
