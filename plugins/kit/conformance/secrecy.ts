/** Tests that a channel reveals no credentials. */

import assert from 'node:assert/strict'
import { badGateway, type FakeServerAnswer, type Fault } from '../fake-server/index.ts'
import { assertNoSecret, assertStorable } from './assertions.ts'
import { shortText, type VendorTests } from './opened-vendor.ts'

export const secrecyTests: VendorTests = {
  async 'shows no secret, even if the vendor does'(used) {
    const { vendor, failure } = used
    const { forbidden, badCredential } = vendor.refusals
    for (const answer of [forbidden, badGateway, badCredential]) {
      for (const each of [answer, ...vendor.secrets.map((secret) => quote(answer, secret))]) {
        vendor.script({ kind: 'answer', answer: each })
        // If the channel itself tries another way, the vendor answers the same.
        vendor.always({ kind: 'answer', answer: each })
        await failure()
      }
    }
    assertNoSecret(used.lines.join('\n'), vendor.secrets)
  },

  async 'shows no secret when a connection fails'(used) {
    const kinds: readonly Fault['kind'][] = ['cut-before', 'cut-after', 'cut-answer']
    for (const kind of kinds) {
      used.vendor.script({ kind } as Fault)
      await used.failure()
    }
    await used.vendor.close()
    await used.failure()
    assertNoSecret(used.lines.join('\n'), used.vendor.secrets)
  },

  async 'shows no secret in what is stored and logged of a reply'(used) {
    for (const receipt of await used.send(shortText)) assertStorable(receipt, used.vendor.secrets)
    assertNoSecret(used.lines.join('\n'), used.vendor.secrets)
    assert.ok(used.vendor.messages.length > 0)
  },
}

/** Returns the same answer with the secret in each text of its body. */
function quote(answer: FakeServerAnswer, secret: string): FakeServerAnswer {
  return { ...answer, body: append(answer.body ?? '', ` (it was ${secret})`) as object | string }
}

function append(value: unknown, text: string): unknown {
  if (typeof value === 'string') return value + text
  if (Array.isArray(value)) return value.map((each) => append(each, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, append(each, text)]))
}
