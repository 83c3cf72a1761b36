/** Tests that an endpoint's policy applies however its name is spelled. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hookToken, install } from '../installation.ts'
import { sendRaw } from './raw/dial.ts'

const verify = { provider: 'github', secret: 'spelling-secret-0123456789abcdef' }
const configuration = JSON.stringify({
  gateway: { port: 0, log: { level: 'warn', format: 'json' } },
  hooks: {
    enabled: true,
    token: hookToken,
    endpoints: { github: { auth: 'both', verify }, 'repos/:owner': { auth: 'signature', verify } },
    mappings: [
      { match: { path: 'github' }, action: 'wake', text: 'x' },
      { match: { path: 'repos/fixed' }, action: 'wake', text: 'x' },
      { match: { path: 'repos/:name' }, action: 'wake', text: 'x' },
    ],
  },
})

const spellings = [
  'github github/ github// /github //github/ ./github x/../github github/. github/.. github? github?token= github# github;a GitHub gıthub',
  'git%68ub %67%69%74%68%75%62 git%2568ub github%2F %2Fgithub github%00 github%20 %20github github%E2%80%8B github%EF%BC%8F',
  'github\\ github%5C github%0D%0A github%',
  'repos/a repos/fixed repos/fixed/ repos/%66ixed repos%2Ffixed repos%2ffixed/ repos//fixed repos/./fixed repos/fixed%2F',
  'repos/__proto__ repos/constructor repos/%2e%2e repos/fixed?a',
].flatMap((line) => line.split(' '))

test('a correct token alone is refused at an endpoint that asks for a signature, however its name is spelled', async (t) => {
  const { gateway } = await install(t, { 'reveille.yaml': configuration })
  const port = Number(new URL(await gateway.listen()).port)
  const statuses = new Map<string, number | undefined>()
  for (const name of spellings) {
    for (const before of ['/hooks/', 'http://x/hooks/', '/./hooks/', '/hooks/../hooks/']) {
      const head = `POST ${before}${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hookToken}\r\n`
      const said = await sendRaw(port, [Buffer.from(`${head}Content-Length: 2\r\n\r\n{}`)], { answers: 1 })
      statuses.set(before + name, said.statuses[0])
    }
  }
  const opened = [...statuses].filter(([, status]) => status === undefined || status < 400)
  assert.deepEqual(opened, [])
  for (const known of ['github', 'github/', 'git%68ub', 'github?', 'repos/a', 'repos%2Ffixed'])
    assert.equal(statuses.get(`/hooks/${known}`), 401, `${known} is an endpoint, and asks`)
})
